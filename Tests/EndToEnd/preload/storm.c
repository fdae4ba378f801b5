// Makes calls of a process fail by the dozen, as long as a file exists. Loaded with LD_PRELOAD:
//   STORM_SWITCH  the file: while it is there, one call in STORM_ONE_IN fails
//   STORM_KIND    eintr    a signal interrupts calls that may block
//                 emfile   no descriptor is left
//                 enomem   the kernel has no memory for sockets and maps, SQLite none at all
//                 timers   the kernel watches no timer of libdispatch's (epoll_ctl(2))
//                 entropy  the kernel gives no random bytes
//                 eio      files below STORM_ROOT cannot be read, written or synced
//                 enospc   files below STORM_ROOT cannot grow
//   STORM_REPORT  a file that gets the name of each call that failed
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE = 0, EINTR_KIND = 1, EMFILE_KIND = 2, ENOMEM_KIND = 4, ENTROPY_KIND = 8,
            EIO_KIND = 16, ENOSPC_KIND = 32, TIMERS_KIND = 64 };

static enum kind kind = NONE;
static char gate[4096], report[4096], root[4096];
static unsigned one_in = 50;
static atomic_uint count;
static uintptr_t sqlite_begin, sqlite_end;

static long raw(long number, long a, long b, long c, long d) {
    static long (*real)(long, ...);
    if (real == NULL) real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a, b, c, d);
}

static int find_sqlite(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    if (strstr(info->dlpi_name, "libsqlite3") == NULL) return 0;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
        sqlite_begin = info->dlpi_addr + header->p_vaddr;
        sqlite_end = sqlite_begin + header->p_memsz;
    }
    return 1;
}

static void copy(char *to, const char *name) {
    const char *value = getenv(name);
    snprintf(to, 4096, "%s", value ? value : "");
}

__attribute__((constructor)) static void begin(void) {
    char text[4096];
    copy(gate, "STORM_SWITCH");
    copy(report, "STORM_REPORT");
    copy(root, "STORM_ROOT");
    copy(text, "STORM_ONE_IN");
    if (atol(text) > 0) one_in = (unsigned)atol(text);
    copy(text, "STORM_KIND");
    dl_iterate_phdr(find_sqlite, NULL);
    static const struct { const char *name; enum kind kind; } names[] = {
        {"eintr", EINTR_KIND}, {"emfile", EMFILE_KIND}, {"enomem", ENOMEM_KIND},
        {"entropy", ENTROPY_KIND}, {"eio", EIO_KIND}, {"enospc", ENOSPC_KIND},
        {"timers", TIMERS_KIND},
    };
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        if (strcmp(text, names[index].name) == 0) kind = names[index].kind;
    }
}

// Whether this call is one of those that fail; then errno is set.
static int fails(unsigned kinds, const char *name) {
    if (!(kinds & kind)) return 0;
    const unsigned number = atomic_fetch_add(&count, 1) + 1;
    // Scattered, or a loop of as many calls would fail at the same one each time.
    if ((number * 2654435761u >> 8) % one_in != 0) return 0;
    const int before = errno;
    if (raw(SYS_faccessat, AT_FDCWD, (long)gate, F_OK, 0) != 0) {
        errno = before;
        return 0;
    }
    const int mode = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    const long file = raw(SYS_openat, AT_FDCWD, (long)report, mode, 0600);
    if (file >= 0) {
        char line[64];
        const int size = snprintf(line, sizeof line, "%s\n", name);
        raw(SYS_write, file, (long)line, size, 0);
        raw(SYS_close, file, 0, 0, 0);
    }
    errno = kind == EINTR_KIND    ? EINTR
            : kind == EMFILE_KIND ? EMFILE
            : kind == ENOMEM_KIND ? ENOMEM
            : kind == EIO_KIND    ? EIO
            : kind == ENOSPC_KIND || kind == TIMERS_KIND ? ENOSPC
                                  : EAGAIN;
    return 1;
}

