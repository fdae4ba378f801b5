// Fails, or kills the process, at the n-th call that changes files below a directory.
//
// strace's `when=N` counts for each thread by itself, so that it cannot reach every n-th call of a
// process whose writer moves between threads; this counts for the process. Loaded with LD_PRELOAD:
//   FAULT_ROOT    only files below this directory count
//   FAULT_CALLS   fdatasync (with fsync) or pwrite64
//   FAULT_AT      n, from 1
//   FAULT_ACTION  eio, enospc, kill-before, kill-after
//   FAULT_REPORT  a file that says which call it was, once it happened
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[4096], report[4096];
static enum { NONE, SYNC, WRITE } calls = NONE;
static enum { EIO_ERROR, ENOSPC_ERROR, KILL_BEFORE, KILL_AFTER } action;
static long at;
static atomic_long count;

static void copy(char *to, const char *name) {
    const char *value = getenv(name);
    snprintf(to, 4096, "%s", value ? value : "");
}

__attribute__((constructor)) static void begin(void) {
    char text[4096];
    copy(root, "FAULT_ROOT");
    copy(report, "FAULT_REPORT");
    copy(text, "FAULT_CALLS");
    calls = strcmp(text, "pwrite64") == 0 ? WRITE : strcmp(text, "fdatasync") == 0 ? SYNC : NONE;
    copy(text, "FAULT_AT");
    at = atol(text);
    copy(text, "FAULT_ACTION");
    action = strcmp(text, "eio") == 0       ? EIO_ERROR
             : strcmp(text, "enospc") == 0  ? ENOSPC_ERROR
             : strcmp(text, "kill-before") == 0 ? KILL_BEFORE
                                                : KILL_AFTER;
}

// Whether this call is the n-th one; then it is written down.
static int is_due(int kind, int descriptor, const char *name) {
    if (kind != (int)calls) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    if (strncmp(path, root, strlen(root)) != 0) return 0;
    if (atomic_fetch_add(&count, 1) + 1 != at) return 0;
    int file = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
        dprintf(file, "%s %s\n", name, path + strlen(root));
        close(file);
    }
    return 1;
}

static int fault(void) {
    errno = action == EIO_ERROR ? EIO : ENOSPC;
    return -1;
}

static int sync_with(const char *name, int descriptor) {
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    if (!is_due(SYNC, descriptor, name)) return real(descriptor);
    if (action == EIO_ERROR || action == ENOSPC_ERROR) return fault();
    if (action == KILL_AFTER) real(descriptor);
    return kill(getpid(), SIGKILL);
}

int fdatasync(int descriptor) { return sync_with("fdatasync", descriptor); }
int fsync(int descriptor) { return sync_with("fsync", descriptor); }

static ssize_t write_with(
    const char *name, int descriptor, const void *data, size_t size, off64_t to) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, name);
    if (!is_due(WRITE, descriptor, name)) return real(descriptor, data, size, to);
    if (action == EIO_ERROR || action == ENOSPC_ERROR) return fault();
    if (action == KILL_AFTER) real(descriptor, data, size, to);
    return kill(getpid(), SIGKILL);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t to) {
    return write_with("pwrite64", descriptor, data, size, to);
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t to) {
    return write_with("pwrite", descriptor, data, size, to);
}
