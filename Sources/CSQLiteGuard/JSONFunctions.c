// SQLite's JSON functions, which a schema may call also where SQLite took them for harmful.
//
// Up to 3.40 their definitions had the flag that means innocuous for functions of applications, and
// the opposite for built-in ones (json.c, JFUNCTION). With TRUSTED_SCHEMA off, a schema that has
// one in a CHECK, an index or a generated column could not even be read ("unsafe use of
// json_valid()"). They only compute a value from their arguments, which is what
// SQLITE_INNOCUOUS asks for, and SQLite has called them so since 3.41.
//
// The functions here have the same names and flags as later versions, and hand their arguments to
// SQLite's own on a connection without a file. So an index that the application filled stays right.
#include "CSQLiteGuard.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// The subtype of a text that is JSON (json.c, JSON_SUBTYPE).
enum { JSON_SUBTYPE = 'J', FUNCTIONS_MAX = 32, NAME_MAX_LENGTH = 24 };

// The functions of this SQLite that need it; found once.
static struct {
    char name[NAME_MAX_LENGTH];
    int argument_count;
} found[FUNCTIONS_MAX];
static int found_count;
static int found_code = SQLITE_OK;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// One connection without a file for all functions of a database connection, opened when it is
// needed.
typedef struct {
    sqlite3 *db;
    int users;
} calculator;

typedef struct {
    calculator *calculator;
    const char *name;
    // The last call, which mostly is the next one, too.
    char *sql;
    sqlite3_stmt *statement;
} json_function;

static int open_calculator(sqlite3 **db) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    return sqlite3_open_v2(":memory:", db, flags, NULL);
}

// Those that are neither innocuous nor for direct use only. An aggregate cannot stand where a
// schema is read, and one in a trigger is reported by the statement that would run it.
static void find_functions(void) {
    static const char sql[] =
        "SELECT name, narg FROM pragma_function_list WHERE builtin AND type = 's'"
        " AND flags & 0x280000 = 0 AND name IN ('->', '->>', 'json', 'json_array',"
        " 'json_array_length', 'json_extract', 'json_insert', 'json_object', 'json_patch',"
        " 'json_quote', 'json_remove', 'json_replace', 'json_set', 'json_type', 'json_valid')";
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    found_code = open_calculator(&db);
    if (found_code == SQLITE_OK) {
        found_code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    }
    while (found_code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (name == NULL || strlen(name) >= NAME_MAX_LENGTH || found_count >= FUNCTIONS_MAX) {
            continue;
        }
        strcpy(found[found_count].name, name);
        found[found_count].argument_count = sqlite3_column_int(statement, 1);
        found_count++;
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

// `SELECT "json_set"(?1,?2,json(?3))`: a subtype does not come through a parameter.
static char *text_of_call(const char *name, int count, sqlite3_value **values) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "SELECT \"%w\"(", name);
    for (int index = 0; index < count; index++) {
        int is_json = sqlite3_value_subtype(values[index]) == JSON_SUBTYPE;
        const char *format = is_json ? "%sjson(?%d)" : "%s?%d";
        sqlite3_str_appendf(text, format, index == 0 ? "" : ",", index + 1);
    }
    sqlite3_str_appendchar(text, 1, ')');
    return sqlite3_str_finish(text);
}

static int prepare(json_function *self, int count, sqlite3_value **values) {
    if (self->calculator->db == NULL) {
        int code = open_calculator(&self->calculator->db);
        if (code != SQLITE_OK) return code;
    }
    char *sql = text_of_call(self->name, count, values);
    if (sql == NULL) return SQLITE_NOMEM;
    if (self->sql != NULL && strcmp(sql, self->sql) == 0) {
        sqlite3_free(sql);
        return SQLITE_OK;
    }
    sqlite3_finalize(self->statement);
    sqlite3_free(self->sql);
    self->statement = NULL;
    self->sql = sql;
    return sqlite3_prepare_v2(self->calculator->db, sql, -1, &self->statement, NULL);
}

static void call(sqlite3_context *context, int count, sqlite3_value **values) {
    json_function *self = sqlite3_user_data(context);
    int code = prepare(self, count, values);
    for (int index = 0; code == SQLITE_OK && index < count; index++) {
        code = sqlite3_bind_value(self->statement, index + 1, values[index]);
    }
    if (code == SQLITE_OK) code = sqlite3_step(self->statement);
    if (code == SQLITE_ROW) {
        sqlite3_value *answer = sqlite3_column_value(self->statement, 0);
        sqlite3_result_value(context, answer);
        sqlite3_result_subtype(context, sqlite3_value_subtype(answer));
    } else {
        sqlite3 *db = self->calculator->db;
        sqlite3_result_error(context, db == NULL ? "out of memory" : sqlite3_errmsg(db), -1);
        if (code == SQLITE_NOMEM || code == SQLITE_TOOBIG) sqlite3_result_error_code(context, code);
    }
    // The arguments are values of rows.
    sqlite3_reset(self->statement);
    sqlite3_clear_bindings(self->statement);
}

static void release(calculator *calculator) {
    if (--calculator->users > 0) return;
    sqlite3_close(calculator->db);
    free(calculator);
}

static void destroy(void *place) {
    json_function *self = place;
    sqlite3_finalize(self->statement);
    sqlite3_free(self->sql);
    release(self->calculator);
    free(self);
}

static int add(sqlite3 *db, calculator *calculator, int index) {
    json_function *self = calloc(1, sizeof *self);
    if (self == NULL) return SQLITE_NOMEM;
    self->calculator = calculator;
    self->name = found[index].name;
    calculator->users++;
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS | SQLITE_SUBTYPE;
    // It destroys what it does not take.
    return sqlite3_create_function_v2(
        db, self->name, found[index].argument_count, flags, self, call, NULL, NULL, destroy);
}

int csqliteguard_trust_json(sqlite3 *db) {
    pthread_once(&once, find_functions);
    if (found_code != SQLITE_OK || found_count == 0) return found_code;
    calculator *shared = calloc(1, sizeof *shared);
    if (shared == NULL) return SQLITE_NOMEM;
    // Ours until all functions are there.
    shared->users = 1;
    int code = SQLITE_OK;
    for (int index = 0; code == SQLITE_OK && index < found_count; index++) {
        code = add(db, shared, index);
    }
    release(shared);
    return code;
}
