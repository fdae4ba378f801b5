"""A user with a million rows: the daemon stays small, and the application goes on writing beside plan and purge."""

import json
import os
import sqlite3
import statistics
import subprocess
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from lock_holds import LockHolds
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, Stage
from store_servers import MySQL, PostgreSQL
from writer import Writer, in_session, in_sqlite

ROWS, OTHERS = 1_000_000, 20_000
RESIDENT_MIB_MAX = 96
WAIT_P99_MS_MAX, WAIT_MS_MAX = 50, 100
# One transaction of ours in a SQLite database.
HOLD_MS_MAX = 25
# How many transactions may last longer, and how many writes may come late. Where somebody waits for a processor for more
# than a tenth of the time before the purge begins, ours are taken away from us in the middle, too: that says little.
BUSY = 0.1
LONG_SHARE = {False: 0.05, True: 1}
LATE_SHARE = {False: 0, True: 0.1}
# How many times the time of SQLite a purge in PostgreSQL may take; a busy machine has no processor for the second process.
SERVER_TIMES = {False: 2, True: 4}
PURGE_S_MAX = PLAN_S_MAX = 900
CALM_S = 2

# One row of another between fifty of the user's, on nearly every page.
FILL = ("INSERT INTO posts (author_id, body) SELECT CASE WHEN n % 51 = 0 THEN 'other-' || (n % 50) ELSE '{user}' END,"
        " 'text ' || n FROM {numbers}")
CHECKSUM = "SELECT count(*), sum(id), sum(length(body)) FROM posts WHERE author_id LIKE 'other-%'"
WRITES = ("INSERT INTO posts (author_id, body) VALUES ('writer', 'x');"
          "UPDATE posts SET body = 'y' WHERE id = (SELECT max(id) FROM posts WHERE author_id = 'writer');")

SECTION = """
[[store]]
name = "{name}"
{access}[[store.table]]
table = "posts"
column = "author_id"
action = "delete"
"""


@scenario(alone=True, bars=True)
def large_user(checks, seed):
    sandbox = Sandbox(BINARIES)
    stage = Stage(checks, seed, sandbox)
    servers, runs = [], {}
    try:
        os.chmod(stage.directory, 0o711)
        os.makedirs(stage.path("stores"), mode=0o711)
        for kind in (lambda: Lite(stage, "wal"), lambda: Lite(stage, "delete"), lambda: Server(stage), lambda: Maria(stage)):
            database = kind()
            if isinstance(database, Server):
                servers.append(database.store)
            runs[database.name] = purge(checks, stage, database)
        compare(checks, runs)
        stage.scan()
    finally:
        for server in servers:
            server.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def compare(checks, runs):
    """Ratios hold on any machine, as times do not."""
    lite, is_busy = runs["sqlite-wal"][0], any(busy > BUSY for _, busy in runs.values())
    for name in ("postgresql", "mysql"):
        print(f"     {name}: {runs[name][0] / lite:.1f} times the time of SQLite")
    if HOLDS_BARS:
        checks.check(f"postgresql takes at most {SERVER_TIMES[is_busy]} times the time of SQLite",
                     runs["postgresql"][0] <= SERVER_TIMES[is_busy] * lite, runs)


