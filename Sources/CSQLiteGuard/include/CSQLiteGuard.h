// A SQLite VFS that trusts no file name it finds in a file, and the variadic calls Swift cannot
// make.
//
// Why. Recovery obeys the file: a planted `queue.db-journal` that names `state.db` as its
// super-journal makes SQLite delete `state.db` at the next read (pager.c, pager_delsuper). So every
// database that another uid can write must be opened through this VFS.
//
// What it does, for every database opened after csqliteguard_install():
//  - only four paths exist for a database: its own, `-journal`, `-wal` and `-shm`; xOpen, xDelete
//    and xAccess refuse every other one, and xDelete refuses a database itself;
//  - super-journals are refused, written or found (so a transaction over several attached rollback
//    databases fails with SQLITE_PERM, and a hot journal with a super-journal is never played
//    back);
//  - no symbolic link anywhere in the path (SQLITE_CANTOPEN_SYMLINK, or SQLITE_CANTOPEN when one
//    appears later: openat2(2) RESOLVE_NO_SYMLINKS), only regular files: callers pass real paths;
//  - temporary files only without a name and deleted on close; extensions never load;
//  - a WAL index (`-shm`) that another program cuts short fails the database, not the process
//    (FaultGuard.h); a connection can also refuse to map one (csqliteguard_never_share()).
//
// It also writes the frames of a transaction to the WAL with few calls (WALGather.h); what is on
// disk, and when, is the same.
//
// A refusal is an error for the caller (SQLITE_PERM or SQLITE_CANTOPEN), is counted, and stays
// counted after the database is closed. Thread-safe, except csqliteguard_install(), which must have
// returned before the first database of the process is opened.
#pragma once

#include <stdint.h>

typedef struct sqlite3 sqlite3;

