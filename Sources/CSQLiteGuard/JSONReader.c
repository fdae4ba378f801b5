#include "JSONReader.h"

#include <ctype.h>
#include <string.h>

enum {
    // What must come next.
    VALUE,
    VALUE_OR_END,
    NAME,
    NAME_OR_END,
    COLON,
    COMMA_OR_END,
    // What is being read.
    IN_NAME,
    IN_TEXT,
    IN_WORD,
    // Numbers: behind the sign, the first zero, digits, the point, digits of the fraction, `e`, its
    // sign, and its digits.
    SIGN,
    ZERO,
    DIGITS,
    POINT,
    FRACTION,
    POWER,
    POWER_SIGN,
    POWER_DIGITS,
};

// Numbers up to here are integers of 64 bits, and exact.
static const long double exact_max = 9.2e18L;

unsigned json_pair(unsigned high, unsigned low) {
    return 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
}

int json_utf8(unsigned code, unsigned char *bytes) {
    const int count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char starts[] = {0, 0xc0, 0xe0, 0xf0};
    for (int index = count - 1; index > 0; index--) {
        bytes[index] = (unsigned char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    bytes[0] = (unsigned char)(starts[count - 1] | code);
    return count;
}

// The code behind `\u`, or -1.
static int unit(const unsigned char *bytes, int count) {
    if (count < 6 || bytes[0] != '\\' || bytes[1] != 'u') return -1;
    int code = 0;
    for (int index = 2; index < 6; index++) {
        const int byte = bytes[index];
        if (!isxdigit(byte)) return -1;
        code = code * 16 + (isdigit(byte) ? byte - '0' : (byte | 32) - 'a' + 10);
    }
    return code;
}

// The bytes of an escape, and its character; 0 where it is none.
static int read_escape(const unsigned char *bytes, int count, unsigned *code) {
    static const char names[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
    if (count < 2) return 0;
    const char *name = bytes[1] == 0 ? NULL : strchr(names, bytes[1]);
    if (name != NULL) {
        *code = (unsigned char)characters[name - names];
        return 2;
    }
    const int first = unit(bytes, count);
    if (first < 0) return 0;
    *code = (unsigned)first;
    if ((first & 0xfc00) != 0xd800) return 6;
    const int second = unit(bytes + 6, count - 6);
    if (second < 0 || (second & 0xfc00) != 0xdc00) return 6;
    *code = json_pair(*code, (unsigned)second);
    return 12;
}

int json_unescape(const unsigned char *bytes, int *rest, int is_last, unsigned char *text) {
    const int count = *rest;
    int index = 0, size = 0;
    while (index < count) {
        unsigned code = 0;
        int length = 0;
        if (bytes[index] == '\\') {
            if (!is_last && count - index < JSON_ESCAPE_BYTES) break;
            length = read_escape(bytes + index, count - index, &code);
        }
        // Half a character is none.
        if (length == 0 || (code >> 11) == 0x1b) {
            text[size++] = bytes[index++];
        } else {
            size += json_utf8(code, text + size);
            index += length;
        }
    }
    *rest = count - index;
    return size;
}

static unsigned char lower(unsigned char byte) {
    return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte;
}

void json_begin(json_reader *self, const unsigned char *wanted, int size) {
    memset(self, 0, sizeof *self);
    self->wanted = wanted;
    self->size = size;
    int index = size > 1 && wanted[0] == '-';
    self->is_number = index < size;
    for (; index < size; index++) {
        if (!isdigit(wanted[index])) self->is_number = 0;
        self->number = self->number * 10 + (wanted[index] - '0');
    }
    if (wanted[0] == '-') self->number = -self->number;
}

static void match(json_reader *self, unsigned char byte) {
    const int place = self->matched;
    if (place < 0) return;
    const int is_same = place < self->size && lower(self->wanted[place]) == lower(byte);
    self->matched = is_same ? place + 1 : -1;
}

static void begin_number(json_reader *self, unsigned char byte) {
    self->state = byte == '-' ? SIGN : byte == '0' ? ZERO : DIGITS;
    self->is_negative = byte == '-';
    self->digits = byte == '-' ? 0 : byte - '0';
    self->power = self->exponent = self->is_exponent_negative = 0;
    self->matched = 0;
    match(self, byte);
}

static void begin_value(json_reader *self, unsigned char byte) {
    self->matched = 0;
    if (byte == '"') {
        self->state = IN_TEXT;
    } else if (byte == '-' || isdigit(byte)) {
        begin_number(self, byte);
    } else if (byte == '{' || byte == '[') {
        if (self->depth == JSON_DEPTH_MAX) {
            self->is_broken = 1;
            return;
        }
        self->is_object[self->depth++] = byte == '{';
        self->is_doubtful |= self->depth > JSON_DEPTH_SURE;
        self->state = byte == '{' ? NAME_OR_END : VALUE_OR_END;
    } else {
        self->word = byte == 't' ? "rue" : byte == 'f' ? "alse" : "ull";
        self->is_broken = strchr("tfn", byte) == NULL || byte == 0;
        self->state = IN_WORD;
    }
}

// Adds a digit of the number. More of them than a `long double` has count as zeros.
static void add_digit(json_reader *self, int digit) {
    const int is_kept = self->digits < 1e18L;
    if (is_kept) self->digits = self->digits * 10 + digit;
    if (self->state == FRACTION && is_kept) self->power--;
    if (self->state == DIGITS && !is_kept) self->power++;
}

// Whether the number is the wanted one, as SQLite reads it: 4.2e1 is 42. What SQLite has no integer
// for is compared as a double, so that neighbors may be taken for equal.
static int is_wanted(const json_reader *self) {
    if (!self->is_number) return 0;
    const int is_integer = self->state == ZERO || self->state == DIGITS;
    if (is_integer && self->matched == self->size) return 1;
    long double value = self->is_negative ? -self->digits : self->digits;
    int power = self->power + (self->is_exponent_negative ? -self->exponent : self->exponent);
    // Larger than any text that is looked for.
    if (power > 5000 && value != 0) return 0;
    for (; power > 0 && value != 0; power--) value *= 10;
    for (; power < 0 && value != 0; power++) value /= 10;
    long double size = value < 0 ? -value : value;
    // A double is 0 there.
    if (size < 1e-300L) size = value = 0;
    if (is_integer && size != 0 && size < exact_max) return 0;
    const long double other = self->number < 0 ? -self->number : self->number;
    const long double more = value - self->number;
    return (more < 0 ? -more : more) <= other * 1e-12L;
}

// Reads a byte of a number; 0 when it has ended.
static int continue_number(json_reader *self, unsigned char byte) {
    const int is_digit = isdigit(byte) != 0, is_power = byte == 'e' || byte == 'E';
    const int before = self->state;
    switch (before) {
    case SIGN: self->state = byte == '0' ? ZERO : DIGITS; break;
    case POINT: self->state = FRACTION; break;
    case POWER: self->state = is_digit ? POWER_DIGITS : POWER_SIGN; break;
    case POWER_SIGN: self->state = POWER_DIGITS; break;
    case FRACTION:
    case ZERO:
    case DIGITS:
        if (is_power) self->state = POWER;
        if (byte == '.' && before != FRACTION) self->state = POINT;
        break;
    default: break;
    }
    const int is_sign = self->state == POWER_SIGN && (byte == '+' || byte == '-');
    const int is_ended = self->state == before && (!is_digit || before == ZERO);
    if (is_ended) {
        self->is_found |= is_wanted(self);
        self->state = COMMA_OR_END;
        return 0;
    }
    if (self->state == POINT || self->state == POWER || is_sign) {
        if (byte == '-') self->is_exponent_negative = 1;
    } else if (!is_digit) {
        self->is_broken = 1;
    } else if (self->state != POWER_DIGITS) {
        add_digit(self, byte - '0');
    } else if (self->exponent < 1 << 24) {
        self->exponent = self->exponent * 10 + (byte - '0');
    }
    match(self, byte);
    return 1;
}

static void end_container(json_reader *self, unsigned char byte) {
    self->is_broken = self->depth == 0 || self->is_object[self->depth - 1] != (byte == '}');
    if (!self->is_broken) self->depth--;
    self->state = COMMA_OR_END;
}

// Reads a byte outside of texts.
static void read_structure(json_reader *self, unsigned char byte) {
    if (self->state >= SIGN && continue_number(self, byte)) return;
    if (self->state == IN_WORD) {
        self->is_broken = *self->word++ != (char)byte;
        if (!self->is_broken && *self->word == 0) self->state = COMMA_OR_END;
        return;
    }
    if (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') return;
    const int is_end = byte == '}' || byte == ']';
    switch (self->state) {
    case VALUE_OR_END:
    case NAME_OR_END:
    case COMMA_OR_END:
        if (is_end) {
            end_container(self, byte);
            return;
        }
        break;
    default: break;
    }
    switch (self->state) {
    case VALUE:
    case VALUE_OR_END: begin_value(self, byte); return;
    case NAME:
    case NAME_OR_END: self->state = IN_NAME; break;
    case COLON: self->state = VALUE; break;
    default:
        if (self->depth != 0) self->state = self->is_object[self->depth - 1] ? NAME : VALUE;
        self->is_broken = self->depth == 0 || byte != ',';
        return;
    }
    self->matched = -1;
    self->is_broken = byte != (self->state == IN_NAME ? '"' : ':');
}

static void end_text(json_reader *self) {
    self->is_found |= self->matched == self->size;
    self->state = self->state == IN_NAME ? COLON : COMMA_OR_END;
}

// Bytes that a text begins with, up to its end, an escape, or what no text has.
static int plain_bytes(const unsigned char *bytes, int count) {
    int index = 0;
    while (index < count && bytes[index] >= ' ' && bytes[index] != '"' && bytes[index] != '\\') {
        index++;
    }
    return index;
}

int json_read(json_reader *self, const unsigned char *bytes, int count, int is_last) {
    int index = 0;
    while (index < count && !self->is_broken && !self->is_found) {
        const unsigned char byte = bytes[index];
        if (self->state != IN_TEXT && self->state != IN_NAME) {
            read_structure(self, byte);
        } else if (byte == '"') {
            end_text(self);
        } else if (byte == '\\') {
            if (!is_last && count - index < JSON_ESCAPE_BYTES) return index;
            unsigned code = 0;
            const int length = read_escape(bytes + index, count - index, &code);
            unsigned char text[4];
            const int size = json_utf8(code, text);
            // SQLite before 3.42 ends a text there.
            if (length != 0 && code == 0) self->is_found |= self->matched == self->size;
            for (int place = 0; place < size; place++) match(self, text[place]);
            self->is_broken = length == 0;
            index += length;
            continue;
        } else {
            self->is_broken = byte < ' ';
            match(self, byte);
            if (self->matched < 0) index += plain_bytes(bytes + index + 1, count - index - 1);
        }
        index++;
    }
    return count;
}

int json_end(json_reader *self) {
    // Ends a number.
    if (!self->is_broken && self->state >= SIGN) read_structure(self, ' ');
    return !self->is_broken && !self->is_doubtful && self->depth == 0
        && self->state == COMMA_OR_END;
}
