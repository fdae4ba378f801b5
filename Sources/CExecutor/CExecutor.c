#define _GNU_SOURCE
#include "CExecutor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// Of the runtime's ABI, include/swift/Runtime/Concurrency.h. Weak: another runtime may lack a hook.
#define SWIFT_CALL __attribute__((swiftcall))
#define HOOK extern __attribute__((weak)) SWIFT_CALL
typedef struct swift_job swift_job;
typedef SWIFT_CALL void (*enqueue_original)(swift_job *job);
HOOK void (*swift_task_enqueueGlobal_hook)(swift_job *job, enqueue_original original);
// The executor is a pair of words; zeros are the generic one.
extern SWIFT_CALL void swift_job_run(swift_job *job, void *identity, uintptr_t implementation);
// Of libdispatch, dispatch/time.h and dispatch/queue.h: for a pool that is not installed.
extern uint64_t dispatch_time(uint64_t when, int64_t delta_ns);
extern void *dispatch_get_global_queue(intptr_t priority, uintptr_t flags);
extern void dispatch_after_f(
    uint64_t when, void *queue, void *context, void (*body)(void *context));

// A job of Swift's, or without one a function to call.
struct task {
    swift_job *job;
    void (*body)(void *context);
    void *context;
};

struct timer {
    int64_t deadline_ns;
    uint64_t number;  // equal deadlines fire in the order in which they came
    struct task task;
};

// One thread at a time is the watcher: it sleeps in poll(2) on the timer and on the event that
// calls it. All others sleep on the condition.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    int sleeper_count;
    int has_watcher;
    int is_watcher_called;
    int timer_fd;
    int event_fd;
    int64_t armed_ns;  // what the timer is set to; INT64_MAX when it is not

    struct task *tasks;  // a ring; its capacity is a power of two
    size_t task_capacity, task_first, task_count;

    struct timer *timers;  // a heap, the earliest first
    size_t timer_capacity, timer_count;
    uint64_t timer_number;
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .timer_fd = -1,
    .event_fd = -1,
    .armed_ns = INT64_MAX,
};

static _Thread_local int is_worker;

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// A job cannot be refused, so there is nothing else to do without memory.
static void *grown(void *old, size_t count, size_t size) {
    void *memory = reallocarray(old, count, size);
    if (memory == NULL) {
        static const char text[] = "no memory for a task: the process ends\n";
        ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
        (void)ignored;
        abort();
    }
    return memory;
}

// MARK: The queue; every function here is called with the lock held.

static void push_task(struct task task) {
    if (pool.task_count == pool.task_capacity) {
        size_t capacity = pool.task_capacity == 0 ? 256 : pool.task_capacity * 2;
        struct task *tasks = grown(NULL, capacity, sizeof *tasks);
        for (size_t i = 0; i < pool.task_count; i++) {
            tasks[i] = pool.tasks[(pool.task_first + i) & (pool.task_capacity - 1)];
        }
        free(pool.tasks);
        pool.tasks = tasks;
        pool.task_capacity = capacity;
        pool.task_first = 0;
    }
    pool.tasks[(pool.task_first + pool.task_count++) & (pool.task_capacity - 1)] = task;
}

static struct task pop_task(void) {
    struct task task = pool.tasks[pool.task_first];
    pool.task_first = (pool.task_first + 1) & (pool.task_capacity - 1);
    pool.task_count--;
    return task;
}

enum call { NOBODY, SLEEPER, WATCHER };

static enum call choose_call(void) {
    if (pool.sleeper_count > 0) return SLEEPER;
    if (!pool.has_watcher || pool.is_watcher_called) return NOBODY;
    pool.is_watcher_called = 1;
    return WATCHER;
}

// Best without the lock: who is called wants it at once and would fall asleep again over it.
static void call(enum call who) {
    if (who == SLEEPER) {
        pthread_cond_signal(&pool.work);
    } else if (who == WATCHER) {
        const uint64_t one = 1;
        // It cannot fail: the counter is far from full and the descriptor is ours.
        ssize_t ignored = write(pool.event_fd, &one, sizeof one);
        (void)ignored;
    }
}

