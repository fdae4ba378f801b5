// Makes each sync of a file take longer. Loaded with LD_PRELOAD:
//   SLOW_S  seconds
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int slow(long number, int descriptor) {
    const char *text = getenv("SLOW_S");
    for (unsigned left = text ? (unsigned)atoi(text) : 0; left > 0;) left = sleep(left);
    return (int)syscall(number, descriptor);
}

int fdatasync(int descriptor) { return slow(SYS_fdatasync, descriptor); }

int fsync(int descriptor) { return slow(SYS_fsync, descriptor); }
