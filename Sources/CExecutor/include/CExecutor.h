// The threads that run Swift tasks: a fixed, small pool in the place of libdispatch's.
//
// libdispatch keeps a timer that looks at its pool of workers once a second for as long as the
// process lives (event/workqueue.c, "monitor"), and a second thread for timers. Here an idle pool
// sleeps until there is work or the next deadline. A deadline wakes one thread, and one more where
// another timer is left to be watched. The little that still runs in libdispatch (queues of
// databases, signals) has no such timer either: `expunged` is linked with --wrap, so that no worker
// registers with the monitor.
// The monitor also traps when it cannot open /proc/TID/stat, such as with EMFILE. Builds that link
// libdispatch.so keep it.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Takes over the global executor (a hook of Swift's Concurrency runtime,
// stdlib/public/Concurrency/GlobalExecutor.cpp) and starts `thread_count` threads. Call it once,
// before the first task that is not the main one. Priorities are not looked at: jobs run in the
// order in which they came.
//
// Returns 0, or a negative errno with everything as it was before; -ENOSYS when the runtime that
// the program is linked with lacks the hook.
int cexecutor_install(int thread_count);

// Calls `body` on one of the threads, once, not before the delay is over (CLOCK_BOOTTIME).
// Without cexecutor_install() libdispatch calls it, by CLOCK_MONOTONIC.
void cexecutor_call_after(int64_t delay_ns, void (*body)(void *context), void *context);

// Whether a call with this context was waiting for its time; it will not be made then. Libdispatch
// takes none back.
int cexecutor_take_back(void *context);

#ifdef __cplusplus
}
#endif