// MARK: Timers; every function here is called with the lock held.

static int is_earlier(size_t left, size_t right) {
    const struct timer *a = &pool.timers[left], *b = &pool.timers[right];
    if (a->deadline_ns != b->deadline_ns) return a->deadline_ns < b->deadline_ns;
    return a->number < b->number;
}

static void swap_timers(size_t left, size_t right) {
    struct timer kept = pool.timers[left];
    pool.timers[left] = pool.timers[right];
    pool.timers[right] = kept;
}

static void rise(size_t at) {
    for (; at > 0 && is_earlier(at, (at - 1) / 2); at = (at - 1) / 2) {
        swap_timers(at, (at - 1) / 2);
    }
}

static void push_timer(int64_t deadline_ns, struct task task) {
    if (pool.timer_count == pool.timer_capacity) {
        pool.timer_capacity = pool.timer_capacity == 0 ? 64 : pool.timer_capacity * 2;
        pool.timers = grown(pool.timers, pool.timer_capacity, sizeof *pool.timers);
    }
    pool.timers[pool.timer_count] = (struct timer){deadline_ns, pool.timer_number++, task};
    rise(pool.timer_count++);
}

static struct task remove_timer(size_t at) {
    struct task task = pool.timers[at].task;
    if (at == --pool.timer_count) return task;
    pool.timers[at] = pool.timers[pool.timer_count];
    rise(at);
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < pool.timer_count && is_earlier(child, least)) least = child;
        }
        if (least == at) return task;
        swap_timers(at, least);
        at = least;
    }
}

static void push_due_timers(void) {
    if (pool.timer_count == 0) return;
    const int64_t now_ns = clock_ns(CLOCK_BOOTTIME);
    int count = 0;
    for (; pool.timer_count > 0 && pool.timers[0].deadline_ns <= now_ns; count++) {
        push_task(remove_timer(0));
    }
    // The calling thread takes one of them itself.
    for (; count > 1; count--) call(choose_call());
}

// Setting the timer needs no other thread: it is the watcher's sleep that ends at it.
static void arm_timer(void) {
    const int64_t deadline_ns = pool.timer_count > 0 ? pool.timers[0].deadline_ns : INT64_MAX;
    if (deadline_ns == pool.armed_ns) return;
    struct itimerspec setting = {0};
    if (deadline_ns != INT64_MAX) {
        // Zeros would disarm it.
        const int64_t at_ns = deadline_ns > 0 ? deadline_ns : 1;
        setting.it_value.tv_sec = at_ns / 1000000000;
        setting.it_value.tv_nsec = at_ns % 1000000000;
    }
    timerfd_settime(pool.timer_fd, TFD_TIMER_ABSTIME, &setting, NULL);
    pool.armed_ns = deadline_ns;
}

// Somebody must sleep on the timers while the calling thread, the last watcher, runs a job.
static void hand_over_watch(void) {
    if (pool.has_watcher || pool.sleeper_count == 0 || pool.timer_count == 0) return;
    pthread_cond_signal(&pool.work);
}

// MARK: Threads

static void watch(void) {
    pool.has_watcher = 1;
    arm_timer();
    pthread_mutex_unlock(&pool.lock);
    struct pollfd waiting[] = {
        {.fd = pool.timer_fd, .events = POLLIN},
        {.fd = pool.event_fd, .events = POLLIN},
    };
    // Interrupted or not, the loop looks again.
    poll(waiting, 2, -1);
    pthread_mutex_lock(&pool.lock);
    pool.has_watcher = 0;
    uint64_t count;
    if (waiting[0].revents != 0 && read(pool.timer_fd, &count, sizeof count) > 0) {
        pool.armed_ns = INT64_MAX;
    }
    if (pool.is_watcher_called && read(pool.event_fd, &count, sizeof count) > 0) {
        pool.is_watcher_called = 0;
    }
}

