// What SQL asks of texts. SQLite before 3.43 has to read one to count its bytes, while a handle for
// incremental access only finds the row: it serves where a value is too long to be read.
#define _GNU_SOURCE
#include "CSQLiteGuard.h"
#include "JSONReader.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

enum {
    // Bytes that are read at once, and what they may be in UTF-8.
    PIECE_BYTES = 1 << 14,
    TEXT_BYTES = PIECE_BYTES / 2 * 3 + 4,
    // The longest text that is searched for.
    WANTED_BYTES = 4096,
    // Bits of the last argument of `holds`.
    IS_JSON = 1,
    IS_BLOB = 2,
};

// A value that is read as a text, piece by piece.
typedef struct {
    sqlite3_blob *handle;
    int encoding;
    int place;
    // The first half of a character in UTF-16.
    unsigned high;
    // The last piece, behind an escape that goes on there.
    int count;
    unsigned char bytes[JSON_ESCAPE_BYTES + TEXT_BYTES];
} text_source;

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

static int is_at_end(const text_source *self) {
    return self->place == sqlite3_blob_bytes(self->handle);
}

static void add_units(text_source *self, const unsigned char *bytes, int size) {
    const int low = self->encoding == SQLITE_UTF16LE ? 0 : 1;
    for (int index = 0; index + 1 < size; index += 2) {
        unsigned code = bytes[index + low] | (unsigned)bytes[index + 1 - low] << 8;
        if (code >= 0xd800 && code < 0xdc00) {
            self->high = code;
            continue;
        }
        if (self->high != 0 && code >= 0xdc00 && code < 0xe000) code = json_pair(self->high, code);
        self->high = 0;
        self->count += json_utf8(code, self->bytes + self->count);
    }
}

// Reads the next piece behind the last `kept` bytes; a result code of SQLite.
static int read_piece(text_source *self, int kept) {
    // SQLite itself looks between its own instructions only.
    if (csqliteguard_is_past_deadline()) return SQLITE_INTERRUPT;
    memmove(self->bytes, self->bytes + self->count - kept, (size_t)kept);
    self->count = kept;
    const int left = sqlite3_blob_bytes(self->handle) - self->place;
    const int size = left < PIECE_BYTES ? left : PIECE_BYTES;
    unsigned char piece[PIECE_BYTES];
    const int code = sqlite3_blob_read(self->handle, piece, size, self->place);
    if (code != SQLITE_OK) return code;
    self->place += size;
    if (self->encoding != SQLITE_UTF8) {
        add_units(self, piece, size);
    } else {
        memcpy(self->bytes + self->count, piece, (size_t)size);
        self->count += size;
    }
    return SQLITE_OK;
}

