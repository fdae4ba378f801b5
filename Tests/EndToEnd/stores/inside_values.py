"""Ids inside values: JSON, arrays, lists and texts of three SQL stores, under kill -9.

What each store's own client reads is compared with what the same change in Python leaves of the same rows.
"""

import collections
import contextlib
import json
import os
import re
import sqlite3
import time

from checks import HANG_S, comes_true
from scenario import scenario
from stage import GONE, Stage
from store_servers import MySQL, PostgreSQL
from stores import busy

ERASED, OTHERS, ROWS = 18, 40, 120
# A name with a letter beyond ASCII, which JSON may escape.
BJORN = "bj\u00f6rn"

TABLES = {
    "documents": "meta {json}", "boards": "members {text}", "comments": "body {text}", "letters": "head {json}"}
RULES = """[[store.table]]
table = "users"
column = "id"
action = "delete"
[[store.table]]
table = "documents"
column = "meta"
inside = "json"
path = "$.editors[*].id"
action = "anonymize"
set = { meta = { strategy = "remove", path = "$.editors[*]" } }
keep_reason = "documents of the team"
[[store.table]]
table = "documents"
column = "meta"
inside = "json"
path = "$.log[*].by"
action = "anonymize"
set = { meta = { strategy = "constant", value = "nobody", path = "$.log[*].by" } }
keep_reason = "history of the team"
[[store.table]]
table = "boards"
column = "members"
inside = "list"
separator = ","
action = "anonymize"
set = { members = { strategy = "remove" } }
keep_reason = "boards of the team"
[[store.table]]
table = "comments"
column = "body"
inside = "text"
pattern = "@{users.name}"
action = "anonymize"
set = { body = { strategy = "constant", value = "@deleted" } }
keep_reason = "comments of others"
[[store.table]]
table = "letters"
column = "head"
inside = "json"
path = "$.to[*]"
via = "users.name"
action = "anonymize"
set = { head = { strategy = "remove", path = "$.to[*]" } }
keep_reason = "letters of others"
"""
ARRAYS = """[[store.table]]
table = "rooms"
column = "members"
inside = "array"
action = "anonymize"
set = { members = { strategy = "remove" } }
keep_reason = "rooms of the team"
"""


@scenario()
def inside_values(checks, seed):
    stage = Stage(checks, seed)
    stage.unjudged = "the tables hold ids inside values"
    stores = []
    try:
        os.chmod(stage.directory, 0o711)
        os.makedirs(stage.path("stores"), mode=0o711)
        town = Town(stage.random)
        stage.canaries.add(*town.erased)
        stores += [Lite(stage), Elephant(stage), Dolphin(stage)]
        for store in stores:
            store.fill(town)
        configure(stage, stores)
        play(checks, stage, stores, town)
        breaks(checks, stage, stores[0], town)
        stage.scan()
    finally:
        for store in stores:
            store.close()
        stage.close(keep=bool(checks.failed))


class Town:
    """Users with names, and rows that name several of them each."""

    def __init__(self, random):
        self.random = random
        self.erased = [f"user-{n}-{random.getrandbits(80):020x}" for n in range(ERASED)]
        # Some differ from an erased one by a letter, its case or a blank.
        alike = [name for user in self.erased[:4] for name in (user + "x", user[:-1], user.upper())]
        self.others = alike + [f"other-{n}-{random.getrandbits(80):020x}" for n in range(OTHERS)]
        self.names = {user: f"{('ann', BJORN)[n % 2]}{n}" for n, user in enumerate(self.erased + self.others)}
        self.rows = {table: {n: make() for n in range(ROWS)} for table, make in {
            "documents": self._document, "boards": lambda: ",".join(self._some()), "comments": self._comment,
            "letters": lambda: {"to": self._named(), "re": 1.5}, "rooms": self._some}.items()}

    def _some(self):
        return [self.random.choice(self.erased + self.others) for _ in range(self.random.randrange(6))]

    def _named(self):
        return [self.names[user] for user in self._some()]

    def _comment(self):
        return " and ".join(f"@{name}, (@{name}x) {name}" for name in self._named())

    def _document(self):
        return {"title": "T\u00f6 \"x\"", "n": [1, True, None],
                "editors": [{"id": user, "at": n} for n, user in enumerate(self._some())],
                "log": [{"by": user} for user in self._some()]}

    def without(self, users):
        """What the rules leave when these are erased."""
        names = {self.names[user] for user in users}
        mentions = re.compile("@(?:" + "|".join(map(re.escape, sorted(names))) + r")(?!\w)")
        change = {
            "documents": lambda row: dict(
                row, editors=[editor for editor in row["editors"] if editor["id"] not in users],
                log=[{"by": "nobody" if entry["by"] in users else entry["by"]} for entry in row["log"]]),
            "boards": lambda row: ",".join(user for user in row.split(",") if user not in users),
            "comments": lambda row: mentions.sub("@deleted", row) if users else row,
            "letters": lambda row: dict(row, to=[name for name in row["to"] if name not in names]),
            "rooms": lambda row: [user for user in row if user not in users]}
        return {table: {n: change[table](row) for n, row in rows.items()} for table, rows in self.rows.items()}


