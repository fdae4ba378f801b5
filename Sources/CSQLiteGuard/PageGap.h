// The unused space of the pages of a database.
//
// SQLite moves rows to other pages as they grow, and `secure_delete` does not overwrite where they
// stood: the space between the cell pointers and the cells keeps copies (btree.c, rebuildPage). A
// row that is deleted later is overwritten where it stands, and the copy stays. So this space is
// written as zeros whenever a page goes to the database file. SQLite never reads it.
#pragma once

#include <sqlite3.h>

// Pages to write, each without what its unused space holds.
typedef struct page_gap {
    char *copy;
    int size;
} page_gap;

// Writes a page to the database file `inner`. Whatever is no page of a table or an index is written
// as it is, and so is all of a file with reserved bytes or auto_vacuum. Returns SQLITE_OK or the
// code of the call that failed.
int page_gap_write(
    page_gap *self, sqlite3_file *inner, const void *bytes, int count, sqlite3_int64 offset);

// Frees the buffer.
void page_gap_end(page_gap *self);
