// Writes down every change of files below a directory, of all processes in one order.
//
// Loaded with LD_PRELOAD into the daemon and into the application. A change and its record are made
// under one lock that the processes share, so the order of the records is the order of the changes.
// A sync has two records: what was recorded before the first is on disk once the second is there.
//   RECORD_ROOT  only files below this directory count
//   RECORD_LOG   the log, made by record_create()
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LOG_SIZE = 1 << 30 };

// The head of the log; records follow it.
struct log {
    uint64_t end;
    uint64_t sync_count;
    pthread_mutex_t lock;
};

// A record: this, a name or data, and a second name.
struct record {
    uint32_t size;
    uint32_t kind;
    uint64_t time_ns;
    uint64_t values[3];
    uint32_t first_size, second_size;
};

static struct log *file_log;
static char root[PATH_MAX];

static int map_log(const char *path) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return -1;
    void *mapped = mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (mapped == MAP_FAILED) return -1;
    file_log = mapped;
    return 0;
}

// For the test's own process: makes a log and opens it.
int record_create(const char *path) {
    int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
    if (file < 0 || syscall(SYS_ftruncate, file, (long)LOG_SIZE) != 0) return -1;
    syscall(SYS_close, file);
    if (map_log(path) != 0) return -1;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&file_log->lock, &attributes);
    file_log->end = sizeof(struct log);
    return 0;
}

uint64_t record_head_size(void) { return sizeof(struct log); }

__attribute__((constructor)) static void begin(void) {
    const char *place = getenv("RECORD_ROOT"), *path = getenv("RECORD_LOG");
    if (place == NULL || path == NULL) return;
    snprintf(root, sizeof root, "%s", place);
    // Without a log the test would judge a recording with holes.
    if (map_log(path) != 0) abort();
}

