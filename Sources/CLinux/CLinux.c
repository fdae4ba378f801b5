#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int clinux_peer_of_socket(int fd, struct clinux_peer *peer) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -errno;
    if (length != sizeof credentials) return -EPROTO;
    // A socket without a peer answers pid 0 and the overflow ids: that is nobody.
    if (credentials.uid == (uid_t)-1 || credentials.gid == (gid_t)-1) return -ENOTCONN;
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    peer->pid = credentials.pid;
    return 0;
}

// AUDIT_UID_UNSET of linux/audit.h.
static const uint32_t login_unset = UINT32_MAX;

static int read_login(int32_t pid, uint32_t *login) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", pid);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -ESRCH;
    int file = openat(directory, "loginuid", O_RDONLY | O_CLOEXEC);
    int error = errno;
    close(directory);
    // A kernel without CONFIG_AUDIT has no such file; that of a process that is gone is told below.
    if (file < 0) return error == ENOENT ? 0 : -ESRCH;
    char text[16];
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return -ESRCH;
    text[length] = 0;
    *login = (uint32_t)strtoul(text, NULL, 10);
    return *login == login_unset ? 0 : 1;
}

int clinux_login_of_process(int32_t pid, int handle, uint32_t *login) {
    if (handle < 0) handle = (int)syscall(SYS_pidfd_open, pid, 0);
    if (handle < 0) return -ESRCH;
    int answer = read_login(pid, login);
    // Readable means that it has ended, so the pid may be somebody else's by now.
    struct pollfd ended = {.fd = handle, .events = POLLIN};
    if (poll(&ended, 1, 0) != 0) answer = -ESRCH;
    close(handle);
    return answer;
}

int clinux_forbid_core_dumps(void) {
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -errno;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -errno;
    return 0;
}

long clinux_raise_descriptors(long wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < (rlim_t)wanted ? limit.rlim_max : (rlim_t)wanted;
    const int is_raised = before < limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &limit) == 0;
    return (long)(is_raised || before > limit.rlim_cur ? limit.rlim_cur : before);
}

void clinux_bound_heaps(void) { mallopt(M_ARENA_MAX, 4); }

int clinux_is_dumpable(void) {
    int answer = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    return answer < 0 ? -errno : answer;
}

int clinux_lock_file(int fd) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0) return 0;
    return errno == EACCES ? -EAGAIN : -errno;
}

int clinux_event_make(void) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

int clinux_event_signal(int fd) {
    const uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0) {
        if (errno == EAGAIN) return 0;  // already signalled, as often as a counter can hold
        if (errno != EINTR) return -errno;
    }
    return 0;
}

static int64_t monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int clinux_event_wait(int fd, int timeout_ms) {
    const int64_t end = timeout_ms < 0 ? 0 : monotonic_ms() + timeout_ms;
    for (;;) {
        uint64_t count;
        if (read(fd, &count, sizeof count) == (ssize_t)sizeof count) return 0;
        if (errno != EAGAIN && errno != EINTR) return -errno;
        int wait_ms = -1;
        if (timeout_ms >= 0) {
            int64_t rest = end - monotonic_ms();
            if (rest <= 0) return -ETIMEDOUT;
            wait_ms = (int)rest;
        }
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        if (poll(&waiting, 1, wait_ms) < 0 && errno != EINTR) return -errno;
    }
}

int clinux_clock_watch(void) {
    int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int clinux_clock_wait_for_step(int fd) {
    // As far away as a time can be: it never comes, so the only end is a step of the clock.
    const struct itimerspec never = {.it_value = {.tv_sec = INT64_MAX / 1000000000}};
    for (;;) {
        const int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
        if (timerfd_settime(fd, flags, &never, NULL) != 0) {
            // The clock was set between the last read and now (timerfd_create(2)).
            return errno == ECANCELED ? 0 : -errno;
        }
        uint64_t count;
        if (read(fd, &count, sizeof count) >= 0) continue;
        if (errno == ECANCELED) return 0;
        if (errno != EINTR) return -errno;
    }
}

struct thread_start {
    void (*body)(void *context);
    void *context;
    char name[16];
};

static void *thread_main(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), start.name);
    start.body(start.context);
    return NULL;
}

int clinux_thread_start(const char *name, void (*body)(void *context), void *context) {
    struct thread_start *start = calloc(1, sizeof *start);
    if (start == NULL) return -ENOMEM;
    start->body = body;
    start->context = context;
    strncpy(start->name, name, sizeof start->name - 1);

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all, before;
    sigfillset(&all);
    // A fault of the thread itself must reach the crash marker, blocked or not.
    const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int failure = pthread_create(&thread, &attributes, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failure != 0) free(start);
    return -failure;
}

static volatile int crash_marker_fd = -1;

// Only async-signal-safe calls (signal-safety(7)): getpid, write, sigaction, raise.
static void mark_crash(int number, siginfo_t *info, void *context) {
    (void)context;
    const int is_sent = info->si_code == SI_USER || info->si_code == SI_QUEUE
        || info->si_code == SI_TKILL;
    const int is_ours = !is_sent || info->si_pid == getpid();
    const unsigned char mark = (unsigned char)number;
    if (is_ours && crash_marker_fd >= 0) {
        ssize_t ignored = write(crash_marker_fd, &mark, 1);
        char text[] = "signal 00 ends expunged: a fault of its own or of a library\n";
        text[7] = (char)('0' + number / 10 % 10);
        text[8] = (char)('0' + number % 10);
        ignored = write(STDERR_FILENO, text, sizeof text - 1);
        (void)ignored;
    }
    struct sigaction restored;
    memset(&restored, 0, sizeof restored);
    restored.sa_handler = SIG_DFL;
    sigaction(number, &restored, NULL);
    // Blocked while this handler runs; delivered, with the default action, on its return.
    raise(number);
}

