// Linux calls that Swift cannot import: variadic functions, GNU structures, signal handlers.
// Every function answers 0 or a value on success and a negative errno on failure.
#pragma once

#include <dirent.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// The identity of the process at the other end of a connected AF_UNIX socket, as it was at
// connect() (SO_PEERCRED, unix(7)). The pid may already belong to another process: never decide on
// it.
struct clinux_peer {
    uint32_t uid;
    uint32_t gid;
    int32_t pid;
};
int clinux_peer_of_socket(int fd, struct clinux_peer *peer);

// Who logged in, of a process: its loginuid (proc_pid_loginuid(5)), which no change of uid alters,
// neither su(1) nor sudo(8). Answers 1 and the login uid, 0 when the process is of no login session
// or the kernel keeps none, -ESRCH when it is gone or /proc hides it (ProtectProc= of
// systemd.exec(5)).
//
// `handle` is a pidfd of the process, best the one of SO_PEERPIDFD (Linux 6.5), and is closed; -1
// opens one. It shows that the pid did not become somebody else's while it was read.
int clinux_login_of_process(int32_t pid, int handle, uint32_t *login);

// No core file and no ptrace by the same user: prctl(PR_SET_DUMPABLE, 0) and RLIMIT_CORE 0.
int clinux_forbid_core_dumps(void);
// Raises the limit of open descriptors (RLIMIT_NOFILE) to `wanted`, or to the hard limit if that is
// lower. Answers how many of `wanted` there are; a limit that is higher stays.
long clinux_raise_descriptors(long wanted);
// At most four heaps (mallopt(3), M_ARENA_MAX): by default every thread gets one of its own, and
// each keeps what a burst of work once needed.
void clinux_bound_heaps(void);
// What prctl(PR_GET_DUMPABLE) answers.
int clinux_is_dumpable(void);

// Takes an exclusive lock on the whole file without waiting. The lock belongs to the open file
// description (F_OFD_SETLK, fcntl(2)), so closing another descriptor of the file does not drop it.
// -EAGAIN when somebody else holds it.
int clinux_lock_file(int fd);

// A descriptor that becomes readable when clinux_event_signal was called (eventfd(2)), CLOEXEC.
int clinux_event_make(void);
int clinux_event_signal(int fd);
// Sleeps until the event is signalled and clears it. timeout_ms < 0 waits without end.
// -ETIMEDOUT when the time is over.
int clinux_event_wait(int fd, int timeout_ms);

// A descriptor to wait on for steps of CLOCK_REALTIME (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
int clinux_clock_watch(void);
// Sleeps until somebody sets the clock.
int clinux_clock_wait_for_step(int fd);

// Starts a detached thread with all signals blocked, so that signals meet the threads that wait for
// them. The name is cut to 15 bytes (pthread_setname_np(3)).
int clinux_thread_start(const char *name, void (*body)(void *context), void *context);

// Makes the process leave one byte, the signal's number, in fd when it ends by its own fault:
// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV raised by this process or by the kernel on
// its behalf. The same signals sent by another process (kill(2), the watchdog of systemd) leave
// nothing. Then the default action takes place. Standard error gets the number, too.
//
// The handler runs on an alternate stack on the calling thread and on threads that have one; on
// other threads on their own stack, so that a stack overflow there leaves no byte. Call it once, on
// the main thread, with a descriptor that stays open until the end.
int clinux_install_crash_marker(int fd);

// The most private memory of a process and of what it starts (RLIMIT_DATA, which counts private
// writable mappings since Linux 4.7), and no core file (prlimit(2)). -ESRCH once it has ended.
int clinux_limit_memory(pid_t pid, uint64_t memory_max);

// Opens what `path` names below the directory `at`, never anything else (openat2(2)): no step out
// of `at`, no symbolic link, no magic link and no other mount on the way. O_CLOEXEC is added.
// -ELOOP for a link, -EXDEV for a step out or a mount, -ENOSYS before Linux 5.6.
int clinux_open_beneath(int at, const char *path, int flags);

// What removing a file or folder is decided by (statx(2)); the last link is not followed and
// nothing is mounted for it.
struct clinux_file_facts {
    uint32_t mode;
    int64_t born_ms;      // -1 where the file system keeps no birth time
    int64_t modified_ms;
    uint64_t device;
    uint64_t inode;
    int is_mount;         // something is mounted on it, and hides it; known since Linux 5.8
};
int clinux_file_facts_at(int at, const char *name, struct clinux_file_facts *facts);
// The same of what a path of several names leads to, as clinux_open_beneath would open it: the last
// name may be a link, which is not followed.
int clinux_file_facts_beneath(int at, const char *path, struct clinux_file_facts *facts);

// Fills `buffer` with directory entries (getdents64(2)) and answers how many bytes; 0 at the end.
long clinux_read_directory(int fd, void *buffer, size_t size);

// Reads the entry that begins at `entry`: its length in the buffer, the place to go on reading
// after it (for lseek(2)), its name and its type (DT_ of readdir(3)).
struct clinux_directory_entry {
    uint16_t length;
    int64_t next_place;
    uint8_t type;
    const char *name;
};
struct clinux_directory_entry clinux_directory_entry_at(const void *entry);

// Reads the next entry of a folder by the C library (readdir(3)): 1, 0 at the end. The name lives
// until the next call.
int clinux_next_entry(DIR *folder, struct clinux_directory_entry *entry);

// Overwrites the arguments of the process after its name, so that other users do not read them in
// /proc/PID/cmdline (proc(5)). Copy them before; there are none left to read after it. A reader who
// is faster than the process can still see them.
void clinux_hide_arguments(void);

// Bounds what a library holds for one of its objects, such as a connection to a server.
//
// Counts the bytes that calls of the library allocate on this thread between `begin` and `end`,
// less those that they free. Beyond `byte_count_max` malloc(3), calloc(3) and realloc(3) fail there
// with ENOMEM. Only a program with CAllocator counts.
typedef struct clinux_meter clinux_meter;

// NULL without memory, which `begin` takes for no bound. free(3) ends it.
clinux_meter *clinux_make_meter(int64_t byte_count_max);
void clinux_meter_begin(clinux_meter *meter);
void clinux_meter_end(void);
// Whether an allocation was refused, ever.
int clinux_meter_is_full(const clinux_meter *meter);

// For the allocator, while the thread has a meter: whether there is room for so many bytes, and
// what was allocated or, negative, freed.
int clinux_meter_allows(size_t byte_count);
void clinux_meter_add(int64_t byte_count);

#ifdef __cplusplus
}
#endif