static int is_below_root(int descriptor) {
    if (!(kind & (EIO_KIND | ENOSPC_KIND))) return 1;
    char link[64], path[4096];
    const int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const long size = raw(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, sizeof path - 1);
    errno = before;
    if (size < 0) return 0;
    path[size] = 0;
    return strncmp(path, root, strlen(root)) == 0;
}

#define REAL(type, name, ...) type (*real)(__VA_ARGS__) = dlsym(RTLD_NEXT, #name)

// Calls with a descriptor first: type, name, kinds, parameters, arguments.
#define CALL(type, name, kinds, parameters, ...)                                             \
    type name parameters {                                                                   \
        static type(*real) parameters;                                                       \
        if (real == NULL) real = dlsym(RTLD_NEXT, #name);                                    \
        if ((kind & (kinds)) && is_below_root(descriptor) && fails(kinds, #name)) return -1; \
        return real(__VA_ARGS__);                                                            \
    }

#define READ (EINTR_KIND | EIO_KIND)
#define WRITE (EINTR_KIND | EIO_KIND | ENOSPC_KIND)

CALL(ssize_t, read, READ, (int descriptor, void *to, size_t size), descriptor, to, size)
CALL(ssize_t, write, WRITE, (int descriptor, const void *from, size_t size),
     descriptor, from, size)
CALL(ssize_t, pread64, READ, (int descriptor, void *to, size_t size, off64_t at),
     descriptor, to, size, at)
CALL(ssize_t, pwrite64, WRITE, (int descriptor, const void *from, size_t size, off64_t at),
     descriptor, from, size, at)
CALL(ssize_t, pread, READ, (int descriptor, void *to, size_t size, off_t at),
     descriptor, to, size, at)
CALL(ssize_t, pwrite, WRITE, (int descriptor, const void *from, size_t size, off_t at),
     descriptor, from, size, at)
CALL(ssize_t, readv, EINTR_KIND, (int descriptor, const struct iovec *to, int many),
     descriptor, to, many)
CALL(ssize_t, writev, EINTR_KIND, (int descriptor, const struct iovec *from, int many),
     descriptor, from, many)
CALL(ssize_t, recv, EINTR_KIND, (int descriptor, void *to, size_t size, int flags),
     descriptor, to, size, flags)
CALL(ssize_t, send, EINTR_KIND, (int descriptor, const void *from, size_t size, int flags),
     descriptor, from, size, flags)
CALL(ssize_t, recvmsg, EINTR_KIND, (int descriptor, struct msghdr *message, int flags),
     descriptor, message, flags)
CALL(ssize_t, sendmsg, EINTR_KIND, (int descriptor, const struct msghdr *message, int flags),
     descriptor, message, flags)
CALL(int, fdatasync, EIO_KIND, (int descriptor), descriptor)
CALL(int, fsync, EIO_KIND, (int descriptor), descriptor)
CALL(int, ftruncate64, EIO_KIND, (int descriptor, off64_t size), descriptor, size)
CALL(int, accept4, EINTR_KIND | EMFILE_KIND | ENOMEM_KIND,
     (int descriptor, struct sockaddr *address, socklen_t *size, int flags),
     descriptor, address, size, flags)
CALL(int, epoll_wait, EINTR_KIND,
     (int descriptor, struct epoll_event *events, int many, int timeout),
     descriptor, events, many, timeout)
CALL(int, dup, EMFILE_KIND, (int descriptor), descriptor)

int epoll_ctl(int descriptor, int order, int other, struct epoll_event *event) {
    REAL(int, epoll_ctl, int, int, int, struct epoll_event *);
    // SwiftNIO watches nothing once only, and ends a debug build whose event loop cannot begin.
    const int is_timer = event != NULL && (event->events & EPOLLONESHOT);
    if (fails(is_timer ? ENOMEM_KIND | TIMERS_KIND : ENOMEM_KIND, "epoll_ctl")) return -1;
    return real(descriptor, order, other, event);
}

int socket(int family, int type, int protocol) {
    REAL(int, socket, int, int, int);
    return fails(EMFILE_KIND | ENOMEM_KIND, "socket") ? -1 : real(family, type, protocol);
}

int pipe2(int ends[2], int flags) {
    REAL(int, pipe2, int *, int);
    return fails(EMFILE_KIND, "pipe2") ? -1 : real(ends, flags);
}

static int is_random(const char *path) {
    return strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0;
}

// libdispatch's workqueue monitor reads this file of each of its threads, and traps where it cannot
// (_dispatch_workq_monitor_pools). The release build registers no thread there, see CExecutor.h.
static int is_of_the_monitor(const char *path) {
    const size_t size = strlen(path);
    return strncmp(path, "/proc/", 6) == 0 && size > 11 && strcmp(path + size - 5, "/stat") == 0;
}

static int open_fails(const char *path) {
    if (is_of_the_monitor(path)) return 0;
    if (is_random(path) && fails(ENTROPY_KIND, "urandom")) return 1;
    return fails(EMFILE_KIND | EINTR_KIND, "open");
}

#define OPEN(name)                                          \
    int name(const char *path, int flags, ...) {            \
        REAL(int, name, const char *, int, ...);            \
        va_list list;                                       \
        va_start(list, flags);                              \
        const mode_t mode = va_arg(list, mode_t);           \
        va_end(list);                                       \
        return open_fails(path) ? -1 : real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                             \
    int name(int folder, const char *path, int flags, ...) {     \
        REAL(int, name, int, const char *, int, ...);            \
        va_list list;                                            \
        va_start(list, flags);                                   \
        const mode_t mode = va_arg(list, mode_t);                \
        va_end(list);                                            \
        return open_fails(path) ? -1 : real(folder, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

#define MAP(name, offset)                                                                    \
    void *name(void *place, size_t size, int access, int flags, int descriptor, offset at) { \
        REAL(void *, name, void *, size_t, int, int, int, offset);                           \
        if (!(flags & MAP_ANONYMOUS) && fails(ENOMEM_KIND, #name)) return MAP_FAILED;        \
        return real(place, size, access, flags, descriptor, at);                             \
    }
MAP(mmap, off_t)
MAP(mmap64, off64_t)

// A process that Swift cannot allocate for ends; SQLite must cope.
static int is_sqlite(const void *caller) {
    return (uintptr_t)caller >= sqlite_begin && (uintptr_t)caller < sqlite_end;
}

void *malloc(size_t size) {
    static void *(*real)(size_t);
    if (real == NULL) real = dlsym(RTLD_NEXT, "malloc");
    if (kind != ENOMEM_KIND || !is_sqlite(__builtin_return_address(0))) return real(size);
    return fails(ENOMEM_KIND, "malloc") ? NULL : real(size);
}

ssize_t getrandom(void *to, size_t size, unsigned flags) {
    REAL(ssize_t, getrandom, void *, size_t, unsigned);
    return fails(ENTROPY_KIND, "getrandom") ? -1 : real(to, size, flags);
}

int getentropy(void *to, size_t size) {
    REAL(int, getentropy, void *, size_t);
    return fails(ENTROPY_KIND, "getentropy") ? -1 : real(to, size);
}

// What the C library has no function for, and BoringSSL's way to random bytes.
long syscall(long number, ...) {
    REAL(long, syscall, long, ...);
    long values[6];
    va_list list;
    va_start(list, number);
    for (int index = 0; index < 6; index++) values[index] = va_arg(list, long);
    va_end(list);
    if (number == SYS_getrandom && fails(ENTROPY_KIND, "syscall getrandom")) return -1;
    if (number == SYS_openat2 && fails(EMFILE_KIND | EINTR_KIND, "openat2")) return -1;
    return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
