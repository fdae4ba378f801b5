"""kill -9 in the middle of long purges of SQL stores: SQLite with a WAL and with a rollback journal, PostgreSQL, MariaDB.

The purges of `stores` are over too soon to be hit half-way. Judged by what each store's own client reads after each
kill and at the end.
"""

import hashlib
import os
import shutil
import sqlite3
import time

from checks import HANG_S, comes_true
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, Stage
from store_servers import TABLES, MySQL, PostgreSQL

# Of the user; a tenth of it belongs to others, between the user's rows.
ROWS = {"posts": 20_000, "likes": 20_000, "invoices": 10_000}
OWNERS = {"posts": "author", "likes": "owner", "invoices": "customer"}
TOTAL = sum(ROWS.values())
KILLS_EACH = 6
# After so many the receipt must know that its counts are not whole.
HALVES_MIN = 4
PATIENCE_S = 120

SCHEMA = """
CREATE TABLE posts (id {key}, author text NOT NULL, body text);
CREATE INDEX posts_author ON posts (author);
CREATE TABLE likes (post bigint NOT NULL REFERENCES posts, owner text NOT NULL, PRIMARY KEY (post, owner));
CREATE INDEX likes_owner ON likes (owner);
CREATE TABLE invoices (id {key}, customer text NOT NULL, name text, email text);
CREATE INDEX invoices_customer ON invoices (customer);
"""
FILL = """
INSERT INTO posts SELECT n, {owner}, 'post ' || n FROM {numbers_posts};
INSERT INTO likes SELECT id, author FROM posts;
INSERT INTO invoices SELECT n, {owner}, 'name ' || n, n || '@example.com' FROM {numbers_invoices};
"""
SECTION = """
[[store]]
name = "{name}"
{access}""" + TABLES + """[[store.table]]
table = "invoices"
column = "customer"
action = "anonymize"
set = {{ name = {{ strategy = "null" }}, email = {{ strategy = "hash" }} }}
keep_reason = "tax law, 10 years"
"""
LEFT = """
SELECT (SELECT count(*) FROM posts WHERE author = '{user}') + (SELECT count(*) FROM likes WHERE owner = '{user}')
+ (SELECT count(*) FROM invoices WHERE customer = '{user}' AND (name IS NOT NULL OR email NOT LIKE 'erased:%'))
"""