static void lock(void) {
    if (pthread_mutex_lock(&file_log->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&file_log->lock);
}

static void unlock(void) { pthread_mutex_unlock(&file_log->lock); }

// Under the lock.
static void add(
    char kind, uint64_t a, uint64_t b, uint64_t c, const void *first, size_t first_size,
    const char *second) {
    size_t second_size = second ? strlen(second) : 0;
    size_t size = (sizeof(struct record) + first_size + second_size + 7) & ~(size_t)7;
    if (file_log->end + size > LOG_SIZE) abort();
    char *at = (char *)file_log + file_log->end;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct record record = {
        (uint32_t)size, (uint32_t)kind, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
        {a, b, c}, (uint32_t)first_size, (uint32_t)second_size};
    memcpy(at, &record, sizeof record);
    memcpy(at + sizeof record, first, first_size);
    if (second_size) memcpy(at + sizeof record + first_size, second, second_size);
    file_log->end += size;
}

// What happened in the world outside: an answer that arrived, a token that ended.
void record_mark(const void *text, size_t size) {
    lock();
    add('m', 0, 0, 0, text, size, NULL);
    unlock();
}

static int is_below(const char *path) {
    size_t size = strlen(root);
    return size > 0 && strncmp(path, root, size) == 0 && (path[size] == '/' || path[size] == 0);
}

// The inode of an open regular file or directory below the root; 0 for anything else.
static uint64_t inode_of(int descriptor, mode_t kind) {
    struct stat64 status;
    if (file_log == NULL || fstat64(descriptor, &status) != 0 || (status.st_mode & S_IFMT) != kind)
        return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return is_below(path) ? status.st_ino : 0;
}

// One name in a directory.
struct place {
    uint64_t directory;
    char name[NAME_MAX + 1];
};

// Whether the path names something below the root; then where.
static int find(int at, const char *path, struct place *place) {
    if (file_log == NULL || path == NULL || *path == 0) return 0;
    char whole[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strlen(name) > NAME_MAX) return 0;
    snprintf(place->name, sizeof place->name, "%s", name);
    snprintf(whole, sizeof whole, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    int directory = (int)syscall(SYS_openat, at, whole, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0) return 0;
    place->directory = inode_of(directory, S_IFDIR);
    syscall(SYS_close, directory);
    return place->directory != 0;
}

static uint64_t inode_at(int at, const char *path, mode_t *mode) {
    struct stat64 status;
    if (fstatat64(at, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return 0;
    if (mode) *mode = status.st_mode;
    return status.st_ino;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (real == NULL) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

// ---- Files that are made or emptied ----

static int open_with(long (*call)(int, const char *, int, int, void *), int at, const char *path,
                     int flags, int mode, void *more) {
    struct place place;
    if (!(flags & (O_CREAT | O_TRUNC)) || !find(at, path, &place))
        return (int)call(at, path, flags, mode, more);
    lock();
    int file = (int)call(at, path, flags, mode, more);
    const int cause = errno;
    struct stat64 status;
    if (file >= 0 && fstat64(file, &status) == 0 && S_ISREG(status.st_mode)) {
        if (flags & O_CREAT)
            add('c', place.directory, status.st_ino, status.st_mode, place.name,
                strlen(place.name), NULL);
        if (flags & O_TRUNC) add('t', status.st_ino, 0, 0, NULL, 0, NULL);
    }
    unlock();
    errno = cause;
    return file;
}

static long plain_openat(int at, const char *path, int flags, int mode, void *more) {
    (void)more;
    return syscall(SYS_openat, at, path, flags | O_LARGEFILE, mode);
}

static long plain_openat2(int at, const char *path, int flags, int mode, void *more) {
    (void)flags;
    (void)mode;
    uint64_t *how = more;
    long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
    return real(SYS_openat2, at, path, how, (size_t)how[3]);
}

#define MODE_OF(flags) \
    int mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, int); \
        va_end(list); \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags)
    return open_with(plain_openat, AT_FDCWD, path, flags, mode, NULL);
}
int open64(const char *path, int flags, ...) {
    MODE_OF(flags)
    return open_with(plain_openat, AT_FDCWD, path, flags, mode, NULL);
}
int openat(int at, const char *path, int flags, ...) {
    MODE_OF(flags)
    return open_with(plain_openat, at, path, flags, mode, NULL);
}
int openat64(int at, const char *path, int flags, ...) {
    MODE_OF(flags)
    return open_with(plain_openat, at, path, flags, mode, NULL);
}
int creat(const char *path, mode_t mode) {
    return open_with(plain_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, (int)mode, NULL);
}

// What the C library has no function for.
long syscall(long number, ...) {
    long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
    long values[6];
    va_list list;
    va_start(list, number);
    for (int index = 0; index < 6; index++) values[index] = va_arg(list, long);
    va_end(list);
    if (number == SYS_openat2 && file_log != NULL) {
        // struct open_how: flags, mode, resolve; its size goes behind them.
        uint64_t how[4] = {0, 0, 0, (uint64_t)values[3]};
        if (values[3] <= 24) {
            memcpy(how, (void *)values[2], (size_t)values[3]);
            return open_with(plain_openat2, (int)values[0], (const char *)values[1], (int)how[0],
                             (int)how[1], how);
        }
    }
    return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

// ---- Contents ----

static off64_t position_after(int file) { return lseek64(file, 0, SEEK_CUR); }

#define WRITE_BODY(call, data, from) \
    uint64_t inode = inode_of(file, S_IFREG); \
    if (inode == 0) return call; \
    lock(); \
    ssize_t count = call; \
    const int cause = errno; \
    if (count > 0) { \
        off64_t start = (from); \
        add('w', inode, (uint64_t)start, 0, data, (size_t)count, NULL); \
    } \
    unlock(); \
    errno = cause; \
    return count;

ssize_t pwrite64(int file, const void *data, size_t size, off64_t to) {
    REAL(pwrite64);
    WRITE_BODY(real(file, data, size, to), data, to)
}
ssize_t pwrite(int file, const void *data, size_t size, off_t to) {
    REAL(pwrite);
    WRITE_BODY(real(file, data, size, to), data, to)
}
ssize_t write(int file, const void *data, size_t size) {
    REAL(write);
    WRITE_BODY(real(file, data, size), data, position_after(file) - count)
}
ssize_t writev(int file, const struct iovec *parts, int part_count) {
    REAL(writev);
    if (inode_of(file, S_IFREG) == 0) return real(file, parts, part_count);
    // Nobody here writes files this way; a recording without it would be wrong.
    abort();
}

static int cut_with(int file, off64_t size) {
    uint64_t inode = inode_of(file, S_IFREG);
    if (inode == 0) return (int)syscall(SYS_ftruncate, file, size);
    lock();
    int result = (int)syscall(SYS_ftruncate, file, size);
    const int cause = errno;
    if (result == 0) add('t', inode, (uint64_t)size, 0, NULL, 0, NULL);
    unlock();
    errno = cause;
    return result;
}
int ftruncate(int file, off_t size) { return cut_with(file, size); }
int ftruncate64(int file, off64_t size) { return cut_with(file, size); }

static int reserve(int file, int mode, off64_t from, off64_t size) {
    uint64_t inode = inode_of(file, S_IFREG);
    if (inode != 0 && mode != 0) abort();
    if (inode == 0) return (int)syscall(SYS_fallocate, file, mode, from, size);
    lock();
    int result = (int)syscall(SYS_fallocate, file, mode, from, size);
    const int cause = errno;
    if (result == 0) add('e', inode, (uint64_t)(from + size), 0, NULL, 0, NULL);
    unlock();
    errno = cause;
    return result;
}
int fallocate(int file, int mode, off_t from, off_t size) {
    return reserve(file, mode, from, size);
}
int fallocate64(int file, int mode, off64_t from, off64_t size) {
    return reserve(file, mode, from, size);
}
int posix_fallocate(int file, off_t from, off_t size) {
    return reserve(file, 0, from, size) == 0 ? 0 : errno;
}
int posix_fallocate64(int file, off64_t from, off64_t size) {
    return reserve(file, 0, from, size) == 0 ? 0 : errno;
}

static int sync_with(long number, int file) {
    uint64_t inode = inode_of(file, S_IFREG);
    if (inode == 0) inode = inode_of(file, S_IFDIR);
    if (inode == 0) return (int)syscall(number, file);
    lock();
    uint64_t which = ++file_log->sync_count;
    add('b', inode, which, 0, NULL, 0, NULL);
    unlock();
    int result = (int)syscall(number, file);
    const int cause = errno;
    lock();
    add('s', inode, which, (uint64_t)(result == 0), NULL, 0, NULL);
    unlock();
    errno = cause;
    return result;
}
int fsync(int file) { return sync_with(SYS_fsync, file); }
int fdatasync(int file) { return sync_with(SYS_fdatasync, file); }

// ---- Names ----

#define NAMED(at, path, call, record) \
    struct place place; \
    if (!find(at, path, &place)) return call; \
    lock(); \
    mode_t mode_before = 0; \
    uint64_t inode_before = inode_at(at, path, &mode_before); \
    (void)inode_before; \
    int result = call; \
    const int cause = errno; \
    if (result == 0) record; \
    unlock(); \
    errno = cause; \
    return result;

#define UNLINKED add('u', place.directory, inode_before, 0, place.name, strlen(place.name), NULL)

int unlink(const char *path) {
    REAL(unlink);
    NAMED(AT_FDCWD, path, real(path), UNLINKED)
}
int remove(const char *path) {
    REAL(remove);
    NAMED(AT_FDCWD, path, real(path), UNLINKED)
}
int rmdir(const char *path) {
    REAL(rmdir);
    NAMED(AT_FDCWD, path, real(path), UNLINKED)
}
int unlinkat(int at, const char *path, int flags) {
    REAL(unlinkat);
    NAMED(at, path, real(at, path, flags), UNLINKED)
}

static int make_folder(int at, const char *path, mode_t mode) {
    NAMED(at, path, (int)syscall(SYS_mkdirat, at, path, mode),
          add('d', place.directory, inode_at(at, path, NULL), mode, place.name,
              strlen(place.name), NULL))
}
int mkdir(const char *path, mode_t mode) { return make_folder(AT_FDCWD, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { return make_folder(at, path, mode); }

// A name in two places: a link, or one that replaces the other.
static int two_names(char kind, long number, int from, const char *old, int to, const char *new,
                     int flags) {
    struct place first, second;
    int is_ours = find(from, old, &first), is_there = find(to, new, &second);
    if (is_ours != is_there && file_log != NULL) abort();
    if (!is_ours) return (int)syscall(number, from, old, to, new, flags);
    lock();
    uint64_t inode = inode_at(from, old, NULL);
    int result = (int)syscall(number, from, old, to, new, flags);
    const int cause = errno;
    if (result == 0)
        add(kind, first.directory, second.directory, inode, first.name, strlen(first.name),
            second.name);
    unlock();
    errno = cause;
    return result;
}
int rename(const char *old, const char *new) {
    return two_names('r', SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}
int renameat(int from, const char *old, int to, const char *new) {
    return two_names('r', SYS_renameat2, from, old, to, new, 0);
}
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return two_names('r', SYS_renameat2, from, old, to, new, (int)flags);
}
int link(const char *old, const char *new) {
    return two_names('l', SYS_linkat, AT_FDCWD, old, AT_FDCWD, new, 0);
}
int linkat(int from, const char *old, int to, const char *new, int flags) {
    return two_names('l', SYS_linkat, from, old, to, new, flags);
}

static int set_mode(int file, mode_t mode) {
    REAL(fchmod);
    uint64_t inode = inode_of(file, S_IFREG);
    if (inode == 0) inode = inode_of(file, S_IFDIR);
    int result = real(file, mode);
    const int cause = errno;
    if (result == 0 && inode != 0) {
        lock();
        add('p', inode, mode, 0, NULL, 0, NULL);
        unlock();
    }
    errno = cause;
    return result;
}
int fchmod(int file, mode_t mode) { return set_mode(file, mode); }
int chmod(const char *path, mode_t mode) {
    REAL(chmod);
    int result = real(path, mode);
    const int cause = errno;
    struct place place;
    if (result == 0 && find(AT_FDCWD, path, &place)) {
        lock();
        add('p', inode_at(AT_FDCWD, path, NULL), mode, 0, NULL, 0, NULL);
        unlock();
    }
    errno = cause;
    return result;
}
