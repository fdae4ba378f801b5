// The databases of the process by their paths, and what was refused on their behalf.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct guard_file;

// The opcodes of xFileControl for csqliteguard_never_share() and csqliteguard_wipe_unused().
// SQLite's own are below 100.
enum { GUARD_FCNTL_NEVER_SHARE = 0x45585031, GUARD_FCNTL_WIPE_UNUSED = 0x45585032 };

// One database path. Never freed, so pointers stay valid and counts outlive the connection; a
// process opens a handful of paths in its life.
typedef struct database {
    struct database *next;
    unsigned open_count;
    uint64_t refusals;
    int last_refusal;
    int never_create;
    // csqliteguard_limit_wal(); 0 for no limit.
    _Atomic(int64_t) wal_limit;
    // The open database that holds the lock on writing the WAL, if this process does.
    _Atomic(struct guard_file *) writer;
    // Its WAL while frames wait there; the writer's alone.
    struct guard_file *gathering;
    // Connections that have its WAL index mapped; under the lock of GuardVFS.c.
    unsigned index_users;
    // Whether a page of that index was missing; FaultGuard.c.
    _Atomic(int) index_state;
    char path[];
} database;

// Every function is thread-safe.

// Answers the entry of an open database, one connection more; NULL without memory.
database *registry_retain(const char *path);

// One connection less.
void registry_release(database *entry);

// Answers the entry of a path, opened or not; NULL without memory.
database *registry_entry(const char *path);

// Whether a database of exactly this path is open.
int registry_is_open(const char *path);

// The open database that `path` belongs to by appending `suffix`, or NULL.
database *registry_owner(const char *path, const char *suffix);

// Counts a refusal (CSQLITEGUARD_...), for a database if there is one.
void registry_refuse(database *entry, int kind);
