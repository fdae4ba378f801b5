// Moves CLOCK_REALTIME of a process: loaded with LD_PRELOAD, it adds the milliseconds that the
// file named by CLOCK_OFFSET holds. Other clocks stay, as when somebody sets the machine's clock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// Read once: getenv(3) beside setenv(3) of another thread reads freed memory.
static const char *path;

__attribute__((constructor)) static void begin(void) { path = getenv("CLOCK_OFFSET"); }

static long long offset(void) {
    char text[32] = "";
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    return count > 0 ? strtoll(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int answer = (int)syscall(SYS_clock_gettime, clock, time);
    if (answer != 0 || clock != CLOCK_REALTIME) return answer;
    long long sum = time->tv_sec * 1000LL + time->tv_nsec / 1000000 + offset();
    time->tv_nsec = sum % 1000 * 1000000 + time->tv_nsec % 1000000;
    time->tv_sec = sum / 1000;
    return answer;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL) *result = now.tv_sec;
    return now.tv_sec;
}
