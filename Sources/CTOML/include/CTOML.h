// A TOML document as a list of its values, each with its line and column.
//
// toml++ (header-only) does the parsing. No exception leaves these functions: what the parser
// throws, its own assertions and a lack of memory included, becomes the error of the document.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum __attribute__((enum_extensibility(closed))) ctoml_kind {
    CTOML_TABLE,
    CTOML_ARRAY,
    CTOML_TEXT,
    CTOML_INTEGER,
    CTOML_BOOLEAN,
    CTOML_FLOAT,
    CTOML_DATE_OR_TIME,
};

// Texts end with their count; they may hold NUL. They live as long as the document.
struct ctoml_value {
    enum ctoml_kind kind;
    // Of the key, or of the value itself where it is an element of an array; from 1.
    uint32_t line;
    uint32_t column;
    const char *_Nullable key;
    size_t key_count;
    // Of a text.
    const char *_Nullable text;
    size_t text_count;
    // An integer; 0 or 1 for a boolean.
    int64_t integer;
    // How many values a table or an array has; they follow it, each with its own behind it.
    size_t child_count;
};

struct ctoml_document {
    // The root table comes first; NULL when there is an error.
    const struct ctoml_value *_Nullable values;
    size_t count;
    // What is wrong, in UTF-8, and where; NULL when nothing is.
    const char *_Nullable error;
    uint32_t line;
    uint32_t column;
    // The error is that values nest too deeply.
    int is_too_deep;
    void *_Nullable storage;
};

// Parses `count` bytes. Keys and values may nest `depth_max` deep. Free the document in any case.
struct ctoml_document ctoml_parse(const void *_Nullable bytes, size_t count, size_t depth_max);
void ctoml_free(struct ctoml_document document);

#ifdef __cplusplus
}
#endif