def purge(checks, stage, database):
    """Each store in a run of its own, so that the most that was resident is its own.

    Answers how long it took, and how busy the machine was.
    """
    user = f"user-{stage.random.getrandbits(80):020x}"
    stage.canaries.add(user)
    database.fill(user)
    others = database.one(CHECKSUM)
    checks.equal(f"{database.name}: the user has {ROWS:,} rows, others {OTHERS:,}",
                 (database.count(user), others.split("|")[0]), (ROWS, str(OTHERS)))
    plan(checks, stage, database, user)
    written = database.count("writer")
    stage.starts()
    idle = resident_mib(stage, "VmRSS")
    writer = Writer(database)
    busy = how_busy()
    if HOLDS_BARS:
        print(f"     somebody waits for a processor {busy:.0%} of the time")
    calm = writer.waits[:]
    holds = database.watch(stage.daemon.pid) if HOLDS_BARS else None
    begun = time.monotonic()
    request = stage.delete(user)[1]["id"]
    ended = comes_true(lambda: stage.http("GET", f"/v1/requests/{request}")[1]["state"] == "completed",
                       PURGE_S_MAX, 0.1)
    took = time.monotonic() - begun
    waits = writer.stop()[len(calm):]
    if holds:
        judge_holds(checks, database, holds.stop(), LONG_SHARE[busy > BUSY])
    peak = resident_mib(stage, "VmHWM")
    late = sum(wait > WAIT_MS_MAX for wait in waits)
    checks.check(f"{database.name}: it completes in {took:.1f} s", ended, stage.log()[-2000:])
    print(f"     {peak:.0f} MiB resident at most ({idle:.0f} before); the longest of {len(waits)} writes beside it waited"
          f" {max(waits, default=0):.0f} ms ({max(calm, default=0):.0f} of {len(calm)} before), {late} over {WAIT_MS_MAX}")
    if HOLDS_BARS:
        checks.check(f"{database.name}: at most {RESIDENT_MIB_MAX} MiB resident", peak <= RESIDENT_MIB_MAX, peak)
        checks.check(f"{database.name}: no write beside it waits for long",
                     len(waits) > 100 and late <= LATE_SHARE[busy > BUSY] * len(waits), sorted(waits)[-20:])
        p99 = statistics.quantiles(waits, n=100)[98]
        checks.check(f"{database.name}: one of a hundred writes waited {p99:.1f} ms or longer",
                     busy > BUSY or p99 <= WAIT_P99_MS_MAX, sorted(waits)[-20:])
    checks.equal(f"{database.name}: nothing of the user is left", database.count(user), 0)
    checks.equal(f"{database.name}: what others have is as it was", database.one(CHECKSUM), others)
    checks.equal(f"{database.name}: every write of the writer is there", database.count("writer") - written,
                 len(writer.waits))
    stage.stop()
    return took, busy


def plan(checks, stage, database, user):
    """A dry run counts every row; with a rollback journal no commit can be made beside a reader."""
    stage.starts()
    writer = Writer(database)
    busy = how_busy()
    calm = writer.waits[:]
    begun = time.monotonic()
    done = stage.run("expungectl", "plan", user, "--json", timeout=PLAN_S_MAX)
    took = time.monotonic() - begun
    waits = writer.stop()[len(calm):]
    late = sum(wait > WAIT_MS_MAX for wait in waits)
    items = [item for store in json.loads(done.stdout)["stores"] for item in store["items"]] if done.stdout else []
    checks.equal(f"{database.name}: a plan counts all of them in {took:.1f} s",
                 (sum(item["count"] for item in items), any(item["or_more"] for item in items)), (ROWS, False))
    print(f"     the longest of {len(waits)} writes beside it waited {max(waits, default=0):.0f} ms"
          f" ({max(calm, default=0):.0f} of {len(calm)} before), {late} over {WAIT_MS_MAX}")
    if HOLDS_BARS:
        checks.check(f"{database.name}: no write beside a plan waits for long",
                     late <= LATE_SHARE[busy > BUSY] * len(waits), sorted(waits)[-20:])
    stage.stop()


