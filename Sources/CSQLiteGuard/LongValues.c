// What is asked of stored values that are too long to be read: SQLite before 3.43 has to read a
// text to count its bytes, while a handle for incremental access only finds the row.
#include "CSQLiteGuard.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

// Bytes that are searched at once, and the longest text that is searched for.
enum { PIECE_BYTES = 1 << 16, NEEDLE_BYTES_MAX = 4096 };

static void close_handle(void *handle) { sqlite3_blob_close(handle); }

// The handle of a call, which goes from row to row in a statement. NULL after an error, and with
// the result `unknown` where the row has no such value, but that of a column's DEFAULT.
static sqlite3_blob *handle_at_row(sqlite3_context *context, sqlite3_value **values, int unknown) {
    sqlite3_blob *handle = sqlite3_get_auxdata(context, 0);
    const sqlite3_int64 row = sqlite3_value_int64(values[2]);
    if (handle != NULL && sqlite3_blob_reopen(handle, row) == SQLITE_OK) return handle;
    const char *table = (const char *)sqlite3_value_text(values[0]);
    const char *column = (const char *)sqlite3_value_text(values[1]);
    sqlite3 *db = sqlite3_context_db_handle(context);
    const int code = sqlite3_blob_open(db, "main", table, column, row, 0, &handle);
    if (code != SQLITE_OK) {
        sqlite3_result_int(context, unknown);
        if (code != SQLITE_ERROR) sqlite3_result_error_code(context, code);
        return NULL;
    }
    sqlite3_set_auxdata(context, 0, handle, close_handle);
    // Without memory the handle is closed by now.
    if (sqlite3_get_auxdata(context, 0) == handle) return handle;
    sqlite3_result_error_nomem(context);
    return NULL;
}

static void value_bytes(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_blob *handle = handle_at_row(context, values, 0);
    if (handle != NULL) sqlite3_result_int(context, sqlite3_blob_bytes(handle));
}

// In lower case and without blanks; the number of bytes that are left.
static int fold(unsigned char *bytes, int size) {
    int kept = 0;
    for (int index = 0; index < size; index++) {
        const unsigned char byte = bytes[index];
        if (byte != ' ') bytes[kept++] = byte >= 'A' && byte <= 'Z' ? byte + 32 : byte;
    }
    return kept;
}

// JSON has other ways to write a number.
static int is_number(const unsigned char *needle, int size) {
    while (size > 0 && (needle[size - 1] == '-' || isdigit(needle[size - 1]))) size--;
    return size == 0;
}

static int is_utf8(sqlite3 *db) {
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &statement, NULL);
    const int is_row = sqlite3_step(statement) == SQLITE_ROW;
    const char *name = is_row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    const int is_utf8 = name != NULL && strcmp(name, "UTF-8") == 0;
    sqlite3_finalize(statement);
    return is_utf8;
}

// 1, 0, or a negative number after an error.
static int holds(sqlite3_blob *handle, const unsigned char *needle, int size, int is_json) {
    unsigned char bytes[NEEDLE_BYTES_MAX + PIECE_BYTES];
    const int total = sqlite3_blob_bytes(handle);
    int kept = 0;
    for (int place = 0; place < total; place += PIECE_BYTES) {
        const int more = total - place < PIECE_BYTES ? total - place : PIECE_BYTES;
        if (sqlite3_blob_read(handle, bytes + kept, more, place) != SQLITE_OK) return -1;
        if (is_json && memchr(bytes + kept, '\\', (size_t)more) != NULL) return 1;
        const int end = kept + fold(bytes + kept, more);
        for (int start = 0; start + size <= end; start++) {
            if (memcmp(bytes + start, needle, (size_t)size) == 0) return 1;
        }
        kept = end < size ? end : size - 1;
        memmove(bytes, bytes + end - kept, (size_t)kept);
    }
    return 0;
}

static void value_holds(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    unsigned char needle[NEEDLE_BYTES_MAX];
    const void *text = sqlite3_value_text(values[3]);
    int size = sqlite3_value_bytes(values[3]);
    const int is_json = sqlite3_value_int(values[4]);
    if (text == NULL) return;
    if (size <= NEEDLE_BYTES_MAX) size = fold(memcpy(needle, text, (size_t)size), size);
    if (size == 0 || size > NEEDLE_BYTES_MAX || (is_json && is_number(needle, size))
        || !is_utf8(sqlite3_context_db_handle(context))) {
        sqlite3_result_int(context, 1);
        return;
    }
    sqlite3_blob *handle = handle_at_row(context, values, 1);
    if (handle == NULL) return;
    const int found = holds(handle, needle, size, is_json);
    sqlite3_result_int(context, found);
    if (found < 0) sqlite3_result_error_code(context, SQLITE_IOERR);
}

int csqliteguard_add_long_values(sqlite3 *db, const char *bytes, const char *holds) {
    const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    int code = sqlite3_create_function_v2(db, bytes, 3, flags, NULL, value_bytes, NULL, NULL, NULL);
    if (code != SQLITE_OK) return code;
    return sqlite3_create_function_v2(db, holds, 5, flags, NULL, value_holds, NULL, NULL, NULL);
}
