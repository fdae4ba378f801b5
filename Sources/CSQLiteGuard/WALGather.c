#define _DEFAULT_SOURCE
#include "WALGather.h"

#include <stdlib.h>
#include <string.h>

enum {
    // sqlite.org/fileformat2.html, "The Write-Ahead Log".
    FRAME_HEADER_SIZE = 24,
    // The most that the VFS "unix" writes at once: it cuts a length to 17 bits (os_unix.c,
    // seekAndWriteFd).
    GATHER_SIZE = 0x1ffff,
};

// Bytes 4 to 7 of a frame's header are the size of the database after the commit, and zero in all
// frames but the last of a transaction.
static int is_last_frame(const unsigned char *header) {
    return (header[4] | header[5] | header[6] | header[7]) != 0;
}

static int is_next(const wal_gather *self, sqlite3_int64 offset) {
    return self->count == 0 || offset == self->offset + (sqlite3_int64)self->count;
}

int wal_gather_flush(wal_gather *self, sqlite3_file *inner) {
    int code = SQLITE_OK;
    if (self->count != 0) {
        code = inner->pMethods->xWrite(inner, self->bytes, (int)self->count, self->offset);
    }
    wal_gather_drop(self);
    return code;
}

void wal_gather_drop(wal_gather *self) {
    // Pages hold user ids, and a shorter transaction would not overwrite them.
    if (self->count != 0) explicit_bzero(self->bytes, self->count);
    self->count = 0;
    self->expects_page = 0;
    self->ends_transaction = 0;
}

void wal_gather_end(wal_gather *self) {
    wal_gather_drop(self);
    free(self->bytes);
    self->bytes = NULL;
}

static int gather(
    wal_gather *self, sqlite3_file *inner, const void *bytes, int count, sqlite3_int64 offset) {
    if (self->count + (size_t)count > GATHER_SIZE || !is_next(self, offset)) {
        int code = wal_gather_flush(self, inner);
        if (code != SQLITE_OK) return code;
    }
    if (self->count == 0) self->offset = offset;
    memcpy(self->bytes + self->count, bytes, (size_t)count);
    self->count += (size_t)count;
    return SQLITE_OK;
}

int wal_gather_write(
    wal_gather *self, sqlite3_file *inner, const void *bytes, int count, sqlite3_int64 offset) {
    if (self->bytes == NULL) self->bytes = malloc(GATHER_SIZE);
    int is_header = count == FRAME_HEADER_SIZE;
    int is_page = self->expects_page && count <= GATHER_SIZE && is_next(self, offset);
    if (self->bytes == NULL || !(is_header || is_page)) {
        // The header of the file, or a page for the second time in this transaction.
        int code = wal_gather_flush(self, inner);
        return code != SQLITE_OK ? code : inner->pMethods->xWrite(inner, bytes, count, offset);
    }
    int ends_transaction = is_page ? self->ends_transaction : is_last_frame(bytes);
    int code = gather(self, inner, bytes, count, offset);
    if (code != SQLITE_OK) return code;
    if (is_page && ends_transaction) return wal_gather_flush(self, inner);
    self->expects_page = is_header;
    self->ends_transaction = ends_transaction;
    return SQLITE_OK;
}
