// Gathers the frames that a transaction writes to the WAL into few writes.
//
// SQLite writes each frame with two calls, 24 bytes and a page (wal.c, walWriteOneFrame), and the
// file system takes longer over each than the page itself needs: a batch of a hundred requests is
// several hundred calls. Here the frames wait in a buffer and go out together.
//
// Nothing is seen or lost differently. The buffer goes out with the frame that ends the
// transaction, before SQLite syncs the file or shows the frames to anybody (walformat.html, "WAL
// Commit"), so an error is still that of a write; and before whatever reads the file, asks its
// size or cuts it. Only who holds the lock on writing gathers, and what a transaction that was
// rolled back left is dropped before that lock is given back: it must not land on the frames of the
// next writer.
#pragma once

#include <sqlite3.h>
#include <stddef.h>

typedef struct wal_gather {
    char *bytes;
    size_t count;
    // Where the first of the bytes belongs in the file.
    sqlite3_int64 offset;
    // The last thing gathered was a frame's header.
    int expects_page;
    // That frame ends its transaction.
    int ends_transaction;
} wal_gather;

// Takes a write to the file `inner`. Returns SQLITE_OK, or the code of the write that failed; what
// was gathered is gone then, as is the transaction.
int wal_gather_write(
    wal_gather *self, sqlite3_file *inner, const void *bytes, int count, sqlite3_int64 offset);

// Writes what was gathered. Returns SQLITE_OK or the code of the write; nothing is left either way.
int wal_gather_flush(wal_gather *self, sqlite3_file *inner);

// Forgets what was gathered.
void wal_gather_drop(wal_gather *self);

// Forgets it and frees the buffer.
void wal_gather_end(wal_gather *self);