def written(value, random):
    """JSON in one of the ways in which programs write the same: with escapes, or with blanks."""
    text = json.dumps(value, ensure_ascii=bool(random.randrange(2)), indent=random.choice((None, 1)))
    if random.randrange(3) == 0:
        text = re.sub(r'"user-', lambda _: '"\\u0075ser-', text)
    return text


class Lite:
    name = "app-lite"
    kinds = {"json": "TEXT", "text": "TEXT", "key": "INTEGER PRIMARY KEY", "id": "TEXT"}
    tables = ("documents", "boards", "comments", "letters")
    rules = RULES

    def __init__(self, stage):
        self.path = stage.path("app/lite.db")

    def access(self, stage):
        return f'kind = "sqlite"\npath = "{self.path}"\n'

    def quoted(self, text):
        return "'" + text.replace("'", "''") + "'"

    def array(self, users):
        raise NotImplementedError

    def statements(self, town):
        yield "CREATE TABLE users (id {id} PRIMARY KEY, name {id} UNIQUE)"
        for user, name in town.names.items():
            yield f"INSERT INTO users VALUES ({self.quoted(user)}, {self.quoted(name)})"
        for table in self.tables:
            yield f"CREATE TABLE {table} (id {{key}}, {TABLES.get(table, 'members text[]')})"
            for number, row in town.rows[table].items():
                value = (self.array(row) if isinstance(row, list) else
                         self.quoted(row if isinstance(row, str) else written(row, town.random)))
                yield f"INSERT INTO {table} VALUES ({number + 1}, {value})"

    def fill(self, town):
        ready = []
        for statement in self.statements(town):
            if statement.startswith("CREATE"):
                for name, kind in self.kinds.items():
                    statement = statement.replace("{" + name + "}", kind)
            ready.append(statement + ";")
        self.write("\n".join(ready))

    def write(self, text):
        with sqlite3.connect(self.path, timeout=HANG_S) as app:
            app.executescript("PRAGMA journal_mode = WAL; BEGIN;" + text + "COMMIT;")
        app.close()

    def lines(self, text):
        """The rows of a query, each a list of texts."""
        app = sqlite3.connect(self.path, timeout=HANG_S)
        try:
            return [list(map(str, row)) for row in app.execute(text)]
        finally:
            app.close()

    @contextlib.contextmanager
    def frozen(self):
        """Nobody else writes meanwhile."""
        app = sqlite3.connect(self.path, timeout=HANG_S, isolation_level=None)
        try:
            app.execute("BEGIN IMMEDIATE")
            yield
        finally:
            app.close()

    def users(self):
        return {user for user, _ in self.lines("SELECT id, name FROM users")}

    def rows(self):
        """As ``Town.rows`` has them."""
        found = {}
        for table in self.tables:
            column = TABLES.get(table, "members {array}").split()[0]
            rows = {int(number) - 1: value for number, value in self.lines(self.query(table, column))}
            isText = table in ("boards", "comments")
            found[table] = {number: value if isText else json.loads(value) for number, value in rows.items()}
        return found

    def query(self, table, column):
        return f"SELECT id, {column} FROM {table}"

    def close(self):
        pass


class Elephant(Lite):
    name = "app-pg"
    kinds = {"json": "json", "text": "text", "key": "bigint PRIMARY KEY", "id": "text"}
    tables = Lite.tables + ("rooms",)
    rules = RULES + ARRAYS

    def __init__(self, stage):
        self.server = self.make(stage.path(f"stores/{self.name}"))

    make = PostgreSQL

    def access(self, stage):
        return self.server.access(stage)

    def array(self, users):
        return "ARRAY[" + ", ".join(map(self.quoted, users)) + "]::text[]"

    def write(self, text):
        self.server.sql(text)

    def lines(self, text):
        """The fields in hexadecimal: values have line feeds in them."""
        fields, table = re.fullmatch(r"SELECT (.*) FROM (\w+)", text).groups()
        coded = [self.coded(field.strip()) for field in fields.split(", ")]
        rows = self.server.sql(f"SELECT {self.joined(coded)} FROM {table};")
        return [[bytes.fromhex(field).decode() for field in row.split("|")] for row in rows]

    def frozen(self):
        """A purge comes to the last table and no further."""
        return self.server.locked("letters")

    def coded(self, field):
        field = f"to_json({field})" if field == "members" else field
        return f"encode(convert_to({field}::text, 'UTF8'), 'hex')"

    def joined(self, fields):
        return " || '|' || ".join(fields)

    def rows(self):
        found = super().rows()
        # A list is read as JSON too, for the sake of the arrays.
        found["boards"] = {number: json.loads(value) for number, value in found["boards"].items()}
        return found

    def close(self):
        self.server.close()


class Dolphin(Elephant):
    name = "app-my"
    kinds = {"json": "json", "text": "text", "key": "bigint PRIMARY KEY", "id": "varchar(99)"}
    tables = Lite.tables
    rules = RULES
    make = MySQL

    def quoted(self, text):
        return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"

    def coded(self, field):
        return f"HEX({field})" if field != "id" else "HEX(CAST(id AS CHAR))"

    def joined(self, fields):
        return f"CONCAT_WS('|', {', '.join(fields)})"

    def rows(self):
        return Lite.rows(self)


