// Survives a WAL index that another program has cut short.
//
// The index is a file (`-shm`) that every process maps (sqlite.org/walformat.html, "The WAL-Index
// File"). Whoever may write it may also truncate it, and `cp` over it does so for a moment. A touch
// of a page that the file does not have any more is a SIGBUS, which by default ends the process.
//
// Here it ends the database instead: the handler puts an empty page in the place of the missing
// one, and from then on every access to that database fails, until its last connection is closed.
// Nothing that SQLite computes from the empty page reaches a file: whatever it reads, writes or
// locks next is refused. Frames that it had written before, and that still wait in memory
// (WALGather.h), go to the WAL: they are right, and without them a commit could be torn.
#pragma once

#include "PathRegistry.h"

#include <stddef.h>

// Makes this module's handler the one for SIGBUS, in front of the present one, which gets all
// signals that are about something else. Idempotent; once more after somebody installs another
// handler. Returns 0, or -1 with errno.
int fault_guard_install(void);

// Begins to watch a piece of the index of `owner`; a piece that is watched already counts once.
// Returns 0, or -1 without room for it: it must not be touched then.
int fault_guard_add(database *owner, void volatile *start, size_t size);

// Ends that for all pieces of `owner`; before they are unmapped.
void fault_guard_remove(database *owner);

// Whether a page of the index was missing; counts the refusal, the first time.
int fault_guard_is_lost(database *owner);
