#include "CSQLiteGuard.h"
int csqliteguard_placeholder(void) { return 0; }
