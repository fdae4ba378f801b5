// Fails, or kills the process, at the n-th call that changes files below a directory.
//
// strace's `when=N` counts for each thread by itself, so that it cannot reach every n-th call of a
// process whose writer moves between threads; this counts for the process. Loaded with LD_PRELOAD:
//   FAULT_ROOT    only files below this directory count
//   FAULT_CALLS   fdatasync (with fsync), pwrite64, or folders: what looks into folders and takes
//                 entries out of them (unlinkat, statx, openat2, getdents64, readdir)
//   FAULT_AT      n, from 1; of folders one call in n
//   FAULT_ACTION  eio, enospc, kill-before, kill-after
//   FAULT_REPORT  a file that says which call it was, once it happened
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[4096], report[4096];
static enum { NONE, SYNC, WRITE, FOLDERS } calls = NONE;
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
    calls = strcmp(text, "pwrite64") == 0    ? WRITE
            : strcmp(text, "fdatasync") == 0 ? SYNC
            : strcmp(text, "folders") == 0   ? FOLDERS
                                             : NONE;
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
    long number = atomic_fetch_add(&count, 1) + 1;
    // Scattered, or a walk of as many calls would fail at the same one each time.
    uint32_t scattered = (uint32_t)number * 2654435761u >> 8;
    if (kind == FOLDERS ? scattered % at != 0 : number != at) return 0;
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

int unlinkat(int directory, const char *name, int flags) {
    int (*real)(int, const char *, int) = dlsym(RTLD_NEXT, "unlinkat");
    return is_due(FOLDERS, directory, "unlinkat") ? fault() : real(directory, name, flags);
}

int statx(
    int directory, const char *restrict name, int flags, unsigned mask,
    struct statx *restrict found) {
    int (*real)(int, const char *, int, unsigned, struct statx *) = dlsym(RTLD_NEXT, "statx");
    if (is_due(FOLDERS, directory, "statx")) return fault();
    return real(directory, name, flags, mask, found);
}

static void *read_with(const char *name, DIR *folder) {
    // The end is told from a failure by errno alone.
    const int before = errno;
    void *(*real)(DIR *) = dlsym(RTLD_NEXT, name);
    if (is_due(FOLDERS, dirfd(folder), "readdir")) {
        fault();
        return NULL;
    }
    errno = before;
    return real(folder);
}

struct dirent *readdir(DIR *folder) { return read_with("readdir", folder); }
struct dirent64 *readdir64(DIR *folder) { return read_with("readdir64", folder); }

// What the C library has no function for.
long syscall(long number, ...) {
    long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
    long values[6];
    va_list list;
    va_start(list, number);
    for (int index = 0; index < 6; index++) values[index] = va_arg(list, long);
    va_end(list);
    if (number == SYS_openat2 && is_due(FOLDERS, (int)values[0], "openat2")) return fault();
    if (number == SYS_getdents64 && is_due(FOLDERS, (int)values[0], "getdents64")) return fault();
    return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
