// Connection helpers; the VFS is in GuardVFS.c.
#define _GNU_SOURCE
#include "CSQLiteGuard.h"
#include "FaultGuard.h"

#include <sqlite3.h>
#include <stddef.h>
#include <time.h>

// Of the thread that steps the statement, which also runs the progress handler.
static _Thread_local int64_t deadline_ms;
static _Thread_local int64_t heap_bytes;

// SQLite's own allocator.
static sqlite3_mem_methods heap;

static int is_heap_full(int64_t more) {
    return deadline_ms != 0 && heap_bytes + more > CSQLITEGUARD_HEAP_MAX;
}

static void *bounded_malloc(int size) {
    void *block = is_heap_full(size) ? NULL : heap.xMalloc(size);
    if (block != NULL && deadline_ms != 0) heap_bytes += heap.xSize(block);
    return block;
}

static void bounded_free(void *block) {
    if (deadline_ms != 0) heap_bytes -= heap.xSize(block);
    heap.xFree(block);
}

static void *bounded_realloc(void *block, int size) {
    const int before = heap.xSize(block);
    if (size > before && is_heap_full(size - before)) return NULL;
    void *moved = heap.xRealloc(block, size);
    if (moved != NULL && deadline_ms != 0) heap_bytes += heap.xSize(moved) - before;
    return moved;
}

// sqlite3_hard_heap_limit64() would bound the state's own connections, too.
static void bound_heap(void) {
    // A second time SQLite would name the functions above as its own.
    if (heap.xMalloc != NULL) return;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &heap) != SQLITE_OK) return;
    sqlite3_mem_methods bounded = heap;
    bounded.xMalloc = bounded_malloc;
    bounded.xFree = bounded_free;
    bounded.xRealloc = bounded_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &bounded);
}

void csqliteguard_configure_process(void) {
    // SQLITE_MISUSE once SQLite is in use: then all is as before, and as right.
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    // Each page of a cache is a block of its own, which the allocator wipes when it is freed. Pages
    // of the array that SQLite makes for a new cache would be kept as they are (pcache1.c).
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    bound_heap();
}

void csqliteguard_forget_pages(sqlite3 *db) { sqlite3_db_release_memory(db); }

int csqliteguard_harden(sqlite3 *db, int allow_triggers, int allow_views) {
    const struct {
        int option;
        int value;
    } switches[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, allow_triggers != 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, allow_views != 0},
    };
    for (size_t index = 0; index < sizeof switches / sizeof switches[0]; index++) {
        int now = -1;
        int code = sqlite3_db_config(db, switches[index].option, switches[index].value, &now);
        if (code != SQLITE_OK) return code;
        if (now != switches[index].value) return SQLITE_ERROR;
    }
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 16);
    sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    return SQLITE_OK;
}

int csqliteguard_survive_faults(void) { return fault_guard_install(); }

int csqliteguard_never_share(sqlite3 *db) {
    return sqlite3_file_control(db, "main", GUARD_FCNTL_NEVER_SHARE, NULL);
}

int csqliteguard_wipe_unused(sqlite3 *db) {
    return sqlite3_file_control(db, "main", GUARD_FCNTL_WIPE_UNUSED, NULL);
}

int csqliteguard_no_checkpoint_on_close(sqlite3 *db) {
    int now = -1;
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &now);
}

static int64_t monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int csqliteguard_is_past_deadline(void) {
    return deadline_ms != 0 && monotonic_ms() > deadline_ms;
}

static int is_past_deadline(void *unused) {
    (void)unused;
    return csqliteguard_is_past_deadline();
}

void csqliteguard_deadline_begin(sqlite3 *db, int64_t milliseconds) {
    deadline_ms = monotonic_ms() + milliseconds;
    heap_bytes = 0;
    // 10,000 instructions take well under a millisecond.
    sqlite3_progress_handler(db, 10000, is_past_deadline, NULL);
}

void csqliteguard_deadline_end(sqlite3 *db) {
    deadline_ms = 0;
    sqlite3_progress_handler(db, 0, NULL, NULL);
}

int csqliteguard_has_moved(sqlite3 *db) {
    int moved = 0;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return code == SQLITE_OK ? moved != 0 : -1;
}
