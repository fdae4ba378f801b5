"""Thousands of users with a hundred rows each: how many a second, at every database, beside an application that writes."""

import os
import sqlite3
import statistics
import time

from checks import HANG_S, comes_true
from large_user import resident_mib
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, Stage
from store_servers import MySQL, PostgreSQL
from writer import Writer, in_session, in_sqlite

ROWS = 100
# Nobody's, whose sum has to stay.
OTHERS = 50
WAIT_P99_MS_MAX, WAIT_MS_MAX = 50, 100
USERS_A_SECOND = 1000
# As many as a campaign needs; fewer show that it works, and nothing about the speed.
CAMPAIGN = 5000
# Writes before the purge, as those beside it are compared with.
CALM = 200
LEFT = "SELECT count(*) FROM items WHERE owner LIKE 'user-%'"
OTHERS_SUM = "SELECT count(*), sum(id), sum(length(body)) FROM items WHERE owner LIKE 'other-%'"
WRITES = ("INSERT INTO items (owner, body) VALUES ('writer', 'x');"
          "UPDATE items SET body = 'y' WHERE id = (SELECT max(id) FROM items WHERE owner = 'writer');")

SECTION = """
[[store]]
name = "{name}"
{access}[[store.table]]
table = "items"
column = "owner"
action = "delete"
"""


@scenario()
def purge_speed(checks, seed, users=300):
    sandbox = Sandbox(BINARIES)
    rates = {}
    try:
        for kind in (Lite, Postgres, Maria):
            rates[kind.name] = measure(checks, seed, sandbox, kind, users)
    finally:
        sandbox.close()
    for name in ("postgresql", "mysql"):
        print(f"     {name}: {rates[name] / rates['sqlite']:.2f} of the users a second of SQLite")


def measure(checks, seed, sandbox, kind, users):
    stage = Stage(checks, seed, sandbox)
    database = None
    try:
        os.chmod(stage.directory, 0o711)
        os.makedirs(stage.path("stores"), mode=0o711)
        database = kind(stage)
        names = [f"user-{stage.random.getrandbits(80):020x}" for _ in range(users)]
        stage.canaries.add(*names[:20])
        database.fill(names)
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(SECTION.format(name=kind.name, access=database.access()))
        return purge(checks, stage, database, names)
    finally:
        if database:
            database.close()
        stage.close(keep=bool(checks.failed))


def purge(checks, stage, database, names):
    name, count = database.name, len(names)
    others = database.one(OTHERS_SUM)
    checks.equal(f"{name}: {count:,} users have {ROWS} rows each", int(database.one(LEFT)), count * ROWS)
    stage.starts()
    writer = Writer(database)
    comes_true(lambda: len(writer.waits) >= CALM)
    calm = writer.waits[:]
    begun = time.monotonic()
    submit(stage.spool, names)
    done = comes_true(lambda: completed(stage) >= count, 900 + count / 10, 0.1)
    took = time.monotonic() - begun
    waits = writer.stop()[len(calm):]
    rate = count / took
    checks.check(f"{name}: all of them complete, {rate:,.0f} users a second", done, stage.log()[-2000:])
    print(f"     {name}: a write beside it waits {statistics.median(waits or [0]):.1f} ms in the middle,"
          f" {max(waits, default=0):.0f} at most of {len(waits)} (before: {max(calm, default=0):.0f} at most of {len(calm)})")
    if count >= CAMPAIGN and name != "sqlite":
        p99 = statistics.quantiles(waits, n=100)[98]
        checks.check(f"{name}: writes wait {p99:.1f} ms at the 99th percentile, at most {WAIT_P99_MS_MAX}, and {WAIT_MS_MAX} at worst",
                     p99 <= WAIT_P99_MS_MAX and max(waits) <= WAIT_MS_MAX, sorted(waits)[-20:])
        checks.check(f"{name}: at least {USERS_A_SECOND} users a second", rate >= USERS_A_SECOND, rate)
    peak = resident_mib(stage, "VmHWM")
    print(f"     {name}: {peak:.0f} MiB resident at most")
    checks.equal(f"{name}: nothing of them is left", int(database.one(LEFT)), 0)
    checks.equal(f"{name}: what others have is as it was", database.one(OTHERS_SUM), others)
    stage.scan()
    stage.stop()
    return rate


def submit(spool, names):
    queue = sqlite3.connect(spool, timeout=HANG_S)
    with queue:
        queue.executemany("INSERT INTO requests (kind, user_id) VALUES ('delete_account', ?)", [(name,) for name in names])
    queue.close()


def completed(stage):
    return stage.http("GET", "/v1/status")[1]["requests"].get("completed", 0)


class Lite:
    name = "sqlite"

    def __init__(self, stage):
        self.path = stage.path("app/items.db")

    def access(self):
        return f'kind = "sqlite"\npath = "{self.path}"\n'

    def fill(self, names):
        app = sqlite3.connect(self.path)
        app.executescript("PRAGMA journal_mode = wal; CREATE TABLE items (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, body TEXT);")
        with app:
            app.executemany("INSERT INTO items (owner, body) VALUES (?, ?)", rows(names))
        app.executescript("CREATE INDEX items_owner ON items (owner);")
        app.close()

    def one(self, text):
        app = sqlite3.connect(self.path, timeout=HANG_S)
        try:
            return "|".join(map(str, app.execute(text).fetchone()))
        finally:
            app.close()

    def writer(self):
        return in_sqlite(self.path, WRITES)

    def close(self):
        pass


class AtServer:
    """A real server that keeps its promise of durability."""

    def __init__(self, stage):
        self.stage, self.server = stage, self.start(stage.path(f"stores/{self.name}"))

    def access(self):
        return self.server.access(self.stage)

    def one(self, text):
        return self.server.sql(text)[0].replace("\t", "|")

    def load(self, names, begin, end):
        """Rows through the client's input, some thousands a statement."""
        values = [f"('{owner}','{body}')" for owner, body in rows(names)]
        for index in range(0, len(values), 5000):
            self.server.sql(f"{begin} INSERT INTO items (owner, body) VALUES {','.join(values[index:index + 5000])}; {end}")

    def writer(self):
        return in_session(self.server.session(), WRITES, self.echo)

    def close(self):
        self.server.close()


class Postgres(AtServer):
    name, echo = "postgresql", "\\echo written"

    def start(self, directory):
        return PostgreSQL(directory, is_durable=True)

    def fill(self, names):
        self.server.sql("CREATE TABLE items (id bigserial PRIMARY KEY, owner text NOT NULL, body text);")
        self.load(names, "", "")
        self.server.sql("CREATE INDEX ON items (owner); ANALYZE items; CHECKPOINT;")


class Maria(AtServer):
    name, echo = "mysql", "SELECT 'written';"

    def start(self, directory):
        # The table fits in it, as MariaDB's manual wants it ("innodb_buffer_pool_size"): otherwise the disk is measured.
        return MySQL(directory, is_durable=True, buffer_pool="512M")

    def fill(self, names):
        self.server.sql("CREATE TABLE items (id bigint AUTO_INCREMENT PRIMARY KEY, owner varchar(60) NOT NULL, body text);")
        self.load(names, "BEGIN;", "COMMIT;")
        self.server.sql("CREATE INDEX items_owner ON items (owner); ANALYZE TABLE items;")


def rows(names):
    """Each user's rows lie among those of others, as they do in a table that grew."""
    owners = names + [f"other-{number}" for number in range(OTHERS)]
    return ((owner, f"text {number} of somebody") for number in range(ROWS) for owner in owners)