def configure(stage, stores):
    """The stores in the place of the application's own database."""
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text[:text.index("[[store]]")])
        for store in stores:
            file.write(f'[[store]]\nname = "{store.name}"\n{store.access(stage)}{store.rules}')


def play(checks, stage, stores, town):
    for store in stores:
        before = town.without([])
        checks.equal(f"{store.name}: rows of {len(store.tables)} tables are as they were made",
                     different(store.rows(), before), [])
    stage.starts()
    checked = stage.run("expungectl", "stores", "check")
    checks.check("the check finds no mistake", checked.returncode == 0, checked.stdout + checked.stderr)
    requests = kill_inside(checks, stage, stores, town)
    ended = comes_true(lambda: all(state(stage, request) == "completed" for request in requests.values()), 120)
    checks.check(f"all {ERASED} deletions are completed", ended,
                 collections.Counter(state(stage, request) for request in requests.values()))
    left = town.without(set(town.erased))
    for store in stores:
        checks.equal(f"{store.name}: what is left is what the rules leave, value by value",
                     different(store.rows(), left), [])
        checks.equal(f"{store.name}: the other users are there", store.users(), set(town.others))
        text = json.dumps(store.rows(), ensure_ascii=False)
        traces = [user for user in town.erased if re.search(re.escape(user) + r"(?!\w)", text)]
        checks.equal(f"{store.name}: the bytes of no column have an erased id", traces, [])
    receipt = stage.http("GET", f"/v1/requests/{requests[town.erased[0]]}/receipt")[1]
    stated = [table.get("detail", "") for store in receipt["stores"] for table in store["tables"]]
    for place in ("$.editors[*]", "$.log[*].by", "$.to[*]"):
        checks.check(f"the receipt names {place}", any(place in detail for detail in stated), stated)


def state(stage, request):
    try:
        return stage.http("GET", f"/v1/requests/{request}")[1]["state"]
    except GONE:
        return None


def kill_inside(checks, stage, stores, town):
    """Kills inside the purge of each store in turn: while a lock holds it, and right after the lock is gone."""
    inside = collections.Counter()
    requests, broken, slow = {}, [], 0
    begun = time.monotonic()
    for number, user in enumerate(town.erased):
        store = stores[number % len(stores)]
        delay = stage.random.uniform(0, 0.01)
        with store.frozen():
            requests[user] = stage.delete(user)[1]["id"]
            inside[store.name] += comes_true(lambda: store.name in busy(stage))
            if number % 2:
                stage.kill()
        if number % 2 == 0:
            time.sleep(delay)
            stage.kill()
        for store in stores:
            broken += [(store.name, found) for found in foreign(store.rows(), town)]
        stage.start()
        slow += not stage.comes_up()
    checks.equal(f"kill -9 in {time.monotonic() - begun:.0f} s, inside the purge of "
                 + ", ".join(f"{name} {count}" for name, count in inside.items()), slow, 0)
    checks.equal("every store was hit as often", sorted(inside.values()), [ERASED // len(stores)] * len(stores))
    checks.equal("between them no other user's part of a value was missing or changed", broken[:5], [])
    return requests


def foreign(rows, town):
    """Where the parts of users who stay are other than they were made."""
    users = set(town.erased)
    made = town.without(users)
    now = Town.without(Remaining(rows, town), users)
    return different(now, made)


class Remaining:
    """Rows as they are now, for ``Town.without``."""

    def __init__(self, rows, town):
        self.rows, self.names = rows, town.names


def different(rows, expected):
    return [(table, number, row, expected[table].get(number)) for table, found in rows.items()
            for number, row in found.items() if row != expected[table].get(number)][:3] \
        + [(table, "rows", len(found), len(expected[table])) for table, found in rows.items()
           if len(found) != len(expected[table])]


def breaks(checks, stage, store, town):
    """A value that is no JSON and has the id only in escapes: never called erased, until it is corrected."""
    user = town.others[-1]
    stage.canaries.add(user)
    broken = '{"editors":[{"id":"\\u006f' + user[1:] + '"}'
    store.write(f"INSERT INTO documents VALUES (9000, {store.quoted(broken)});")
    request = stage.delete(user)[1]["id"]
    shown = lambda: stage.http("GET", f"/v1/requests/{request}")[1]
    held = comes_true(lambda: "other_spelling" in json.dumps(shown()), 30)
    checks.check("a value that is no JSON with the id in escapes holds the request", held, shown())
    checks.check("and it is not completed", shown()["state"] != "completed", shown()["state"])
    checks.equal("the value is as it was", store.lines("SELECT meta FROM documents WHERE id = 9000"), [[broken]])
    store.write("DELETE FROM documents WHERE id = 9000;")
    retried = stage.run("expungectl", "retry", request)
    checks.check("retry is accepted", retried.returncode == 0, retried.stderr)
    checks.check("then it is completed", comes_true(lambda: shown()["state"] == "completed", 30), shown())
