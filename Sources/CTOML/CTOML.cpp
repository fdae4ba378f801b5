#include "CTOML.h"

#include <pthread.h>

#include <deque>
#include <new>
#include <string>
#include <vector>

namespace {

// Where toml++ stands when an assertion fails; see TOML_ASSERT.
struct Failure {
    std::string text;
    uint32_t line;
    uint32_t column;
    bool is_too_deep;
};

struct Nowhere {
    uint32_t line, column;
};

}  // namespace

// What `current_position` means outside of toml++'s parser, which has a method of that name.
static constexpr Nowhere current_position(int) { return {1, 1}; }

// toml++ asserts what is not so for some malformed keys, such as `[[[[`. NDEBUG would make these
// assertions assumptions of the optimizer.
#undef NDEBUG
#define TOML_ASSERT(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            const auto at = current_position(1);                                                   \
            throw Failure{"a key or a value is missing, or begins with a wrong character",         \
                          static_cast<uint32_t>(at.line), static_cast<uint32_t>(at.column), false};\
        }                                                                                          \
    } while (false)
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// Arrays and inline tables inside each other; the parser recurses for each.
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

namespace {

struct Storage {
    std::vector<ctoml_value> values;
    std::deque<std::string> texts;
    std::string error;
};

struct Job {
    std::string_view bytes;
    size_t depth_max;
    Storage *storage;
    ctoml_document document;
};

void add(const toml::node &node, const toml::key *key, size_t depth, const Job &job) {
    const auto place = (key ? key->source() : node.source()).begin;
    if (depth > job.depth_max) throw Failure{"too deep", place.line, place.column, true};
    auto &storage = *job.storage;
    ctoml_value value = {};
    value.line = place.line;
    value.column = place.column;
    const auto keep = [&storage](std::string_view text, const char *&start, size_t &count) {
        start = storage.texts.emplace_back(text).data();
        count = text.size();
    };
    if (key) keep(key->str(), value.key, value.key_count);
    if (const auto table = node.as_table()) {
        value.kind = CTOML_TABLE;
        value.child_count = table->size();
        storage.values.push_back(value);
        for (const auto &[name, child] : *table) add(child, &name, depth + 1, job);
        return;
    }
    if (const auto array = node.as_array()) {
        value.kind = CTOML_ARRAY;
        value.child_count = array->size();
        storage.values.push_back(value);
        for (const auto &child : *array) add(child, nullptr, depth + 1, job);
        return;
    }
    if (const auto text = node.as_string()) {
        value.kind = CTOML_TEXT;
        keep(text->get(), value.text, value.text_count);
    } else if (const auto integer = node.as_integer()) {
        value.kind = CTOML_INTEGER;
        value.integer = integer->get();
    } else if (const auto boolean = node.as_boolean()) {
        value.kind = CTOML_BOOLEAN;
        value.integer = boolean->get();
    } else {
        value.kind = node.is_floating_point() ? CTOML_FLOAT : CTOML_DATE_OR_TIME;
    }
    storage.values.push_back(value);
}

void refuse(Job &job, std::string_view text, uint32_t line, uint32_t column, bool is_too_deep) {
    job.storage->error = text;
    job.document.error = job.storage->error.c_str();
    job.document.line = line;
    job.document.column = column;
    job.document.is_too_deep = is_too_deep;
}

void parse(Job &job) {
    try {
        try {
            add(toml::parse(job.bytes), nullptr, 0, job);
            job.document.values = job.storage->values.data();
            job.document.count = job.storage->values.size();
        } catch (const toml::parse_error &error) {
            const auto text = error.description();
            const auto place = error.source().begin;
            const auto is_too_deep = text.find("TOML_MAX_NESTED_VALUES") != text.npos;
            refuse(job, text, place.line, place.column, is_too_deep);
        } catch (const Failure &failure) {
            refuse(job, failure.text, failure.line, failure.column, failure.is_too_deep);
        }
    } catch (...) {
        job.document.error = "there is not enough memory";
        job.document.line = job.document.column = 1;
    }
}

// A table for each dot of a key: destructors recurse that deep before the depth can be judged.
constexpr size_t stack_size = size_t(64) << 20;

}  // namespace

ctoml_document ctoml_parse(const void *bytes, size_t count, size_t depth_max) {
    Job job = {{static_cast<const char *>(bytes), count}, depth_max, new (std::nothrow) Storage, {}};
    job.document.storage = job.storage;
    job.document.error = "there is not enough memory";
    job.document.line = job.document.column = 1;
    if (!job.storage) return job.document;
    const auto run = [](void *context) -> void * {
        auto &job = *static_cast<Job *>(context);
        job.document.error = nullptr;
        parse(job);
        return nullptr;
    };
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    if (pthread_create(&thread, &attributes, run, &job) == 0) pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return job.document;
}

void ctoml_free(ctoml_document document) { delete static_cast<Storage *>(document.storage); }