static void begin(text_source *self) {
    self->place = self->count = 0;
    self->high = 0;
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

// Whether the text stands anywhere: as it is, or where `unescapes` with escapes of JSON.
static int find_text(
    text_source *self, const unsigned char *wanted, int size, int unescapes, int *is_found) {
    unsigned char text[WANTED_BYTES + JSON_ESCAPE_BYTES + TEXT_BYTES];
    int end = 0, rest = 0;
    begin(self);
    while (!*is_found && !is_at_end(self)) {
        const int code = read_piece(self, rest);
        if (code != SQLITE_OK) return code;
        rest = unescapes ? self->count : 0;
        int more = self->count;
        if (unescapes) {
            more = json_unescape(self->bytes, &rest, is_at_end(self), text + end);
        } else {
            memcpy(text + end, self->bytes, (size_t)more);
        }
        end += fold(text + end, more);
        *is_found = memmem(text, (size_t)end, wanted, (size_t)size) != NULL;
        const int kept = end < size ? end : size - 1;
        memmove(text, text + end - kept, (size_t)kept);
        end = kept;
    }
    return SQLITE_OK;
}

// Whether the text is a value in JSON, and whether that is JSON.
static int find_json(
    text_source *self, const unsigned char *wanted, int size, int *is_found, int *is_valid) {
    json_reader reader;
    json_begin(&reader, wanted, size);
    int rest = 0;
    begin(self);
    while (!reader.is_found && !reader.is_broken && !is_at_end(self)) {
        const int code = read_piece(self, rest);
        if (code != SQLITE_OK) return code;
        rest = self->count - json_read(&reader, self->bytes, self->count, is_at_end(self));
    }
    *is_valid = json_end(&reader);
    *is_found = reader.is_found;
    return SQLITE_OK;
}

// Sets whether the value may hold the text, which SQL finds anywhere in what is no JSON; a result
// code of SQLite.
static int find(
    text_source *self, const unsigned char *wanted, int size, int is_json, int *is_found) {
    if (is_json) {
        int is_valid = 0;
        const int code = find_json(self, wanted, size, is_found, &is_valid);
        if (code != SQLITE_OK || is_valid || *is_found) return code;
    }
    unsigned char folded[WANTED_BYTES];
    size = fold(memcpy(folded, wanted, (size_t)size), size);
    // Blanks alone stand everywhere.
    if (size == 0) *is_found = 1;
    const int code = find_text(self, folded, size, 0, is_found);
    if (code != SQLITE_OK || !is_json) return code;
    return find_text(self, folded, size, 1, is_found);
}

static void value_holds(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const unsigned char *wanted = sqlite3_value_text(values[3]);
    const int size = sqlite3_value_bytes(values[3]);
    if (wanted == NULL) return;
    text_source source = {.encoding = *(const int *)sqlite3_user_data(context)};
    int is_found = size > WANTED_BYTES;
    if (!is_found && size != 0) {
        source.handle = handle_at_row(context, values, 1);
        if (source.handle == NULL) return;
        const int form = sqlite3_value_int(values[4]);
        int code = find(&source, wanted, size, form & IS_JSON, &is_found);
        if (code == SQLITE_OK && !is_found && source.encoding != SQLITE_UTF8 && form & IS_BLOB) {
            // SQLite casts bytes to a text in its own encoding; the service reads UTF-8.
            source.encoding = SQLITE_UTF8;
            code = find(&source, wanted, size, form & IS_JSON, &is_found);
        }
        if (code != SQLITE_OK) {
            sqlite3_result_error_code(context, code);
            return;
        }
    }
    sqlite3_result_int(context, is_found);
}

static void text_unescaped(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_TEXT) return;
    const unsigned char *bytes = sqlite3_value_text(values[0]);
    int size = sqlite3_value_bytes(values[0]);
    unsigned char *text = bytes == NULL ? NULL : sqlite3_malloc(size + 1);
    if (text == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const int left = json_unescape(bytes, &size, 1, text);
    sqlite3_result_text(context, (char *)text, left, sqlite3_free);
}

int csqliteguard_add_functions(
    sqlite3 *db, const char *bytes, const char *holds, const char *unescaped) {
    // SQLite calls the one for the encoding of the database
    // (sqlite.org/c3ref/create_function.html).
    static const int encodings[] = {SQLITE_UTF8, SQLITE_UTF16LE, SQLITE_UTF16BE};
    const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    int code = sqlite3_create_function_v2(db, bytes, 3, flags, NULL, value_bytes, NULL, NULL, NULL);
    for (int index = 0; code == SQLITE_OK && index < 3; index++) {
        const int encoding = encodings[index] | SQLITE_DIRECTONLY;
        code = sqlite3_create_function_v2(
            db, holds, 5, encoding, (void *)&encodings[index], value_holds, NULL, NULL, NULL);
    }
    if (code != SQLITE_OK) return code;
    return sqlite3_create_function_v2(
        db, unescaped, 1, flags | SQLITE_DETERMINISTIC, NULL, text_unescaped, NULL, NULL, NULL);
}
