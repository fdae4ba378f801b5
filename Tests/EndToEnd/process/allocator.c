// Uses Sources/CAllocator/CAllocator.c, which is linked in, as hard as it can. The first argument
// says how: "blocks" keeps blocks of all sizes and kinds, each full of a pattern of its own, and
// looks at every byte before it lets a block go; "wiped" reads freed memory; "threads" has threads
// end that never allocated; "metered" asks for more than a meter has.
#include "CLinux.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BLOCKS = 64, STEPS = 15000, ROUNDS = 200, SIDE_BY_SIDE = 16 };

struct block {
    unsigned char *bytes;
    size_t size;
    unsigned char pattern;
};

static void fail(const char *what) {
    puts(what);
    fflush(stdout);
    _Exit(1);
}

static size_t any_size(unsigned *seed) {
    // Small ones most of the time; sometimes above the size that is given back to the kernel.
    const int bits = (int)(rand_r(seed) % 23);
    return (size_t)rand_r(seed) % ((1u << bits) + 1);
}

static void look(const struct block *block, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (block->bytes[i] != block->pattern) fail("a block lost a byte");
    }
}

static void fill(struct block *block, unsigned *seed) {
    if (block->bytes == NULL) fail("no memory");
    // All of it may be used, also what was not asked for (malloc_usable_size(3)).
    block->size = malloc_usable_size(block->bytes);
    block->pattern = (unsigned char)(1 + rand_r(seed) % 255);
    memset(block->bytes, block->pattern, block->size);
}

static void take(struct block *block, unsigned *seed) {
    const size_t size = any_size(seed);
    const size_t alignment = (size_t)16 << rand_r(seed) % 10;
    void *aligned = NULL;
    switch (rand_r(seed) % 4) {
    case 0: block->bytes = malloc(size); break;
    case 1:
        block->bytes = calloc(1, size);
        for (size_t i = 0; block->bytes != NULL && i < size; i++) {
            if (block->bytes[i] != 0) fail("calloc gave a byte that is not zero");
        }
        break;
    case 2: block->bytes = aligned_alloc(alignment, size + 1); break;
    default: block->bytes = posix_memalign(&aligned, alignment, size) == 0 ? aligned : NULL;
    }
    fill(block, seed);
}

static void change(struct block *block, unsigned *seed) {
    const size_t size = any_size(seed) + 1;
    const size_t kept = size < block->size ? size : block->size;
    block->bytes = realloc(block->bytes, size);
    if (block->bytes == NULL) fail("no memory");
    look(block, kept);
    fill(block, seed);
}

static void *use_blocks(void *argument) {
    unsigned seed = (unsigned)(uintptr_t)argument;
    struct block blocks[BLOCKS] = {0};
    for (int step = 0; step < STEPS; step++) {
        struct block *block = &blocks[rand_r(&seed) % BLOCKS];
        if (block->bytes == NULL) {
            take(block, &seed);
            continue;
        }
        look(block, block->size);
        if (rand_r(&seed) % 2) {
            change(block, &seed);
        } else {
            free(block->bytes);
            block->bytes = NULL;
        }
    }
    for (int i = 0; i < BLOCKS; i++) free(blocks[i].bytes);
    return NULL;
}

static void blocks(void) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, use_blocks, (void *)(i + 1)) != 0) fail("no thread");
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void wiped(void) {
    for (size_t size = 64; size <= (size_t)1 << 21; size *= 2) {
        // Volatile and by its number: a compiler may take it that freed memory is not read.
        volatile unsigned char *freed = malloc(size);
        memset((void *)freed, 'S', size);
        const uintptr_t place = (uintptr_t)freed;
        free((void *)freed);
        // The first words may hold what jemalloc keeps there.
        for (size_t i = 16; i < size; i++) {
            if (((volatile unsigned char *)place)[i] == 'S') fail("freed memory is not wiped");
        }
    }
}

static void *take_large(void *unused) {
    (void)unused;
    void *block = malloc((size_t)8 << 20);
    if (block == NULL) fail("a thread without a meter was refused");
    free(block);
    return NULL;
}

static void metered(void) {
    const size_t mebibyte = (size_t)1 << 20;
    clinux_meter *meter = clinux_make_meter(4 << 20);
    clinux_meter_begin(meter);
    for (int round = 0; round < ROUNDS; round++) {
        void *blocks[] = {malloc(mebibyte), calloc(2, mebibyte / 2), realloc(NULL, mebibyte)};
        for (int i = 0; i < 3; i++) {
            if (blocks[i] == NULL) fail("there was room");
        }
        if (clinux_meter_is_full(meter)) fail("nothing was refused");
        for (int i = 0; i < 3; i++) free(blocks[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        void *volatile shrunk = realloc(malloc(2 * mebibyte), mebibyte);
        free(shrunk);
        if (clinux_meter_is_full(meter)) fail("what a block gives back makes no room");
    }
    void *kept = malloc(3 * mebibyte);
    errno = 0;
    void *volatile grown = realloc(kept, 5 * mebibyte);
    if (grown != NULL || errno != ENOMEM) fail("realloc gave more than the meter has");
    void *volatile second = malloc(2 * mebibyte);
    void *volatile third = calloc(SIZE_MAX / 2, 4);
    if (second != NULL || third != NULL) fail("malloc or calloc gave more than the meter has");
    if (!clinux_meter_is_full(meter)) fail("a refusal is not remembered");
    pthread_t other;
    clinux_meter_end();
    take_large(NULL);
    clinux_meter_begin(meter);
    if (pthread_create(&other, NULL, take_large, NULL) != 0) fail("no thread");
    pthread_join(other, NULL);
    free(kept);
    void *volatile last = malloc(3 * mebibyte);
    if (last == NULL) fail("what is freed makes no room");
    free(last);
    clinux_meter_end();
    free(meter);
}

static atomic_int alive;

static void *end_at_once(void *unused) {
    atomic_fetch_sub(&alive, 1);
    return unused;
}

static void *allocate(void *unused) {
    void *volatile memory = malloc(100);
    free(memory);
    atomic_fetch_sub(&alive, 1);
    return unused;
}

static void threads(void) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int round = 0; round < ROUNDS; round++) {
        // More than the C library keeps stacks of (40 MiB), so that ends free what others had.
        for (int i = 0; i < SIDE_BY_SIDE; i++) {
            pthread_t thread;
            atomic_fetch_add(&alive, 1);
            void *(*body)(void *) = i % 2 ? allocate : end_at_once;
            if (pthread_create(&thread, &detached, body, NULL) != 0) fail("no thread");
        }
        while (atomic_load(&alive) > 0) {}
    }
}

int main(int count, char **arguments) {
    const char *how = count == 2 ? arguments[1] : "";
    if (strcmp(how, "blocks") == 0) blocks();
    else if (strcmp(how, "wiped") == 0) wiped();
    else if (strcmp(how, "metered") == 0) metered();
    else if (strcmp(how, "threads") == 0) threads();
    else return 2;
    puts("done");
    return 0;
}
