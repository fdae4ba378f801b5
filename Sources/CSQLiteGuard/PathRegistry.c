#include "PathRegistry.h"
#include "CSQLiteGuard.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKET_COUNT = 256 };
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static database *buckets[BUCKET_COUNT];
static uint64_t total_refusals;
static int total_last_refusal;

static unsigned bucket_of(const char *path, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t index = 0; index < length; index++) {
        hash = (hash ^ (unsigned char)path[index]) * 16777619u;
    }
    return hash % BUCKET_COUNT;
}

static database *find_locked(const char *path, size_t length) {
    database *entry = buckets[bucket_of(path, length)];
    for (; entry != NULL; entry = entry->next) {
        if (strncmp(entry->path, path, length) == 0 && entry->path[length] == 0) return entry;
    }
    return NULL;
}

static database *find_or_make_locked(const char *path) {
    size_t length = strlen(path);
    database *entry = find_locked(path, length);
    if (entry != NULL) return entry;
    entry = calloc(1, sizeof *entry + length + 1);
    if (entry == NULL) return NULL;
    memcpy(entry->path, path, length + 1);
    unsigned bucket = bucket_of(path, length);
    entry->next = buckets[bucket];
    buckets[bucket] = entry;
    return entry;
}

void registry_refuse(database *entry, int kind) {
    pthread_mutex_lock(&registry_lock);
    total_refusals++;
    total_last_refusal = kind;
    if (entry != NULL) {
        entry->refusals++;
        entry->last_refusal = kind;
    }
    pthread_mutex_unlock(&registry_lock);
}

database *registry_retain(const char *path) {
    pthread_mutex_lock(&registry_lock);
    database *entry = find_or_make_locked(path);
    if (entry != NULL) entry->open_count++;
    pthread_mutex_unlock(&registry_lock);
    return entry;
}

void registry_release(database *entry) {
    pthread_mutex_lock(&registry_lock);
    entry->open_count--;
    pthread_mutex_unlock(&registry_lock);
}

database *registry_owner(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    if (length <= tail || strcmp(path + length - tail, suffix) != 0) return NULL;
    pthread_mutex_lock(&registry_lock);
    database *entry = find_locked(path, length - tail);
    if (entry != NULL && entry->open_count == 0) entry = NULL;
    pthread_mutex_unlock(&registry_lock);
    return entry;
}

int csqliteguard_never_create(const char *path) {
    pthread_mutex_lock(&registry_lock);
    database *entry = find_or_make_locked(path);
    if (entry != NULL) entry->never_create = 1;
    pthread_mutex_unlock(&registry_lock);
    return entry == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

int csqliteguard_limit_wal(const char *path, int64_t byte_count) {
    database *entry = registry_entry(path);
    if (entry != NULL) atomic_store(&entry->wal_limit, byte_count);
    return entry == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

uint64_t csqliteguard_refusals(const char *path) {
    pthread_mutex_lock(&registry_lock);
    database *entry = path == NULL ? NULL : find_locked(path, strlen(path));
    uint64_t count = path == NULL ? total_refusals : entry == NULL ? 0 : entry->refusals;
    pthread_mutex_unlock(&registry_lock);
    return count;
}

int csqliteguard_last_refusal(const char *path) {
    pthread_mutex_lock(&registry_lock);
    database *entry = path == NULL ? NULL : find_locked(path, strlen(path));
    int kind = path == NULL ? total_last_refusal : entry == NULL ? 0 : entry->last_refusal;
    pthread_mutex_unlock(&registry_lock);
    return kind;
}

const char *csqliteguard_refusal_name(int kind) {
    switch (kind) {
    case CSQLITEGUARD_NONE: return "none";
    case CSQLITEGUARD_SUPER_JOURNAL: return "super_journal";
    case CSQLITEGUARD_FOREIGN_PATH: return "foreign_path";
    case CSQLITEGUARD_SYMLINK: return "symlink";
    case CSQLITEGUARD_NOT_REGULAR: return "not_regular";
    case CSQLITEGUARD_TEMPORARY: return "temporary";
    case CSQLITEGUARD_SHARED_INDEX: return "shared_index";
    case CSQLITEGUARD_INDEX_LOST: return "index_lost";
    case CSQLITEGUARD_LARGE_WAL: return "large_wal";
    default: return "unknown";
    }
}

database *registry_entry(const char *path) {
    pthread_mutex_lock(&registry_lock);
    database *entry = find_or_make_locked(path);
    pthread_mutex_unlock(&registry_lock);
    return entry;
}

int registry_is_open(const char *path) {
    pthread_mutex_lock(&registry_lock);
    database *same = find_locked(path, strlen(path));
    int is_open = same != NULL && same->open_count > 0;
    pthread_mutex_unlock(&registry_lock);
    return is_open;
}