#ifdef __cplusplus
extern "C" {
#endif

// Why an access was refused.
enum {
    CSQLITEGUARD_NONE = 0,
    // A journal names a super-journal, or a commit over several files wanted one.
    CSQLITEGUARD_SUPER_JOURNAL = 1,
    // A path that does not belong to the database.
    CSQLITEGUARD_FOREIGN_PATH = 2,
    // The path is, or leads through, a symbolic link.
    CSQLITEGUARD_SYMLINK = 3,
    // A FIFO, socket, device or directory.
    CSQLITEGUARD_NOT_REGULAR = 4,
    // A temporary file that would outlive its connection.
    CSQLITEGUARD_TEMPORARY = 5,
    // A connection that shares no memory met a database in WAL mode.
    CSQLITEGUARD_SHARED_INDEX = 6,
    // Another program has cut the WAL index short while it was in use.
    CSQLITEGUARD_INDEX_LOST = 7,
    // The WAL holds more than csqliteguard_limit_wal() allows.
    CSQLITEGUARD_LARGE_WAL = 8,
};

// The extended result code of every access to a database whose WAL index is lost, until its last
// connection is closed: SQLITE_IOERR with a number that SQLite does not use.
enum { CSQLITEGUARD_IOERR_INDEX = 10 | (224 << 8) };

// Before any other use of SQLite in the process: connections without mutexes of their own
// (SQLITE_CONFIG_MULTITHREAD; every connection belongs to one queue), no statistics of its
// allocations, which are a lock around each, and CSQLITEGUARD_HEAP_MAX. Later calls change nothing.
void csqliteguard_configure_process(void);

// Registers the VFS as the process default. Idempotent. Returns SQLITE_OK or a SQLite result code.
int csqliteguard_install(void);

// Puts the VFS's handler for SIGBUS in front of one that was installed after
// csqliteguard_install(). Returns 0, or -1 with errno.
int csqliteguard_survive_faults(void);

// How many reads and syncs of databases have ended since the process started.
uint64_t csqliteguard_call_count(void);

// The VFS name, for sqlite3_open_v2; the VFS below it stays available as "unix".
extern const char *const csqliteguard_vfs_name;

// From now on opening the database at `path` (absolute) never creates it: a missing file is
// SQLITE_CANTOPEN even with SQLITE_OPEN_CREATE, which GRDB always passes. Returns SQLITE_OK or
// SQLITE_NOMEM.
int csqliteguard_never_create(const char *path);

// From now on an access to the database at `path` (absolute) that reads its WAL beyond this number
// of bytes is SQLITE_IOERR_READ. SQLite reads a WAL up to the first frame that is not valid, so
// what follows that frame does not count. Returns SQLITE_OK or SQLITE_NOMEM.
int csqliteguard_limit_wal(const char *path, int64_t byte_count);

// How many accesses were refused on behalf of the database at `path` (absolute, as it was opened),
// since the process started. NULL: of all databases. Only ever grows: compare with the value
// before.
uint64_t csqliteguard_refusals(const char *path);

// The last refused kind for `path` (NULL: of all), CSQLITEGUARD_NONE when there was none.
int csqliteguard_last_refusal(const char *path);

// A stable lower-case name of a kind, such as "super_journal".
const char *csqliteguard_refusal_name(int kind);

// Prepares a connection for a file that others can write (sqlite.org/security.html): DEFENSIVE on,
// TRUSTED_SCHEMA off, triggers and views as told, no extensions, no FTS3 tokenizer, double-quoted
// strings off, no ATTACH (so no VACUUM either), trigger depth 16, LIKE patterns 100, no worker
// threads. Returns SQLITE_OK or the first result code that failed.
int csqliteguard_harden(sqlite3 *db, int allow_triggers, int allow_views);

// From now on the schema of this connection may call the scalar JSON functions also with an SQLite
// that does not count them among the innocuous ones, as 3.40 does not (JSONFunctions.c). To be
// called before the schema is read. Returns SQLITE_OK or the first result code that failed.
int csqliteguard_trust_json(sqlite3 *db);

// From now on this connection maps no memory that other processes share: an access to a database in
// WAL mode is SQLITE_PERM. With `PRAGMA locking_mode = EXCLUSIVE` before the first access, SQLite
// keeps the WAL index in its own memory instead (sqlite.org/wal.html, "Use of WAL Without
// Shared-Memory"). Returns SQLITE_OK or a SQLite result code.
int csqliteguard_never_share(sqlite3 *db);

// From now on this connection writes zeros where a page of the database has unused space. SQLite
// leaves copies of rows there when it moves them, in spite of `secure_delete`. Pages in the WAL
// keep them until a checkpoint, and pages in the cache until csqliteguard_forget_pages(). Returns
// SQLITE_OK or a SQLite result code.
int csqliteguard_wipe_unused(sqlite3 *db);

// Frees the pages that this connection keeps and does not use right now
// (sqlite3_db_release_memory()). The process-wide setup has each page be a block of its own.
void csqliteguard_forget_pages(sqlite3 *db);

// Never checkpoints when this connection closes (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE): before 3.51.3 a
// checkpoint beside other writing processes can corrupt a WAL database (the WAL-reset bug).
int csqliteguard_no_checkpoint_on_close(sqlite3 *db);

// From now on statements of `db` that run on the calling thread end with SQLITE_INTERRUPT once
// `milliseconds` have passed, and with SQLITE_NOMEM beyond CSQLITEGUARD_HEAP_MAX; a trigger of the
// application can neither keep us for ever nor take all memory.
// The deadline belongs to the thread: end it on the same thread, before another connection's
// starts.
enum { CSQLITEGUARD_HEAP_MAX = 96 << 20 };
void csqliteguard_deadline_begin(sqlite3 *db, int64_t milliseconds);
void csqliteguard_deadline_end(sqlite3 *db);

// 1 when the milliseconds of this thread have passed.
int csqliteguard_is_past_deadline(void);

// Adds functions, of which the first two read no value as a whole, and end with SQLITE_INTERRUPT at
// the deadline:
// - `bytes`(table, column, rowid): the bytes of a text or blob of the main database; 0 where SQLite
//   finds no such value in the row.
// - `holds`(table, column, rowid, text, form): 0 only where the value does not hold the text in any
//   case of ASCII letters. With bit 1 of `form` a text or number of the JSON is the one looked for.
//   What is no JSON, and any other value, may have it anywhere, with or without blanks. Bit 2 is
//   for a blob. It is 1 for a text of more than 4096 bytes, too, and where SQLite finds no such
//   value in the row.
// - `unescaped`(text): the text with each character in the place of its escape in JSON (RFC 8259,
//   7). What is no escape stays. NULL for what is no text.
// The table has no generated columns. Only statements of the connection may call them. Returns a
// SQLite result code.
int csqliteguard_add_functions(
    sqlite3 *db, const char *bytes, const char *holds, const char *unescaped);

// 1 when the file at the database's path is no longer the open one (SQLITE_FCNTL_HAS_MOVED), 0 when
// it still is, negative when that cannot be told.
int csqliteguard_has_moved(sqlite3 *db);

#ifdef __cplusplus
}
#endif
