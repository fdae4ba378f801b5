#define _GNU_SOURCE
#include "CAllocator.h"
#include "CLinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

// Read by jemalloc before main (jemalloc(3), "TUNING").
//
// Two arenas: few threads are busy at once, and each arena keeps free pages of its own. Free pages
// go back to the kernel after a second, by whoever allocates next: no thread wakes an idle process
// for it.
const char *malloc_conf = "narenas:2,dirty_decay_ms:1000,muzzy_decay_ms:0";

// What follows wipes memory before jemalloc gets it back. Tokens and user ids pass through the
// buffers of HTTP, TLS, JSON and SQLite, which do not wipe what they free. The linker lets the
// program's `free` and `realloc` stand in for those of every library (dlopen(3), "symbol scope").
// jemalloc's `junk:free` would forget the old block of a `realloc` that moves.
#ifdef __has_feature
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED 0
#endif
#if !IS_SANITIZED

// jemalloc(3), "NON-STANDARD API". Its header would declare the functions below once more.
extern void *mallocx(size_t size, int flags);
extern size_t sallocx(const void *pointer, int flags);
extern size_t nallocx(size_t size, int flags);
extern size_t xallocx(void *pointer, size_t size, size_t extra, int flags);
extern void sdallocx(void *pointer, size_t size, int flags);

// From here on the kernel takes the pages: most of a block this large may never have been touched.
static const size_t LARGE = 1 << 20;
static const uintptr_t PAGE = 4096;

// MALLOCX_ZERO.
enum { ZERO = 0x40 };

extern _Thread_local clinux_meter *clinux_current_meter;

static int is_metered(void) { return clinux_current_meter != NULL; }

static void *make(size_t size, int flags) {
    if (size == 0) size = 1;
    void *block = NULL;
    if (size <= PTRDIFF_MAX && (!is_metered() || clinux_meter_allows(size))) {
        block = mallocx(size, flags);
    }
    if (block == NULL) {
        errno = ENOMEM;
    } else if (is_metered()) {
        clinux_meter_add((int64_t)sallocx(block, 0));
    }
    return block;
}

// jemalloc's own, which is faster than mallocx; NULL in the first calls of the process.
static void *(*original)(size_t size);

__attribute__((constructor)) static void find_original(void) {
    void *const found = dlsym(RTLD_NEXT, "malloc");
    Dl_info its, own;
    // The C library's would hand out blocks that are not jemalloc's.
    if (dladdr(found, &its) && dladdr(dlsym(RTLD_DEFAULT, "mallocx"), &own)
        && its.dli_fbase == own.dli_fbase) {
        original = (void *(*)(size_t))found;
    }
}

__attribute__((visibility("default"))) void *malloc(size_t size) {
    return original == NULL || is_metered() ? make(size, 0) : original(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    return make(bytes, ZERO);
}

static void wipe(char *begin, size_t size) {
    if (size >= LARGE) {
        char *first = (char *)(((uintptr_t)begin + PAGE - 1) & ~(PAGE - 1));
        char *last = (char *)(((uintptr_t)begin + size) & ~(PAGE - 1));
        if (madvise(first, (size_t)(last - first), MADV_DONTNEED) == 0) {
            explicit_bzero(begin, (size_t)(first - begin));
            explicit_bzero(last, (size_t)(begin + size - last));
            return;
        }
    }
    explicit_bzero(begin, size);
}

__attribute__((visibility("default"))) void free(void *pointer) {
    if (pointer == NULL) return;
    const int error = errno;
    const size_t size = sallocx(pointer, 0);
    wipe(pointer, size);
    if (is_metered()) clinux_meter_add(-(int64_t)size);
    sdallocx(pointer, size, 0);
    errno = error;
}

static void *move(void *pointer, size_t count, size_t size) {
    void *moved = malloc(size);
    if (moved == NULL) return NULL;
    memcpy(moved, pointer, count);
    free(pointer);
    return moved;
}

__attribute__((visibility("default"))) void *realloc(void *pointer, size_t size) {
    if (pointer == NULL) return malloc(size);
    if (size == 0) size = 1;
    if (size > PTRDIFF_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    const size_t old = sallocx(pointer, 0);
    if (size > old) {
        if (is_metered()) return move(pointer, old, size);
        return xallocx(pointer, size, 0, 0) >= size ? pointer : move(pointer, old, size);
    }
    // Before jemalloc may get it.
    wipe((char *)pointer + size, old - size);
    const size_t wanted = nallocx(size, 0);
    if (wanted == old || xallocx(pointer, size, 0, 0) == wanted) {
        if (is_metered()) clinux_meter_add((int64_t)wanted - (int64_t)old);
        return pointer;
    }
    void *moved = move(pointer, size, size);
    return moved == NULL ? pointer : moved;
}

// MARK: Threads

// jemalloc's first call on a thread puts the thread's data, which lies beside its stack, on a list,
// and a destructor (pthread_key_create(3)) takes it off. Only jemalloc's own `free` makes an
// exception, because the C library frees at the very end of a thread, after all destructors: its
// buffers, and what belonged to stacks that it gives back. `sallocx` makes none. A thread that had
// never allocated would be put on the list there, and stay when its stack is another thread's. So
// every thread calls jemalloc when it begins.

typedef int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

struct start {
    void *(*body)(void *argument);
    void *argument;
};

static void *begin(void *argument) {
    const struct start start = *(struct start *)argument;
    // The thread's first call of jemalloc: from here on its destructor is due.
    free(argument);
    return start.body(start.argument);
}

// Stands in for the C library's function in every library, as `free` does.
__attribute__((visibility("default"))) int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
    void *(*body)(void *), void *restrict argument) {
    static _Atomic(create) original;
    create make = atomic_load(&original);
    if (make == NULL) {
        make = (create)dlsym(RTLD_NEXT, "pthread_create");
        if (make == NULL) return EAGAIN;
        atomic_store(&original, make);
    }
    struct start *start = malloc(sizeof *start);
    if (start == NULL) return EAGAIN;
    *start = (struct start){body, argument};
    const int failure = make(thread, attributes, begin, start);
    if (failure != 0) free(start);
    return failure;
}

// C++ hands its memory to jemalloc by these names (operator delete, Itanium C++ ABI §5.1.5).
#define DELETE(name, ...)                                               \
    __attribute__((visibility("default"))) void name(__VA_ARGS__);       \
    void name(__VA_ARGS__) { free(pointer); }
DELETE(_ZdlPv, void *pointer)
DELETE(_ZdaPv, void *pointer)
#define SIZE __attribute__((unused)) size_t size
#define ALIGNMENT __attribute__((unused)) size_t alignment
DELETE(_ZdlPvm, void *pointer, SIZE)
DELETE(_ZdaPvm, void *pointer, SIZE)
DELETE(_ZdlPvSt11align_val_t, void *pointer, ALIGNMENT)
DELETE(_ZdaPvSt11align_val_t, void *pointer, ALIGNMENT)
DELETE(_ZdlPvmSt11align_val_t, void *pointer, SIZE, ALIGNMENT)
DELETE(_ZdaPvmSt11align_val_t, void *pointer, SIZE, ALIGNMENT)

#endif
