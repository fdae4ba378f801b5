// The guarded VFS; CSQLiteGuard.h says what it promises. It wraps the default unix VFS and replaces
// that VFS's open(2) while a guarded file is being opened, which also covers the `-shm` file.
#define _GNU_SOURCE
#include "CSQLiteGuard.h"
#include "FaultGuard.h"
#include "PageGap.h"
#include "PathRegistry.h"
#include "WALGather.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

const char *const csqliteguard_vfs_name = "expunged-guard";

// The database whose journal this thread read last: a super-journal's name comes from there.
static _Thread_local database *current;
// Set while the wrapped VFS opens a file for this database.
static _Thread_local database *opening;

static sqlite3_vfs *base;
static atomic_ullong call_count;

uint64_t csqliteguard_call_count(void) { return call_count; }

static int counted(int code) { return call_count++, code; }

typedef struct guard_file {
    sqlite3_file head;
    database *owner;
    int kind;
    // csqliteguard_never_share()
    int never_shares;
    // csqliteguard_wipe_unused()
    int wipes_unused;
    // It counts among the owner's index_users.
    int maps_index;
    sqlite3_file *inner;
    wal_gather gather;
    page_gap gap;
} guard_file;

// ---- open(2) below the wrapped VFS ----

typedef int (*open_function)(const char *, int, int);
static open_function plain_open;

static int open_without_links(const char *path, int flags, int mode) {
    // O_NONBLOCK: a planted FIFO must not hold us; it means nothing for a regular file.
    flags |= O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
#ifdef __linux__
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags,
        .mode = (flags & O_CREAT) != 0 ? (uint64_t)(mode & 07777) : 0,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd >= 0 || errno != ENOSYS) return fd;
#endif
    return open(path, flags, mode);
}

static int guarded_open(const char *path, int flags, int mode) {
    database *entry = opening;
    if (entry == NULL) return plain_open(path, flags, mode);
    int fd = open_without_links(path, flags, mode);
    int kind;
    if (fd < 0) {
        if (errno != ELOOP) return -1;
        kind = CSQLITEGUARD_SYMLINK;
    } else {
        struct stat status;
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
        close(fd);
        kind = CSQLITEGUARD_NOT_REGULAR;
    }
    registry_refuse(entry, kind);
    // The wrapped VFS does not try a second, read-only open after EISDIR.
    errno = EISDIR;
    return -1;
}

// ---- files ----

static sqlite3_file *inner_of(sqlite3_file *file) { return ((guard_file *)file)->inner; }

// A database whose WAL index is lost reads, writes and locks nothing any more.
static int is_lost(sqlite3_file *file) {
    database *owner = ((guard_file *)file)->owner;
    return owner != NULL && fault_guard_is_lost(owner);
}

static void remember_journal(sqlite3_file *file) {
    guard_file *self = (guard_file *)file;
    if (self->kind == SQLITE_OPEN_MAIN_JOURNAL) current = self->owner;
}

// ---- the WAL ----

// The lock on writing (sqlite.org/walformat.html, "WAL Locks").
enum { WAL_WRITE_LOCK = 0 };

// Also for a database that is lost: what waits is from before.
static int flush(sqlite3_file *file) {
    guard_file *self = (guard_file *)file;
    if (self->gather.count == 0) return SQLITE_OK;
    self->owner->gathering = NULL;
    return wal_gather_flush(&self->gather, self->inner);
}

// What is left now was never committed.
static void end_writing(database *owner) {
    if (owner->gathering != NULL) wal_gather_drop(&owner->gathering->gather);
    owner->gathering = NULL;
    atomic_store(&owner->writer, NULL);
}

static int is_writer(guard_file *self) {
    return self->owner != NULL && atomic_load(&self->owner->writer) == self;
}

static int file_close(sqlite3_file *file) {
    guard_file *self = (guard_file *)file;
    if (is_writer(self)) end_writing(self->owner);
    if (self->gather.bytes != NULL) {
        if (self->owner->gathering == self) self->owner->gathering = NULL;
        wal_gather_end(&self->gather);
    }
    page_gap_end(&self->gap);
    int code = self->inner->pMethods->xClose(self->inner);
    if (self->kind == SQLITE_OPEN_MAIN_DB) registry_release(self->owner);
    return code;
}

