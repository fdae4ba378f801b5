#define _DEFAULT_SOURCE
#include "PageGap.h"

#include <stdlib.h>
#include <string.h>

// The header of the file and of a page (sqlite.org/fileformat2.html, §1.3 and §1.6).
enum {
    FILE_HEADER_SIZE = 100,
    PAGE_SIZE_AT = 16,
    RESERVED_AT = 20,
    PAGE_COUNT_AT = 28,
    AUTO_VACUUM_AT = 52,
    FREE_BLOCK_AT = 1,
    CELL_COUNT_AT = 3,
    CONTENT_AT = 5,
    LEAF_HEADER_SIZE = 8,
    INTERIOR_HEADER_SIZE = 12,
};

static int two_bytes(const unsigned char *bytes) { return bytes[0] << 8 | bytes[1]; }

// A number of a page or a file that cannot be 0.
static int size_of(const unsigned char *bytes) {
    int size = two_bytes(bytes);
    return size == 0 ? 65536 : size;
}

// The length of the header of a b-tree page; 0 for all that is none.
static int header_size(int type) {
    switch (type) {
    case 2: case 5: return INTERIOR_HEADER_SIZE;
    case 10: case 13: return LEAF_HEADER_SIZE;
    default: return 0;
    }
}

// Whether the first byte of a page says what it is. An overflow or freelist page begins with a page
// number, whose first byte is 0 up to 64 GiB; a page of the pointer map is only with auto_vacuum.
static int tells_pages_apart(const unsigned char *file, int page_size) {
    static const unsigned char none[4];
    int size = two_bytes(file + PAGE_SIZE_AT);
    return (size == 1 ? 65536 : size) == page_size && file[RESERVED_AT] == 0
        && file[PAGE_COUNT_AT] == 0 && memcmp(file + AUTO_VACUUM_AT, none, sizeof none) == 0;
}

// Finds the unused space of a page: 0 when there is none, or the page is not as SQLite makes it.
static int gap_of(const unsigned char *page, int size, int header_at, int *begin) {
    int header = header_size(page[header_at]);
    if (header == 0) return 0;
    int content = size_of(page + header_at + CONTENT_AT);
    int free_block = two_bytes(page + header_at + FREE_BLOCK_AT);
    *begin = header_at + header + 2 * two_bytes(page + header_at + CELL_COUNT_AT);
    if (content > size || *begin >= content) return 0;
    return free_block != 0 && free_block < content ? 0 : content - *begin;
}

int page_gap_write(
    page_gap *self, sqlite3_file *inner, const void *bytes, int count, sqlite3_int64 offset) {
    const sqlite3_io_methods *methods = inner->pMethods;
    int header_at = offset == 0 ? FILE_HEADER_SIZE : 0;
    int begin = 0;
    int gap = count < 512 || offset % count != 0 ? 0 : gap_of(bytes, count, header_at, &begin);
    if (gap == 0) return methods->xWrite(inner, bytes, count, offset);
    unsigned char file[FILE_HEADER_SIZE];
    int code = methods->xRead(inner, file, sizeof file, 0);
    // A file that is just being made has no header yet, and nothing was moved in it.
    if (code == SQLITE_IOERR_SHORT_READ) return methods->xWrite(inner, bytes, count, offset);
    if (code != SQLITE_OK) return code;
    if (!tells_pages_apart(file, count)) return methods->xWrite(inner, bytes, count, offset);
    if (self->size < count) {
        page_gap_end(self);
        self->copy = malloc((size_t)count);
        if (self->copy == NULL) return SQLITE_IOERR_NOMEM;
        self->size = count;
    }
    memcpy(self->copy, bytes, (size_t)count);
    memset(self->copy + begin, 0, (size_t)gap);
    code = methods->xWrite(inner, self->copy, count, offset);
    explicit_bzero(self->copy, (size_t)count);
    return code;
}

void page_gap_end(page_gap *self) {
    free(self->copy);
    self->copy = NULL;
    self->size = 0;
}
