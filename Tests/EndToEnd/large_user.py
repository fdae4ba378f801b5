"""A user with a million rows: the daemon stays small, and the application goes on writing beside the purge."""

import os
import sqlite3
import subprocess
import threading
import time

from checks import comes_true
from sandbox import Sandbox
from stage import BINARIES, Stage
from store_servers import PostgreSQL

ROWS, OTHERS = 1_000_000, 20_000
RESIDENT_MIB_MAX = 96
WAIT_MS_MAX = 100
# Of the writes: other programs have the processors, too, and a write waits for them as well.
LATE_SHARE = 0.001
PURGE_S_MAX = 120
# As an application that shows pages to people.
PAUSE_S = 0.002

# One row of another between fifty of the user's, on nearly every page.
FILL = ("INSERT INTO posts (author_id, body) SELECT CASE WHEN n % 51 = 0 THEN 'other-' || (n % 50) ELSE '{user}' END,"
        " 'text ' || n FROM {numbers}")
CHECKSUM = "SELECT count(*), sum(id), sum(length(body)) FROM posts WHERE author_id LIKE 'other-%'"
WRITES = ("INSERT INTO posts (author_id, body) VALUES ('writer', 'x');"
          "UPDATE posts SET body = 'y' WHERE id = (SELECT max(id) FROM posts WHERE author_id = 'writer');")


def large_user(checks, seed):
    sandbox = Sandbox(BINARIES)
    stage = Stage(checks, seed, sandbox)
    store = None
    try:
        os.chmod(stage.directory, 0o711)
        os.makedirs(stage.path("stores"), mode=0o711)
        store = PostgreSQL(stage.path("stores/postgresql"))
        for database in (Lite(stage), Server(stage, store)):
            purge(checks, stage, database)
        stage.scan()
    finally:
        if store:
            store.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def purge(checks, stage, database):
    """Each store in a run of its own, so that the most that was resident is its own."""
    user = f"user-{stage.dice.getrandbits(80):020x}"
    stage.canaries.add(user)
    database.fill(user)
    others = database.one(CHECKSUM)
    checks.equal(f"{database.name}: the user has {ROWS:,} rows, others {OTHERS:,}",
                 (database.count(user), others.split("|")[0]), (ROWS, str(OTHERS)))
    stage.starts()
    idle = resident_mib(stage, "VmRSS")
    writer = Writer(database)
    time.sleep(2)
    calm = writer.waits[:]
    begun = time.monotonic()
    request = stage.delete(user)[1]["id"]
    ended = comes_true(lambda: stage.http("GET", f"/v1/requests/{request}")[1]["state"] == "completed",
                       PURGE_S_MAX, 0.1)
    took = time.monotonic() - begun
    waits = writer.stop()[len(calm):]
    peak = resident_mib(stage, "VmHWM")
    late = sum(wait > WAIT_MS_MAX for wait in waits)
    checks.check(f"{database.name}: it completes in {took:.0f} s", ended, stage.log()[-2000:])
    checks.check(f"{database.name}: {peak:.0f} MiB resident at most ({idle:.0f} before), of {RESIDENT_MIB_MAX}",
                 peak <= RESIDENT_MIB_MAX)
    checks.check(f"{database.name}: the longest of {len(waits)} writes beside it waited {max(waits):.0f} ms"
                 f" ({max(calm):.0f} of {len(calm)} before), {late} over {WAIT_MS_MAX}",
                 len(waits) > 100 and late <= LATE_SHARE * len(waits), sorted(waits)[-20:])
    checks.equal(f"{database.name}: nothing of the user is left", database.count(user), 0)
    checks.equal(f"{database.name}: what others have is as it was", database.one(CHECKSUM), others)
    checks.equal(f"{database.name}: every write of the writer is there", database.count("writer"),
                 len(writer.waits))
    stage.stop()


def resident_mib(stage, line):
    """Of the daemon, by the kernel (proc(5))."""
    with open(f"/proc/{stage.daemon.pid}/status") as file:
        return int(next(text for text in file if text.startswith(line)).split()[1]) / 1024


class Writer(threading.Thread):
    """An application that writes to the same table, and notes how long each transaction took, in ms."""

    def __init__(self, database):
        super().__init__(daemon=True)
        self.database, self.waits, self.is_over = database, [], threading.Event()
        self.start()

    def run(self):
        write, close = self.database.writer()
        while not self.is_over.wait(PAUSE_S):
            begun = time.monotonic()
            write()
            self.waits.append((time.monotonic() - begun) * 1000)
        close()

    def stop(self):
        self.is_over.set()
        self.join(30)
        return self.waits


class Lite:
    """The application's SQLite database that every stage has, looked at by sqlite3."""

    name = "sqlite"

    def __init__(self, stage):
        self.stage = stage

    def fill(self, user):
        with sqlite3.connect(self.stage.app) as app:
            # The judge of the other scenarios would write a million rows of its own.
            app.execute("DROP TRIGGER judge")
            app.execute(FILL.format(user=user, numbers="""(WITH RECURSIVE c(n) AS
                (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c)""" % (ROWS + OTHERS)))

    def one(self, text):
        done = subprocess.run(["sqlite3", self.stage.app, text], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def count(self, user):
        return int(self.one(f"SELECT count(*) FROM posts WHERE author_id = '{user}'"))

    def writer(self):
        app = sqlite3.connect(self.stage.app, timeout=30, isolation_level=None)

        def write():
            app.executescript(f"BEGIN IMMEDIATE; {WRITES} COMMIT;")
        return write, app.close


class Server:
    """A real PostgreSQL, looked at by psql; its section is what is appended to the configuration."""

    name = "postgresql"

    def __init__(self, stage, store):
        self.stage, self.store = stage, store

    def fill(self, user):
        self.store.sql(
            "CREATE TABLE posts (id bigserial PRIMARY KEY, author_id text NOT NULL, body text);"
            + FILL.format(user=user, numbers=f"generate_series(1, {ROWS + OTHERS}) n")
            + "; CREATE INDEX ON posts (author_id); ANALYZE posts;")
        with open(self.stage.path("expunged.toml"), "a") as file:
            file.write(f'\n[[target]]\nname = "app-pg"\n{self.store.access(self.stage)}'
                       '[[target.table]]\ntable = "posts"\ncolumn = "author_id"\naction = "delete"\n')

    def one(self, text):
        return self.store.sql(text)[0]

    def count(self, user):
        return int(self.one(f"SELECT count(*) FROM posts WHERE author_id = '{user}'"))

    def writer(self):
        session = self.store.session()

        def write():
            session.stdin.write(f"BEGIN; {WRITES} COMMIT;\n\\echo written\n")
            session.stdin.flush()
            assert session.stdout.readline() == "written\n"

        def close():
            session.stdin.close()
            session.wait(10)
        return write, close