def judge_holds(checks, database, holds, allowed):
    """How long the application was kept out each time, seen from outside."""
    middle, over = holds[len(holds) // 2], sum(hold > HOLD_MS_MAX for hold in holds)
    checks.check(f"{database.name}: the write lock is held {len(holds)} times, {middle:.1f} ms in the middle and"
                 f" {holds[-1]:.1f} at most, {over} times over {HOLD_MS_MAX}",
                 len(holds) > 30 and over <= allowed * len(holds), holds[-20:])


def how_busy():
    """The share of some seconds in which somebody waits for a processor; only the bars depend on it."""
    if not HOLDS_BARS:
        return 0
    stood = stood_still_s()
    time.sleep(CALM_S)
    return (stood_still_s() - stood) / CALM_S


def stood_still_s():
    """How long something was ready to run without a processor, since the boot (PSI); 0 if the kernel does not say."""
    try:
        with open("/proc/pressure/cpu") as file:
            return int(file.readline().rsplit("total=")[1]) / 1_000_000
    except OSError:
        return 0


def resident_mib(stage, line):
    """Of the daemon, by the kernel (proc(5))."""
    with open(f"/proc/{stage.daemon.pid}/status") as file:
        return int(next(text for text in file if text.startswith(line)).split()[1]) / 1024


class Lite:
    """A SQLite database of the application, looked at by sqlite3."""

    def __init__(self, stage, mode):
        self.stage, self.is_wal, self.name = stage, mode == "wal", f"sqlite-{mode}"
        self.path = stage.path(f"app/{mode}.db")

    def fill(self, user):
        numbers = f"""(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {ROWS + OTHERS})
                      SELECT n FROM c)"""
        app = sqlite3.connect(self.path)
        app.executescript(f"PRAGMA journal_mode = {'wal' if self.is_wal else 'delete'};"
                          "CREATE TABLE posts (id INTEGER PRIMARY KEY, author_id TEXT NOT NULL, body TEXT);"
                          + FILL.format(user=user, numbers=numbers) + "; CREATE INDEX posts_author ON posts (author_id);")
        app.close()
        with open(self.stage.path("expunged.toml"), "a") as file:
            file.write(SECTION.format(name=self.name, access=f'kind = "sqlite"\npath = "{self.path}"\n'))

    def one(self, text):
        done = subprocess.run(["sqlite3", "-cmd", f".timeout {HANG_S * 1000}", self.path, text], capture_output=True,
                              text=True, check=True)
        return done.stdout.strip()

    def count(self, user):
        return int(self.one(f"SELECT count(*) FROM posts WHERE author_id = '{user}'"))

    def watch(self, pid):
        return LockHolds(self.path, self.is_wal, pid)

    def writer(self):
        return in_sqlite(self.path, WRITES)


class Server:
    """A real PostgreSQL that keeps its promise of durability; its section is appended to the configuration."""

    name, echo = "postgresql", "\\echo written"
    numbers = f"generate_series(1, {ROWS + OTHERS}) n"
    table = "CREATE TABLE posts (id bigserial PRIMARY KEY, author_id text NOT NULL, body text);"
    index = "CREATE INDEX ON posts (author_id); ANALYZE posts; CHECKPOINT;"

    def __init__(self, stage):
        self.stage, self.store = stage, self.start(stage.path(f"stores/{self.name}"))

    def start(self, directory):
        return PostgreSQL(directory, is_durable=True)

    def fill(self, user):
        self.store.sql(self.table + FILL.format(user=user, numbers=self.numbers) + "; " + self.index)
        with open(self.stage.path("expunged.toml"), "a") as file:
            file.write(SECTION.format(name=self.name, access=self.store.access(self.stage)))

    def one(self, text):
        return self.store.sql(text)[0].replace("\t", "|")

    def count(self, user):
        return int(self.one(f"SELECT count(*) FROM posts WHERE author_id = '{user}'"))

    def watch(self, pid):
        """Its locks are of rows: none keeps the application out."""

    def writer(self):
        return in_session(self.store.session(), WRITES, self.echo)


class Maria(Server):
    name, echo = "mysql", "SELECT 'written';"
    numbers = f"(SELECT seq AS n FROM seq_1_to_{ROWS + OTHERS}) AS numbers"
    table = ("SET sql_mode = 'PIPES_AS_CONCAT';"
             "CREATE TABLE posts (id bigint AUTO_INCREMENT PRIMARY KEY, author_id varchar(60) NOT NULL, body text);")
    index = "CREATE INDEX posts_author ON posts (author_id); ANALYZE TABLE posts;"

    def start(self, directory):
        return MySQL(directory, is_durable=True)
