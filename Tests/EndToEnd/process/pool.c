// The timers of CExecutor with real threads: each fires once and never early, or was taken back.
#include "CExecutor.c"

#include <semaphore.h>
#include <stdio.h>

#define COUNT 3000
static const int64_t ms = 1000000;

SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(swift_job *job, enqueue_original original);
SWIFT_CALL void swift_job_run(swift_job *job, void *identity, uintptr_t implementation) {
    (void)job, (void)identity, (void)implementation;
    abort();
}
uint64_t dispatch_time(uint64_t when, int64_t delta_ns) { (void)when, (void)delta_ns, abort(); }
void *dispatch_get_global_queue(intptr_t a, uintptr_t b) { (void)a, (void)b, abort(); }
void dispatch_after_f(uint64_t a, void *b, void *c, void (*d)(void *)) {
    (void)a, (void)b, (void)c, (void)d, abort();
}

static void fail(const char *text, size_t at) {
    printf("%s: %zu\n", text, at);
    exit(1);
}

static void nothing(void *context) { (void)context; }

// Before any thread runs: the heap against its own order, and a table of what is in it.
static void check_heap(void) {
    static char contexts[512], is_in[512];
    size_t count = 0;
    int64_t last_ns = INT64_MIN;
    srandom(1);
    for (int step = 0; step < 200000; step++) {
        const size_t at = (size_t)random() % sizeof contexts;
        switch (random() % 3) {
        case 0:
            if (is_in[at]) break;
            push_timer(random() % 1000, (struct task){.body = nothing, .context = &contexts[at]});
            is_in[at] = 1;
            count++;
            break;
        case 1:
            if (cexecutor_take_back(&contexts[at]) != is_in[at]) fail("taken back", at);
            count -= (size_t)is_in[at];
            is_in[at] = 0;
            break;
        default:
            if (count == 0) break;
            last_ns = pool.timers[0].deadline_ns;
            for (size_t i = 0; i < count; i++) {
                if (pool.timers[i].deadline_ns < last_ns) fail("not the earliest", i);
            }
            is_in[(char *)remove_timer(0).context - contexts] = 0;
            count--;
        }
        if (pool.timer_count != count) fail("count", pool.timer_count);
        for (size_t i = 1; i < count; i++) {
            if (is_earlier(i, (i - 1) / 2)) fail("order", i);
        }
    }
    while (pool.timer_count > 0) remove_timer(0);
}

static struct {
    int64_t due_ns;
    _Atomic int fired;
    int taken;
} timers[COUNT];
static sem_t over, last;

static void fire(void *context) {
    const size_t at = (size_t)((char *)context - (char *)timers) / sizeof *timers;
    if (clock_ns(CLOCK_BOOTTIME) < timers[at].due_ns) fail("early", at);
    timers[at].fired++;
    sem_post(&over);
}

static void check_threads(void) {
    size_t taken = 0;
    for (size_t at = 0; at < COUNT; at++) {
        const int64_t delay_ns = random() % (50 * ms);
        timers[at].due_ns = clock_ns(CLOCK_BOOTTIME) + delay_ns;
        cexecutor_call_after(delay_ns, fire, &timers[at]);
        const size_t victim = (size_t)random() % (at + 1);
        if (at % 3 == 0 && cexecutor_take_back(&timers[victim])) {
            timers[victim].taken = 1;
            taken++;
        }
    }
    for (size_t count = taken; count < COUNT; count++) sem_wait(&over);
    for (size_t at = 0; at < COUNT; at++) {
        if (timers[at].fired + timers[at].taken != 1) fail("not once", at);
    }
    if (taken == 0 || taken == COUNT) fail("taken", taken);
}

static void wait_for_last(void *context) {
    (void)context;
    sem_wait(&last);
    sem_post(&over);
}

static void be_last(void *context) {
    (void)context;
    sem_post(&last);
}

// A job that waits for a much later timer has left the timers to another thread.
static void check_watch(void) {
    cexecutor_call_after(5 * ms, wait_for_last, &over);
    cexecutor_call_after(1500 * ms, be_last, &last);
    sem_wait(&over);
}

int main(void) {
    sem_init(&over, 0, 0);
    sem_init(&last, 0, 0);
    check_heap();
    if (cexecutor_install(2) != 0) fail("install", 0);
    check_threads();
    check_watch();
    puts("done");
    return 0;
}
