#include "CAllocator.h"

// Read by jemalloc before main (jemalloc(3), "TUNING").
//
// Two arenas: few threads are busy at once, and each arena keeps free pages of its own. Free pages
// go back to the kernel after a second, by whoever allocates next: no thread wakes an idle process
// for it.
const char *malloc_conf = "narenas:2,dirty_decay_ms:1000,muzzy_decay_ms:0";