static void *work(void *unused) {
    (void)unused;
    is_worker = 1;
    pthread_setname_np(pthread_self(), "expunged-work");
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        push_due_timers();
        if (pool.task_count > 0) {
            struct task task = pop_task();
            hand_over_watch();
            pthread_mutex_unlock(&pool.lock);
            if (task.job != NULL) swift_job_run(task.job, NULL, 0);
            else task.body(task.context);
            pthread_mutex_lock(&pool.lock);
        } else if (!pool.has_watcher) {
            watch();
        } else {
            pool.sleeper_count++;
            pthread_cond_wait(&pool.work, &pool.lock);
            pool.sleeper_count--;
        }
    }
    return NULL;
}

static SWIFT_CALL void enqueue(swift_job *job, enqueue_original original) {
    (void)original;
    pthread_mutex_lock(&pool.lock);
    push_task((struct task){.job = job});
    // The first job that a worker's own job adds is its next one; jobs are short and never block.
    const enum call who = !is_worker || pool.task_count > 1 ? choose_call() : NOBODY;
    pthread_mutex_unlock(&pool.lock);
    call(who);
}

static void enqueue_at(int64_t deadline_ns, struct task task) {
    pthread_mutex_lock(&pool.lock);
    push_timer(deadline_ns, task);
    // Busy threads look at the timers after every job.
    if (pool.has_watcher) arm_timer();
    else hand_over_watch();
    pthread_mutex_unlock(&pool.lock);
}

static int64_t deadline_after(unsigned long long delay_ns) {
    const int64_t now_ns = clock_ns(CLOCK_BOOTTIME);
    const int64_t most_ns = INT64_MAX - 1 - now_ns;
    return now_ns + (delay_ns > (unsigned long long)most_ns ? most_ns : (int64_t)delay_ns);
}

static int start_threads(int count) {
    sigset_t all, before;
    sigfillset(&all);
    // A fault of the thread itself must reach the crash marker, blocked or not.
    const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = 0;
    int failure = 0;
    for (; started < count && failure == 0; started++) {
        pthread_t thread;
        failure = pthread_create(&thread, NULL, work, NULL);
        if (failure == 0) pthread_detach(thread);
        else started--;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    // Fewer threads than asked for do the same work.
    return started > 0 ? 0 : -failure;
}

void cexecutor_call_after(int64_t delay_ns, void (*body)(void *context), void *context) {
    if (pool.timer_fd < 0) {
        void *queue = dispatch_get_global_queue(0, 0);
        dispatch_after_f(dispatch_time(0, delay_ns), queue, context, body);
        return;
    }
    const unsigned long long delay = delay_ns > 0 ? (unsigned long long)delay_ns : 0;
    enqueue_at(deadline_after(delay), (struct task){.body = body, .context = context});
}

int cexecutor_take_back(void *context) {
    pthread_mutex_lock(&pool.lock);
    size_t at = 0;
    while (at < pool.timer_count && pool.timers[at].task.context != context) at++;
    const int is_found = at < pool.timer_count;
    if (is_found) remove_timer(at);
    pthread_mutex_unlock(&pool.lock);
    return is_found;
}

// In the place of libdispatch's own (src/event/event_internal.h), which begin and feed its monitor.
void __wrap__dispatch_workq_worker_register(void *queue);
void __wrap__dispatch_workq_worker_register(void *queue) { (void)queue; }
void __wrap__dispatch_workq_worker_unregister(void *queue);
void __wrap__dispatch_workq_worker_unregister(void *queue) { (void)queue; }

int cexecutor_install(int thread_count) {
    if (&swift_task_enqueueGlobal_hook == NULL) return -ENOSYS;
    pool.timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    pool.event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int failure = pool.timer_fd < 0 || pool.event_fd < 0 ? -errno : start_threads(thread_count);
    if (failure != 0) {
        if (pool.timer_fd >= 0) close(pool.timer_fd);
        if (pool.event_fd >= 0) close(pool.event_fd);
        pool.timer_fd = pool.event_fd = -1;
        return failure;
    }
    swift_task_enqueueGlobal_hook = enqueue;
    return 0;
}