// Whether a read goes beyond csqliteguard_limit_wal().
static int is_too_far(guard_file *self, sqlite3_int64 end) {
    if (self->kind != SQLITE_OPEN_WAL) return 0;
    int64_t limit = atomic_load(&self->owner->wal_limit);
    return limit != 0 && end > limit;
}

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
    remember_journal(file);
    if (is_lost(file)) return CSQLITEGUARD_IOERR_INDEX;
    if (is_too_far((guard_file *)file, offset + count)) {
        registry_refuse(((guard_file *)file)->owner, CSQLITEGUARD_LARGE_WAL);
        return SQLITE_IOERR_READ;
    }
    int code = flush(file);
    if (code != SQLITE_OK) return code;
    return counted(inner_of(file)->pMethods->xRead(inner_of(file), buffer, count, offset));
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    guard_file *self = (guard_file *)file;
    if (is_lost(file)) return CSQLITEGUARD_IOERR_INDEX;
    if (self->wipes_unused) return page_gap_write(&self->gap, self->inner, bytes, count, offset);
    if (self->kind != SQLITE_OPEN_WAL || atomic_load(&self->owner->writer) == NULL) {
        return self->inner->pMethods->xWrite(self->inner, bytes, count, offset);
    }
    int code = wal_gather_write(&self->gather, self->inner, bytes, count, offset);
    self->owner->gathering = self->gather.count > 0 ? self : NULL;
    return code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (is_lost(file)) return CSQLITEGUARD_IOERR_INDEX;
    int code = flush(file);
    if (code != SQLITE_OK) return code;
    return inner_of(file)->pMethods->xTruncate(inner_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
    if (is_lost(file)) return CSQLITEGUARD_IOERR_INDEX;
    int code = flush(file);
    if (code != SQLITE_OK) return code;
    return counted(inner_of(file)->pMethods->xSync(inner_of(file), flags));
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    remember_journal(file);
    int code = flush(file);
    if (code != SQLITE_OK) return code;
    return inner_of(file)->pMethods->xFileSize(inner_of(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
    if (is_lost(file)) return CSQLITEGUARD_IOERR_INDEX;
    return inner_of(file)->pMethods->xLock(inner_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
    return inner_of(file)->pMethods->xUnlock(inner_of(file), level);
}

static int file_check_reserved_lock(sqlite3_file *file, int *result) {
    return inner_of(file)->pMethods->xCheckReservedLock(inner_of(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    if (operation == GUARD_FCNTL_NEVER_SHARE) {
        ((guard_file *)file)->never_shares = 1;
        return SQLITE_OK;
    }
    if (operation == GUARD_FCNTL_WIPE_UNUSED) {
        ((guard_file *)file)->wipes_unused = 1;
        return SQLITE_OK;
    }
    return inner_of(file)->pMethods->xFileControl(inner_of(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
    return inner_of(file)->pMethods->xSectorSize(inner_of(file));
}

static int file_characteristics(sqlite3_file *file) {
    return inner_of(file)->pMethods->xDeviceCharacteristics(inner_of(file));
}

// ---- the WAL index ----

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    guard_file *self = (guard_file *)file;
    *out = NULL;
    if (self->never_shares) {
        registry_refuse(self->owner, CSQLITEGUARD_SHARED_INDEX);
        return SQLITE_PERM;
    }
    if (is_lost(file)) return CSQLITEGUARD_IOERR_INDEX;
    pthread_mutex_lock(&index_lock);
    if (!self->maps_index) self->owner->index_users++;
    self->maps_index = 1;
    opening = self->owner;
    int code = self->inner->pMethods->xShmMap(self->inner, page, size, extend, out);
    opening = NULL;
    // Touched before it is watched, it could end the process.
    if (*out != NULL && fault_guard_add(self->owner, *out, (size_t)size) != 0) {
        *out = NULL;
        code = SQLITE_IOERR_SHMMAP;
    }
    pthread_mutex_unlock(&index_lock);
    return code;
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    guard_file *self = (guard_file *)file;
    // What is locked can always be let go.
    if ((flags & SQLITE_SHM_LOCK) != 0 && is_lost(file)) return CSQLITEGUARD_IOERR_INDEX;
    int is_for_writing = offset == WAL_WRITE_LOCK && (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    if (is_for_writing && (flags & SQLITE_SHM_UNLOCK) != 0 && is_writer(self))
        end_writing(self->owner);
    int code = self->inner->pMethods->xShmLock(self->inner, offset, count, flags);
    if (is_for_writing && (flags & SQLITE_SHM_LOCK) != 0 && code == SQLITE_OK)
        atomic_store(&self->owner->writer, self);
    return code;
}

static void file_shm_barrier(sqlite3_file *file) {
    guard_file *self = (guard_file *)file;
    // Checksums that were made anew come after the last frame; all of it is there before it is
    // shown. They lie within the file, so nothing can fail for want of room.
    if (is_writer(self) && self->owner->gathering != NULL) flush(&self->owner->gathering->head);
    inner_of(file)->pMethods->xShmBarrier(inner_of(file));
}

static int file_shm_unmap(sqlite3_file *file, int delete_file) {
    guard_file *self = (guard_file *)file;
    pthread_mutex_lock(&index_lock);
    if (self->maps_index && --self->owner->index_users == 0) fault_guard_remove(self->owner);
    self->maps_index = 0;
    int code = self->inner->pMethods->xShmUnmap(self->inner, delete_file);
    pthread_mutex_unlock(&index_lock);
    return code;
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **out) {
    return inner_of(file)->pMethods->xFetch(inner_of(file), offset, count, out);
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    return inner_of(file)->pMethods->xUnfetch(inner_of(file), offset, page);
}

#define METHODS(version)                                                                         \
    {                                                                                            \
        .iVersion = version, .xClose = file_close, .xRead = file_read, .xWrite = file_write,     \
        .xTruncate = file_truncate, .xSync = file_sync, .xFileSize = file_size,                  \
        .xLock = file_lock, .xUnlock = file_unlock,                                              \
        .xCheckReservedLock = file_check_reserved_lock, .xFileControl = file_control,            \
        .xSectorSize = file_sector_size, .xDeviceCharacteristics = file_characteristics,         \
        .xShmMap = file_shm_map, .xShmLock = file_shm_lock, .xShmBarrier = file_shm_barrier,     \
        .xShmUnmap = file_shm_unmap, .xFetch = file_fetch, .xUnfetch = file_unfetch              \
    }

// Version 1 has no shared memory: for files of the wrapped VFS that have none.
static const sqlite3_io_methods methods_without_shm = METHODS(1);
static const sqlite3_io_methods methods_with_shm = METHODS(2);
static const sqlite3_io_methods methods_full = METHODS(3);

static const sqlite3_io_methods *methods_for(const sqlite3_io_methods *inner) {
    if (inner->iVersion < 2 || inner->xShmMap == NULL) return &methods_without_shm;
    if (inner->iVersion < 3 || inner->xFetch == NULL) return &methods_with_shm;
    return &methods_full;
}

// ---- the VFS ----

enum {
    TEMPORARY_KINDS = SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_TEMP_JOURNAL
        | SQLITE_OPEN_SUBJOURNAL,
    ALL_KINDS = TEMPORARY_KINDS | SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL
        | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL,
};

// Finds whom the file belongs to. SQLITE_OK with a NULL owner: a nameless temporary file.
static int admit(const char *name, int flags, database **owner) {
    int kind = flags & ALL_KINDS;
    *owner = NULL;
    if ((kind & TEMPORARY_KINDS) != 0) {
        if (name == NULL && (flags & SQLITE_OPEN_DELETEONCLOSE) != 0) return SQLITE_OK;
        registry_refuse(current, CSQLITEGUARD_TEMPORARY);
        return SQLITE_PERM;
    }
    if (kind == SQLITE_OPEN_MAIN_DB && name != NULL) {
        *owner = registry_retain(name);
        return *owner == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (name != NULL && kind == SQLITE_OPEN_MAIN_JOURNAL) {
        *owner = registry_owner(name, "-journal");
    } else if (name != NULL && kind == SQLITE_OPEN_WAL) *owner = registry_owner(name, "-wal");
    if (*owner != NULL) return SQLITE_OK;
    registry_refuse(
        current,
        kind == SQLITE_OPEN_SUPER_JOURNAL ? CSQLITEGUARD_SUPER_JOURNAL : CSQLITEGUARD_FOREIGN_PATH);
    return SQLITE_PERM;
}

static int guard_open(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    (void)vfs;
    guard_file *self = (guard_file *)file;
    memset(self, 0, sizeof *self);
    database *owner;
    int code = admit(name, flags, &owner);
    if (code != SQLITE_OK) return code;
    self->owner = owner;
    self->kind = flags & ALL_KINDS;
    self->inner = (sqlite3_file *)(self + 1);
    remember_journal(file);
    if (self->kind == SQLITE_OPEN_MAIN_DB && owner->never_create) flags &= ~SQLITE_OPEN_CREATE;
    opening = owner;
    code = base->xOpen(base, name, self->inner, flags, out_flags);
    opening = NULL;
    if (code == SQLITE_OK) {
        self->head.pMethods = methods_for(self->inner->pMethods);
    } else {
        if (self->inner->pMethods != NULL) self->inner->pMethods->xClose(self->inner);
        if (self->kind == SQLITE_OPEN_MAIN_DB) registry_release(owner);
    }
    return code;
}

static int guard_delete(sqlite3_vfs *vfs, const char *path, int sync_directory) {
    (void)vfs;
    int is_database = registry_is_open(path);
    int is_own = registry_owner(path, "-journal") != NULL || registry_owner(path, "-wal") != NULL;
    if (is_database || !is_own) {
        registry_refuse(current, CSQLITEGUARD_FOREIGN_PATH);
        return SQLITE_PERM;
    }
    return base->xDelete(base, path, sync_directory);
}

static int guard_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    (void)vfs;
    database *journal_owner = registry_owner(path, "-journal");
    if (journal_owner != NULL) current = journal_owner;
    if (journal_owner != NULL || registry_owner(path, "-wal") != NULL
        || registry_owner(path, "-shm") != NULL || registry_owner(path, "") != NULL) {
        return base->xAccess(base, path, flags, result);
    }
    // "Does not exist" would make SQLite drop a journal that is still needed; an error stops it.
    // The only foreign name that reaches this call is a super-journal's (pager_playback).
    registry_refuse(current, CSQLITEGUARD_SUPER_JOURNAL);
    *result = 0;
    return SQLITE_PERM;
}

static int guard_full_pathname(sqlite3_vfs *vfs, const char *path, int size, char *out) {
    (void)vfs;
    int code = base->xFullPathname(base, path, size, out);
    if (code != SQLITE_OK_SYMLINK) return code;
    registry_refuse(registry_entry(path), CSQLITEGUARD_SYMLINK);
    return SQLITE_CANTOPEN_SYMLINK;
}

static void *guard_dl_open(sqlite3_vfs *vfs, const char *path) {
    (void)vfs;
    (void)path;
    return NULL;
}

static void guard_dl_error(sqlite3_vfs *vfs, int size, char *message) {
    (void)vfs;
    sqlite3_snprintf(size, message, "extensions are not loaded");
}

static void (*guard_dl_sym(sqlite3_vfs *vfs, void *library, const char *symbol))(void) {
    (void)vfs;
    (void)library;
    (void)symbol;
    return NULL;
}

static void guard_dl_close(sqlite3_vfs *vfs, void *library) {
    (void)vfs;
    (void)library;
}

static int guard_randomness(sqlite3_vfs *vfs, int count, char *out) {
    (void)vfs;
    return base->xRandomness(base, count, out);
}

static int guard_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return base->xSleep(base, microseconds);
}

static int guard_current_time(sqlite3_vfs *vfs, double *now) {
    (void)vfs;
    return base->xCurrentTime(base, now);
}

static int guard_last_error(sqlite3_vfs *vfs, int size, char *message) {
    (void)vfs;
    return base->xGetLastError(base, size, message);
}

static int guard_current_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *now) {
    (void)vfs;
    return base->xCurrentTimeInt64(base, now);
}

// ---- installation ----

static sqlite3_vfs guard = {
    .iVersion = 2,
    .xOpen = guard_open,
    .xDelete = guard_delete,
    .xAccess = guard_access,
    .xFullPathname = guard_full_pathname,
    .xDlOpen = guard_dl_open,
    .xDlError = guard_dl_error,
    .xDlSym = guard_dl_sym,
    .xDlClose = guard_dl_close,
    .xRandomness = guard_randomness,
    .xSleep = guard_sleep,
    .xCurrentTime = guard_current_time,
    .xGetLastError = guard_last_error,
    .xCurrentTimeInt64 = guard_current_time_ms,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int installed = SQLITE_ERROR;

static void install(void) {
    base = sqlite3_vfs_find("unix");
    // The open(2) hook needs the interface of version 3.
    if (base == NULL || base->iVersion < 3 || base->xSetSystemCall == NULL) return;
    plain_open = (open_function)base->xGetSystemCall(base, "open");
    if (plain_open == NULL) return;
    installed = base->xSetSystemCall(base, "open", (sqlite3_syscall_ptr)guarded_open);
    if (installed != SQLITE_OK) return;
    installed = SQLITE_ERROR;
    if (fault_guard_install() != 0) return;
    guard.zName = csqliteguard_vfs_name;
    guard.mxPathname = base->mxPathname;
    guard.szOsFile = (int)sizeof(guard_file) + base->szOsFile;
    installed = sqlite3_vfs_register(&guard, 1);
}

int csqliteguard_install(void) {
    pthread_once(&once, install);
    return installed;
}
