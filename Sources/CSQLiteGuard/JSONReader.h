// Looks for a value in JSON (RFC 8259) that comes in pieces, and for what its escapes stand for.
#pragma once

enum {
    // Deeper nesting is no JSON for SQLite: since 3.42, and before it.
    JSON_DEPTH_SURE = 1000,
    JSON_DEPTH_MAX = 2000,
    // `\ud83d\ude00`
    JSON_ESCAPE_BYTES = 12,
};

typedef struct {
    const unsigned char *wanted;
    int size;
    // `wanted` is the text of an integer.
    int is_number;
    long double number;

    int state;
    int depth;
    unsigned char is_object[JSON_DEPTH_MAX];
    // Bytes of `wanted` that the token begins with; negative once it differs.
    int matched;
    // What a word such as `true` goes on with.
    const char *word;
    // Of a number: its digits, its sign, and powers of ten.
    long double digits;
    int is_negative, power, exponent, is_exponent_negative;

    int is_found, is_broken, is_doubtful;
} json_reader;

// Begins to look for a text or an integer, in any case of ASCII letters, that is a value.
void json_begin(json_reader *self, const unsigned char *wanted, int size);

// Reads the next bytes; how many of them, but for an escape at the end that goes on.
int json_read(json_reader *self, const unsigned char *bytes, int count, int is_last);

// Ends the text; 1 when every SQLite takes it for JSON.
int json_end(json_reader *self);

// Copies a text of `*rest` bytes without its escapes, but for what may be part of one at its end;
// `*rest` is then the bytes of that. Returns the bytes in `text`, which has room for `*rest`.
int json_unescape(const unsigned char *bytes, int *rest, int is_last, unsigned char *text);

// The character of two halves in UTF-16.
unsigned json_pair(unsigned high, unsigned low);

// Writes a character, also half of one, in UTF-8; up to four bytes.
int json_utf8(unsigned code, unsigned char *bytes);