int clinux_install_crash_marker(int fd) {
    static char stack[64 * 1024];  // well above MINSIGSTKSZ, AVX-512 state included
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(&alternate, NULL) != 0) return -errno;
    crash_marker_fd = fd;

    struct sigaction marking;
    memset(&marking, 0, sizeof marking);
    marking.sa_sigaction = mark_crash;
    marking.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&marking.sa_mask);
    const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], &marking, NULL) != 0) return -errno;
    }
    return 0;
}

static char **original_arguments;
static int original_count;

// The C library hands the arguments to every constructor: they are the kernel's own strings, the
// ones that /proc/PID/cmdline shows.
__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
    original_count = count;
    original_arguments = arguments;
}

void clinux_hide_arguments(void) {
    for (int i = 1; i < original_count; i++) {
        explicit_bzero(original_arguments[i], strlen(original_arguments[i]));
    }
}

// Stands in front of the C library's function in every program that links this shim. libdispatch
// changes the priority of its threads, and complains to syslog and standard error when the sandbox
// (SystemCallFilter=~@resources: EPERM) or a missing privilege (for a higher one: EACCES,
// setpriority(2)) denies it; journald keeps the command line beside such a complaint. The priority
// is a wish, so a denial is success.
int setpriority(__priority_which_t which, id_t who, int priority) {
    if (syscall(SYS_setpriority, which, who, priority) == 0) return 0;
    return errno == EPERM || errno == EACCES ? 0 : -1;
}

int clinux_open_beneath(int at, const char *path, int flags) {
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC),
        .resolve =
            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    // A rename elsewhere on the way makes the kernel give up with EAGAIN; 64 tries outlast any that
    // is not made on purpose.
    for (int tries = 0;; tries++) {
        long fd = syscall(SYS_openat2, at, path, &how, sizeof how);
        if (fd >= 0) return (int)fd;
        if (errno != EINTR && (errno != EAGAIN || tries >= 64)) return -errno;
    }
}

static int64_t milliseconds(struct statx_timestamp time) {
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int clinux_file_facts_at(int at, const char *name, struct clinux_file_facts *facts) {
    struct statx found;
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH;
    const unsigned wanted = STATX_TYPE | STATX_MODE | STATX_MTIME | STATX_BTIME | STATX_INO;
    if (statx(at, name, flags, wanted, &found) != 0) return -errno;
    facts->device = (uint64_t)found.stx_dev_major << 32 | found.stx_dev_minor;
    facts->inode = found.stx_ino;
    facts->is_mount = (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    facts->mode = found.stx_mode;
    facts->born_ms = found.stx_mask & STATX_BTIME ? milliseconds(found.stx_btime) : -1;
    facts->modified_ms = milliseconds(found.stx_mtime);
    return 0;
}

int clinux_file_facts_beneath(int at, const char *path, struct clinux_file_facts *facts) {
    int fd = clinux_open_beneath(at, path, O_PATH | O_NOFOLLOW);
    if (fd < 0) return fd;
    int answer = clinux_file_facts_at(fd, "", facts);
    close(fd);
    return answer;
}

long clinux_read_directory(int fd, void *buffer, size_t size) {
    long count = syscall(SYS_getdents64, fd, buffer, size);
    return count < 0 ? -errno : count;
}

struct clinux_directory_entry clinux_directory_entry_at(const void *entry) {
    // getdents64(2), struct linux_dirent64: d_ino, d_off, d_reclen, d_type, d_name.
    const char *bytes = entry;
    struct clinux_directory_entry read;
    memcpy(&read.next_place, bytes + 8, sizeof read.next_place);
    memcpy(&read.length, bytes + 16, sizeof read.length);
    read.type = (uint8_t)bytes[18];
    read.name = bytes + 19;
    return read;
}

int clinux_next_entry(DIR *folder, struct clinux_directory_entry *entry) {
    errno = 0;
    const struct dirent *next = readdir(folder);
    if (next == NULL) return -errno;
    entry->length = next->d_reclen;
    entry->next_place = next->d_off;
    entry->type = next->d_type;
    entry->name = next->d_name;
    return 1;
}

int clinux_limit_memory(pid_t pid, uint64_t memory_max) {
    const struct rlimit none = {0, 0};
    const struct rlimit memory = {memory_max, memory_max};
    if (prlimit(pid, RLIMIT_CORE, &none, NULL) != 0) return -errno;
    if (prlimit(pid, RLIMIT_DATA, &memory, NULL) != 0) return -errno;
    return 0;
}

struct clinux_meter {
    int64_t held;
    int64_t max;
    int is_full;
};

_Thread_local clinux_meter *clinux_current_meter;

clinux_meter *clinux_make_meter(int64_t byte_count_max) {
    clinux_meter *meter = calloc(1, sizeof *meter);
    if (meter != NULL) meter->max = byte_count_max;
    return meter;
}

void clinux_meter_begin(clinux_meter *meter) { clinux_current_meter = meter; }
void clinux_meter_end(void) { clinux_current_meter = NULL; }
int clinux_meter_is_full(const clinux_meter *meter) { return meter != NULL && meter->is_full; }

int clinux_meter_allows(size_t byte_count) {
    clinux_meter *meter = clinux_current_meter;
    if ((int64_t)byte_count <= meter->max - meter->held) return 1;
    meter->is_full = 1;
    return 0;
}

void clinux_meter_add(int64_t byte_count) { clinux_current_meter->held += byte_count; }