@scenario()
def long_purges(checks, seed):
    sandbox = Sandbox(BINARIES)
    stage = Stage(checks, seed, sandbox)
    stores = []
    try:
        os.chmod(stage.directory, 0o711)
        os.makedirs(stage.path("stores"), mode=0o711)
        user = f"user-{stage.random.getrandbits(80):020x}"
        stage.canaries.add(user)
        stores += [Lite(stage, "wal"), Lite(stage, "delete")]
        stores += [Server(stage), Maria(stage)]
        play(checks, stage, stores, user)
    finally:
        for store in stores:
            store.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def play(checks, stage, stores, user):
    for store in stores:
        store.fill(user)
    before = {store.name: others(store, user) for store in stores}
    checks.equal(f"in {len(stores)} stores the user has {TOTAL:,} rows in {len(ROWS)} tables, others a tenth of it",
                 [(store.left(user), [len(rows) for rows in before[store.name].values()]) for store in stores],
                 [(TOTAL, [count // 10 for count in ROWS.values()])] * len(stores))
    stage.starts()
    kill_inside(checks, stage, stores, user)
    left = {store.name: store.left(user) for store in stores}
    checks.check("of the user 0 rows are left in any of them", not any(left.values()), left)
    for store in stores:
        after = others(store, user)
        checks.check(f"{store.name}: what others have is as it was, in every table: " + ", ".join(
            f"{table} {checksum(rows)}" for table, rows in before[store.name].items()), after == before[store.name],
            {table: sorted(set(rows) ^ set(before[store.name][table]))[:3] for table, rows in after.items()})
        checks.equal(f"{store.name}: what is kept without its names is there, and the store is sound",
                     (store.rows(f"SELECT count(*) FROM invoices WHERE customer = '{user}'"), store.complaints()),
                     ([str(ROWS["invoices"])], []))
    stage.scan()


def others(store, user):
    """{table: the rows of everybody else}."""
    return {table: store.rows(f"SELECT * FROM {table} WHERE {owner} <> '{user}' ORDER BY 1, 2")
            for table, owner in OWNERS.items()}


def checksum(rows):
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:12]


def kill_inside(checks, stage, stores, user):
    """Kills just after as few rows are left of a store as chance wants, some times at each store."""
    request = stage.delete(user)[1]["id"]
    begun, slow, asked, state, left = time.monotonic(), 0, 0, None, {}
    goals = {store.name: TOTAL * stage.random.uniform(0.8, 1) for store in stores}
    halves = {store.name: [] for store in stores}
    while state != "completed" and time.monotonic() < begun + PATIENCE_S:
        # The state first: what it promises must be true of what is read after it.
        state = state_of(stage, request)
        asked += 1
        for store in stores:
            left[store.name] = store.left(user)
            if not 0 < left[store.name] < goals[store.name] or len(halves[store.name]) == KILLS_EACH:
                continue
            time.sleep(stage.random.uniform(0, 0.03))
            stage.kill()
            halves[store.name].append(store.left_aside(user))
            goals[store.name] = halves[store.name][-1] * stage.random.uniform(0.7, 1)
            stage.start()
            slow += not stage.comes_up()
    checks.equal(f"{sum(map(len, halves.values()))} kill -9 in {time.monotonic() - begun:.0f} s, after which of {TOTAL:,}"
                 " rows were left: " + "; ".join(f"{name} {counts}" for name, counts in halves.items()), slow, 0)
    half = {name: sum(0 < count < TOTAL for count in counts) for name, counts in halves.items()}
    checks.check(f"each store was left half-way {HALVES_MIN} times or more", min(half.values()) >= HALVES_MIN, half)
    if state != "completed":
        comes_true(lambda: state_of(stage, request) == "completed", 600)
        state = state_of(stage, request)
        left = {store.name: store.left(user) for store in stores}
    checks.equal("it goes on by itself and completes", state, "completed")
    checks.check(f"asked {asked} times, it never says so with something left",
                 state != "completed" or not any(left.values()), left)
    stated = {store["store"]: (store.get("counts"), sum(table["rows"] for table in store["tables"]))
            for store in stage.http("GET", f"/v1/requests/{request}/receipt")[1]["stores"]}
    checks.check("the receipt calls the counts of each store the least, and none is more than there was",
                 all(stated[name][0] == "at_least" and stated[name][1] <= TOTAL for name in half), stated)


def state_of(stage, request):
    try:
        return stage.http("GET", f"/v1/requests/{request}")[1]["state"]
    except GONE:
        return None


def filling(user, numbers):
    """The statements that fill a store; every eleventh row is of somebody with nearly the same id."""
    neighbours = (user + "x", user[:-1], user.upper(), user + " 2", "somebody")
    cases = " ".join(f"WHEN {place} THEN '{name}'" for place, name in enumerate(neighbours))
    return FILL.format(
        owner=f"CASE WHEN n % 11 = 0 THEN CASE n / 11 % {len(neighbours)} {cases} END ELSE '{user}' END",
        **{f"numbers_{table}": numbers(count // 10 * 11) for table, count in ROWS.items()})


class Lite:
    """A SQLite database of the application, with that journal."""

    def __init__(self, stage, mode):
        self.stage, self.mode, self.name = stage, mode, f"sqlite-{mode}"
        self.path = stage.path(f"app/{self.name}.db")

    def fill(self, user):
        def numbers(count):
            return f"""(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count})
                       SELECT n FROM c)"""
        with sqlite3.connect(self.path) as app:
            app.executescript(f"PRAGMA journal_mode = {self.mode};" + SCHEMA.format(key="INTEGER PRIMARY KEY")
                              + filling(user, numbers))
        app.close()
        with open(self.stage.path("expunged.toml"), "a") as file:
            file.write(SECTION.format(name=self.name, access=f'kind = "sqlite"\npath = "{self.path}"\n'))

    def rows(self, text, path=None):
        app = sqlite3.connect(path or self.path, timeout=HANG_S)
        try:
            return ["|".join(map(str, row)) for row in app.execute(text)]
        finally:
            app.close()

    def left(self, user, path=None):
        return int(self.rows(LEFT.format(user=user), path)[0])

    def left_aside(self, user):
        """In a copy, so that the journal a kill left behind is for the daemon to find."""
        aside = self.stage.path("aside")
        os.makedirs(aside)
        for ending in ("", "-journal", "-wal"):
            if os.path.exists(self.path + ending):
                shutil.copy(self.path + ending, os.path.join(aside, self.name + ending))
        count = self.left(user, os.path.join(aside, self.name))
        shutil.rmtree(aside)
        return count

    def complaints(self):
        return [row for row in self.rows("PRAGMA integrity_check") if row != "ok"] \
            + self.rows("PRAGMA foreign_key_check")

    def close(self):
        pass


class Server:
    """A real PostgreSQL, read by psql."""

    name = "postgresql"

    def __init__(self, stage, make=PostgreSQL):
        self.stage, self.store = stage, make(stage.path(f"stores/{self.name}"))
        self.session = self.store.session()

    def fill(self, user):
        self.store.sql(SCHEMA.format(key="bigint PRIMARY KEY")
                       + filling(user, lambda count: f"generate_series(1, {count}) n") + "ANALYZE;")
        with open(self.stage.path("expunged.toml"), "a") as file:
            file.write(SECTION.format(name=self.name, access=self.store.access(self.stage)))

    def rows(self, text):
        return self.store.sql(text)

    def left(self, user):
        self.session.stdin.write(LEFT.format(user=user) + ";\n")
        self.session.stdin.flush()
        return int(self.session.stdout.readline())

    left_aside = left

    def complaints(self):
        return self.rows("SELECT post FROM likes WHERE post NOT IN (SELECT id FROM posts)")

    def close(self):
        self.session.stdin.close()
        self.session.wait(HANG_S)
        self.store.close()


class Maria(Server):
    """A real MariaDB, read by its own client."""

    name = "mysql"

    def __init__(self, stage):
        super().__init__(stage, MySQL)

    def fill(self, user):
        schema = SCHEMA.format(key="bigint PRIMARY KEY").replace("text NOT NULL", "varchar(99) NOT NULL")
        self.store.sql("SET sql_mode = 'PIPES_AS_CONCAT';" + schema.replace("REFERENCES posts", "REFERENCES posts (id)")
                       + filling(user, lambda count: f"(SELECT seq AS n FROM seq_1_to_{count}) AS c"))
        with open(self.stage.path("expunged.toml"), "a") as file:
            file.write(SECTION.format(name=self.name, access=self.store.access(self.stage)))
