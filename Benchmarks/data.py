"""The application's database, its users, and the spool of the peer."""

import pathlib
import shutil
import sqlite3

# Rows of one user: 16 in three indexed tables.
ROWS = {"posts": 8, "comments": 6, "sessions": 2}
OWNER = {"posts": "author_id", "comments": "user_id", "sessions": "user_id"}

APP_SCHEMA = """
PRAGMA page_size = 4096;
PRAGMA journal_mode = WAL;
CREATE TABLE posts (id INTEGER PRIMARY KEY, author_id TEXT NOT NULL, created INTEGER NOT NULL,
                    title TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE comments (id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, created INTEGER NOT NULL,
                       post_id INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, created INTEGER NOT NULL,
                       agent TEXT NOT NULL);
"""
APP_INDEXES = """
CREATE INDEX posts_author ON posts (author_id);
CREATE INDEX comments_user ON comments (user_id);
CREATE INDEX sessions_user ON sessions (user_id);
"""

# docs/guides/spool-reference.md, as an application without expunged would write it.
USER_ID_CHECK = """CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 255
  AND instr(user_id, char(0)) = 0
  AND NOT user_id GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*')"""
SPOOL_SCHEMA = f"""
CREATE TABLE spool_meta (spool_id TEXT NOT NULL) STRICT;
CREATE TABLE requests (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  kind            TEXT NOT NULL CHECK (kind IN ('delete_account', 'revoke_tokens')),
  user_id         TEXT NOT NULL {USER_ID_CHECK},
  idempotency_key TEXT UNIQUE CHECK (length(idempotency_key) <= 255),
  options         TEXT NOT NULL DEFAULT '{{}}' CHECK (length(options) <= 4096
                    AND json_type(options) = 'object'),
  created_at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  request_id      TEXT,
  state           TEXT NOT NULL DEFAULT 'submitted',
  detail          TEXT,
  updated_at      TEXT
) STRICT;
PRAGMA user_version = 1;
"""


def user_id(number: int) -> str:
    return f"usr_{number:08d}_a7c1e9"


def refresh_token(number: int) -> str:
    return f"r{number:08d}." + "0.mrqtx." + f"{number * 2654435761 % 2**32:08x}" * 6


def make_app(path: pathlib.Path, user_count: int) -> None:
    """Twice `user_count` users, interleaved: every second one stays."""
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript(APP_SCHEMA)
    database.execute("PRAGMA synchronous = OFF")
    users = [user_id(number) for number in range(2 * user_count)]
    body = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 2
    columns = {
        "posts": ("author_id, created, title, body", lambda n, u: (u, 1700000000 + n, "Title", body)),
        "comments": ("user_id, created, post_id, body", lambda n, u: (u, 1700000000 + n, n, body)),
        "sessions": ("user_id, created, agent", lambda n, u: (u, 1700000000 + n, "Mozilla/5.0")),
    }
    database.execute("BEGIN")
    for table, (names, values) in columns.items():
        marks = ", ".join("?" * (names.count(",") + 1))
        # Round by round, so that the rows of a user lie apart as in a grown database.
        for number in range(ROWS[table]):
            database.executemany(
                f"INSERT INTO {table} ({names}) VALUES ({marks})",
                (values(number, user) for user in users),
            )
    database.execute("COMMIT")
    database.executescript(APP_INDEXES)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def make_token_store(path: pathlib.Path, user_count: int) -> None:
    """Where the peer's application keeps its refresh tokens."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("CREATE TABLE tokens (user_id TEXT PRIMARY KEY, refresh_token TEXT NOT NULL)")
    database.execute("BEGIN")
    database.executemany(
        "INSERT INTO tokens VALUES (?, ?)",
        ((user_id(2 * n), refresh_token(2 * n)) for n in range(user_count)),
    )
    database.execute("COMMIT")
    database.close()


def make_spool(path: pathlib.Path) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript(SPOOL_SCHEMA)
    database.execute("INSERT INTO spool_meta VALUES (lower(hex(randomblob(16))))")
    database.close()


def open_spool(path: pathlib.Path) -> sqlite3.Connection:
    """As the contract asks of applications."""
    database = sqlite3.connect(path, isolation_level=None, timeout=30)
    database.execute("PRAGMA synchronous = EXTRA")
    return database


def submit_credentials(path: pathlib.Path, user_numbers: range, provider: str,
                       token=refresh_token) -> None:
    database = open_spool(path)
    database.execute("BEGIN IMMEDIATE")
    database.executemany(
        "INSERT INTO credentials (user_id, provider, client_id, kind, secret) "
        "VALUES (?, ?, 'com.example.app', 'refresh_token', ?)",
        ((user_id(n), provider, token(n)) for n in user_numbers),
    )
    database.execute("COMMIT")
    database.close()


def submit_requests(path: pathlib.Path, user_numbers: range) -> None:
    """All in one transaction."""
    database = open_spool(path)
    database.execute("BEGIN IMMEDIATE")
    database.executemany(
        "INSERT INTO requests (kind, user_id) VALUES ('delete_account', ?)",
        ((user_id(n),) for n in user_numbers),
    )
    database.execute("COMMIT")
    database.close()


def copy_database(source: pathlib.Path, copy: pathlib.Path) -> None:
    shutil.copyfile(source, copy)


def check_purged(path: pathlib.Path, user_count: int) -> list[str]:
    """What is wrong with the application's database: rows left, or rows of others gone."""
    database = sqlite3.connect(path, isolation_level=None, timeout=30)
    database.execute("CREATE TEMP TABLE gone (user_id TEXT PRIMARY KEY)")
    database.execute("BEGIN")
    database.executemany("INSERT INTO gone VALUES (?)", ((user_id(2 * n),) for n in range(user_count)))
    database.execute("COMMIT")
    problems = []
    for table, per_user in ROWS.items():
        owner = OWNER[table]
        total = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        left = database.execute(
            f"SELECT count(*) FROM {table} WHERE {owner} IN (SELECT user_id FROM gone)"
        ).fetchone()[0]
        if left:
            problems.append(f"{left} rows of deleted users are left in {table}")
        if total - left != per_user * user_count:
            problems.append(
                f"{table} has {total - left} rows of other users instead of {per_user * user_count}"
            )
    integrity = database.execute("PRAGMA integrity_check").fetchone()[0]
    if integrity != "ok":
        problems.append(f"integrity check of the application database: {integrity}")
    database.close()
    return problems
