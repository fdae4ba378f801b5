"""Stores that know a user by ids in another one's rows, and objects that go with their last owner, under kill -9."""

import datetime
import hashlib
import json
import os
import sqlite3
import threading
import time

from canaries import canary
from checks import HANG_S, comes_true, within
from rechecks import LOOKS_MAX, look
from scenario import scenario
from stage import GONE, Stage

# The last look comes when this wants it.
SETTINGS = '[requests]\nrechecks = ["3s", "200h"]\n'
SCHEMA = """
CREATE TABLE accounts (user_id TEXT PRIMARY KEY, crm_id TEXT NOT NULL);
CREATE TABLE workspaces (id TEXT PRIMARY KEY, title TEXT);
CREATE TABLE members (
  user_id TEXT NOT NULL REFERENCES accounts (user_id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id), joined_at INTEGER NOT NULL);
CREATE INDEX members_user ON members (user_id);
CREATE INDEX members_workspace ON members (workspace_id);
CREATE TABLE documents (workspace_id TEXT NOT NULL REFERENCES workspaces (id), body TEXT);
CREATE INDEX documents_workspace ON documents (workspace_id);
"""
# The keyed stores stand first: the order of the file is not what keeps them behind their source.
STORES = """
[[store]]
name = "crm"
kind = "files"
root = "{crm}"
paths = ["records/{{user_id}}.json"]
keyed_by = "app-db.customer"
without_keys = "park"
[[store]]
name = "spaces"
kind = "files"
root = "{spaces}"
paths = ["{{user_id}}"]
keyed_by = "app-db.workspace"
[[store]]
name = "app-spaces"
kind = "sqlite"
path = "{app}"
keyed_by = "app-db.workspace"
[[store.table]]
table = "workspaces"
column = "id"
action = "delete"
[[store.table]]
table = "documents"
column = "workspace_id"
action = "delete"
"""
KEYS = """
[[store.table]]
table = "accounts"
column = "user_id"
action = "delete"
[[store.table]]
table = "members"
column = "user_id"
action = "delete"
created_at_column = "joined_at"
created_at_unit = "unix_s"
[[store.key]]
name = "customer"
table = "accounts"
column = "user_id"
value = "crm_id"
[[store.key]]
name = "workspace"
table = "members"
column = "user_id"
value = "workspace_id"
shared = true
"""
LONG_AGO = 1_700_000_000
KILLS = 12
OPEN = "AND ended_at IS NULL"


class Town:
    """The application: users with customer records, and workspaces that some of them share."""

    def __init__(self, stage):
        self.stage = stage
        self.crm, self.spaces = stage.path("crm"), stage.path("spaces")
        for path, name in ((f"{self.crm}/records", "crm"), (self.spaces, "spaces")):
            os.makedirs(path)
            with open(os.path.join(self.crm if name == "crm" else path, ".expunged-root"), "w") as file:
                file.write(name + "\n")
        with sqlite3.connect(stage.app) as app:
            app.executescript(SCHEMA)
        with open(stage.path("expunged.toml")) as file:
            text = file.read().replace("[requests]\n", SETTINGS, 1)
        before, store = text.split("[[store]]\n", 1)
        stores = STORES.format(crm=self.crm, spaces=self.spaces, app=stage.app)
        with open(stage.path("expunged.toml"), "w") as file:
            file.write(f"{before}{stores}[[store]]\n{store}{KEYS}")
        self.customers = {}

    def settle(self, count, workspace_of):
        """Users, each with a record; `workspace_of` names the workspaces of each by number."""
        users = self.stage.new_users(count)
        names = {}
        for number, user in enumerate(users):
            customer = f"crm-{canary(self.stage.random)}"
            self.stage.canaries.add(customer)
            self.customers[user] = customer
            self.write_record(user)
            for name in workspace_of(number):
                if name not in names:
                    names[name] = self._workspace()
            with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
                app.execute("INSERT INTO accounts VALUES (?, ?)", (user, customer))
                app.executemany("INSERT INTO members VALUES (?, ?, ?)",
                                [(user, names[name], LONG_AGO) for name in workspace_of(number)])
        return users, names

    def _workspace(self):
        space = f"space-{canary(self.stage.random)}"
        self.stage.canaries.add(space)
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            app.execute("INSERT INTO workspaces VALUES (?, 'a title')", (space,))
            app.executemany("INSERT INTO documents VALUES (?, ?)", [(space, "text")] * 3)
        self.write_old(space)
        return space

    def write_record(self, user):
        self._write(f"{self.crm}/records/{self.customers[user]}.json", self.customers[user])

    def write_other(self, name):
        self._write(f"{self.crm}/records/{name}.json", "not of the user of this name")

    def write_old(self, space):
        # Enough files that a kill may meet the purge of them.
        for name in ["a.txt", *(f"deep/{number}.txt" for number in range(100))]:
            self._write(f"{self.spaces}/{space}/{name}", space)

    @staticmethod
    def _write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.utime(path, (LONG_AGO, LONG_AGO))

    def write_now(self, space, name):
        with open(f"{self.spaces}/{space}/{name}", "w") as file:
            file.write("new")

    def records(self):
        return {name[:-5] for name in os.listdir(f"{self.crm}/records")}

    def folders(self):
        return {name for name in os.listdir(self.spaces) if name != ".expunged-root"}

    def do(self, statement, *values):
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            return app.execute(statement, values).fetchall()

    def rows(self, column, table):
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            return {row[0] for row in app.execute(f"SELECT DISTINCT {column} FROM {table}")}

    def sum_of(self, users, spaces):
        """Everything of users and workspaces that are to stay, to the last byte."""
        digest = hashlib.sha256()
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            for table, column, keep in (("posts", "author_id", users), ("accounts", "user_id", users),
                                        ("members", "user_id", users), ("workspaces", "id", spaces),
                                        ("documents", "workspace_id", spaces)):
                rows = app.execute(f"SELECT * FROM {table} ORDER BY rowid").description
                index = [name for name, *_ in rows].index(column)
                for row in app.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                    if row[index] in keep:
                        digest.update(repr((table, row)).encode())
        paths = [f"{self.crm}/records/{self.customers[user]}.json" for user in users]
        for space in spaces:
            for parent, _, names in os.walk(f"{self.spaces}/{space}"):
                paths += [os.path.join(parent, name) for name in names]
        for path in sorted(paths):
            with open(path, "rb") as file:
                digest.update(path.encode() + file.read())
        return digest.hexdigest()


@scenario()
def dependents(checks, seed):
    stage = Stage(checks, seed)
    town = Town(stage)
    # Two neighbours share each workspace, every sixth has an owner who stays, one has four owners.
    leaving, spaces = town.settle(36, lambda number: [f"own {number}", f"pair {number // 2}"]
                                  + (["four"] if number < 4 else [])
                                  + ([f"open {number // 6}"] if number % 6 == 0 else []))
    staying, own = town.settle(6, lambda number: [f"own {number}"])
    kept = {name for key, name in spaces.items() if key.startswith("open")}
    with sqlite3.connect(stage.app) as app:
        app.executemany("INSERT INTO members VALUES (?, ?, ?)", [
            (user, space, LONG_AGO) for user, space in zip(staying, sorted(kept))])
    kept |= set(own.values())
    before = town.sum_of(staying, kept)
    stage.starts()
    covered(checks, stage)
    planned(checks, stage, town, leaving[0], spaces)
    crash_between(checks, stage, town, leaving[:2], spaces)
    killed(checks, stage, leaving[2:])
    put_back(checks, stage, town)
    erased(checks, town, staying, kept)
    after_the_looks(checks, stage)
    restored(checks, stage, town, leaving[4:6], [spaces[name] for name in ("own 4", "own 5", "pair 2")])
    erased(checks, town, staying, kept)
    again = (leaving[6:8], [spaces[name] for name in ("own 6", "own 7", "pair 3")])
    restored_alone(checks, stage, town, *again, staying[0])
    erased(checks, town, staying, kept)
    without_state(checks, stage, town, *again)
    erased(checks, town, staying, kept)
    checks.equal("not a byte of the others has changed", town.sum_of(staying, kept), before)
    stage.scan()
    stage.close()


def covered(checks, stage):
    for store in ("app-db", "app-spaces"):
        health = stage.http("POST", f"/v1/stores/{store}/check")[1]
        checks.check(f"'{store}' fits, and what the other of the two deals with is covered",
                     health.get("findings") == [] and health.get("uncovered") == [], health)


def planned(checks, stage, town, user, spaces):
    plan = stage.http("POST", "/v1/plans", {"user_id": user})[1]
    names = [store["name"] for store in plan["stores"]]
    checks.equal("the source stands before what it keys, else the file's order", names,
                 ["app-db", "crm", "spaces", "app-spaces"])
    items = {(store["name"], item["name"], item["action"]): item for store in plan["stores"]
             for item in store["items"]}
    own = items.get(("app-spaces", "workspaces", "delete"), {})
    shared = items.get(("spaces", "app-db.workspace", "keep"), {})
    checks.check("the plan counts what only this user owns, and says what stays",
                 own.get("count") == 1 and shared.get("count") == 3
                 and shared.get("reason") == "still has other owners", plan)
    checks.check("no found id is in it", town.customers[user] not in str(plan)
                 and not any(space in str(plan) for space in spaces.values()))
    again = stage.http("POST", "/v1/plans", {"user_id": user})[1]
    checks.equal("the same plan again has the same hash", again["hash"], plan["hash"])
    checks.equal("and nothing was stored for it", found_keys(stage), 0)


def crash_between(checks, stage, town, users, spaces):
    """Two owners, both behind the purge of their rows; the object between them has nobody left."""
    for store in ("crm", "spaces", "app-spaces"):
        stage.http("POST", f"/v1/stores/{store}/pause")
    requests = [stage.delete(user)[1]["id"] for user in users]
    checks.check("the rows of two owners are gone, and what they named waits", comes_true(
        lambda: not set(users) & town.rows("user_id", "accounts")
        and all(show(stage, request).get("detail") == "store_paused" for request in requests)),
        [show(stage, request) for request in requests])
    pair = spaces["pair 0"]
    checks.check("their workspace is still there", pair in town.folders())
    # Newer than both requests: what nobody owns goes whole.
    town.write_now(pair, "late.txt")
    checks.check("what was found is stored", found_keys(stage) == 4, found_keys(stage))
    found = stage.canaries.found_in_files([stage.path("state")])
    checks.check("sealed: only ids of open requests stand in our files", found != []
                 and {text[:5] for _, text in found} == {"user-"}, found)
    stage.kill()
    stage.starts()
    for store in ("crm", "spaces", "app-spaces"):
        stage.http("POST", f"/v1/stores/{store}/resume")
    checks.check("after kill -9 both complete", comes_true(
        lambda: all(show(stage, request)["state"] == "completed" for request in requests)),
        [show(stage, request) for request in requests])
    checks.check("and took the workspace along", pair not in town.folders()
                 and pair not in town.rows("id", "workspaces"))
    checks.check("what other users own is still there", spaces["four"] in town.folders())
    receipt = stage.http("GET", f"/v1/requests/{requests[0]}/receipt")[1]
    lines = [(table["table"], table["action"], table["rows"]) for store in receipt["stores"]
             if store["store"] == "spaces" for table in store["tables"]]
    checks.check("the receipt says what stays", ("app-db.workspace", "shared", 2) in lines, lines)
    left = [entry for entry in receipt["not_erased"] if entry["store"] == "spaces"]
    checks.check("also among what was not erased", len(left) == 1 and left[0]["rows"] == 2, receipt["not_erased"])


def killed(checks, stage, users):
    """Both owners of every workspace at nearly the same time, and kill -9 at random instants."""
    accepted = {}

    def submit():
        for user in users:
            while user not in accepted:
                try:
                    status, body = stage.delete(user)
                    if status == 202:
                        accepted[user] = body["id"]
                except GONE:
                    time.sleep(0.02)
            time.sleep(stage.random.uniform(0, 0.2))

    load = threading.Thread(target=submit, daemon=True)
    load.start()
    between = 0
    for number in range(KILLS):
        within(3, lambda: found_keys(stage, OPEN) > 0 or not load.is_alive(), 0.005)
        time.sleep(stage.random.uniform(0, 0.03))
        stage.kill()
        between += found_keys(stage, OPEN) > 0
        stage.start()
        if not checks.check(f"after kill {number + 1} the daemon comes up", stage.comes_up(), stage.log()[-1500:]):
            return
    load.join(HANG_S)
    checks.check(f"{between} of {KILLS} kills met open requests with stored ids", between > 0, between)
    checks.equal("every deletion is taken", set(accepted), set(users))
    ended = comes_true(lambda: stage.open_count() == 0, 900, 0.2)
    checks.check("every deletion comes to its end", ended, stage.http("GET", "/v1/requests?state=parked")[1])


def put_back(checks, stage, town):
    """The application was faster than the service, and an operator puts the user's rows back."""
    [user], spaces = town.settle(1, lambda number: ["late"])
    for table in ("members", "accounts"):
        town.do(f"DELETE FROM {table} WHERE user_id = ?", user)
    plan = stage.http("POST", "/v1/plans", {"user_id": user})[1]
    reasons = {store["name"]: [item.get("reason", "") for item in store["items"]] for store in plan["stores"]}
    checks.check("a plan says which store no key leads to, and that the request would wait",
                 any("without_keys" in reason for reason in reasons["crm"])
                 and any("no key" in reason for reason in reasons["spaces"]), plan)
    request = stage.delete(user)[1]["id"]
    checks.check("without a key the request waits", comes_true(
        lambda: show(stage, request).get("detail") == "without_keys"), show(stage, request))
    checks.check("and the customer record is still there", town.customers[user] in town.records())
    town.do("INSERT INTO accounts VALUES (?, ?)", user, town.customers[user])
    town.do("INSERT INTO members VALUES (?, ?, ?)", user, spaces["late"], LONG_AGO)
    town.do("INSERT INTO posts (author_id, body) VALUES (?, 'back')", user)
    done = stage.run("expungectl", "retry", request)
    checks.equal("an operator has the keys looked for again", done.returncode, 0)
    stage.kill()
    stage.starts()
    checks.check("the request completes, although the service was killed then", comes_true(
        lambda: show(stage, request)["state"] == "completed"), show(stage, request))
    left = {table: town.do(f"SELECT count(*) FROM {table} WHERE {column} = ?", user)[0][0]
            for table, column in (("accounts", "user_id"), ("members", "user_id"), ("posts", "author_id"))}
    checks.equal("no row that was put back is left", left, {"accounts": 0, "members": 0, "posts": 0})
    checks.check("and nothing of what they name, in any store", town.customers[user] not in town.records()
                 and spaces["late"] not in town.folders() and spaces["late"] not in town.rows("id", "workspaces"))
    receipt = stage.http("GET", f"/v1/requests/{request}/receipt")[1]
    checks.check("the receipt calls every store verified", all(
        store["verified"] for store in receipt["stores"]), receipt["stores"])


def erased(checks, town, staying, kept):
    checks.equal("no customer record of them is left, and none of the others went",
                 town.records(), {town.customers[user] for user in staying})
    checks.equal("every workspace without owners is gone, and no other", town.folders(), kept)
    checks.equal("in the database, too", town.rows("id", "workspaces"), kept)
    checks.equal("with its documents", town.rows("workspace_id", "documents"), kept)
    checks.equal("nobody's rows are left but theirs", town.rows("user_id", "members"), set(staying))


def restored(checks, stage, town, users, spaces):
    """A backup of the source and of what it keys brings two users back."""
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.executemany("INSERT INTO workspaces VALUES (?, 'back')", [(space,) for space in spaces])
        app.executemany("INSERT INTO accounts VALUES (?, ?)", [(user, town.customers[user]) for user in users])
        app.executemany("INSERT INTO members VALUES (?, ?, ?)",
                        [(user, space, LONG_AGO) for user in users for space in spaces])
    for space in spaces:
        town.write_old(space)
    for user in users:
        town.write_record(user)
    done = replayed(stage, "--store", "app-db", "--restored-at", now())
    checks.equal("a replay erases in the source and in what it keys", found(done, "erased"),
                 {"app-db": 2, "crm": 2, "spaces": 1, "app-spaces": 1})
    checks.equal("what it found is used up", found_keys(stage), 0)


def back_alone(stage, town, users, spaces):
    """A backup of the keyed stores alone: nothing says any more whose all this was."""
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.executemany("INSERT INTO workspaces VALUES (?, 'back')", [(space,) for space in spaces])
        app.executemany("INSERT INTO documents VALUES (?, 'back')", [(space,) for space in spaces])
    for space in spaces:
        town.write_old(space)
    for user in users:
        town.write_record(user)


def restored_alone(checks, stage, town, users, spaces, owner):
    back_alone(stage, town, users, spaces)
    # A user's own id is none of this store's, and what somebody owns again is not what was erased.
    town.write_other(users[0])
    owned = spaces[-1]
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("INSERT INTO members VALUES (?, ?, ?)", (owner, owned, LONG_AGO))
    drill = replayed(stage, "--drill")
    checks.equal("a drill finds what only the keyed stores have", found(drill, "found"),
                 {"app-db": 0, "crm": 0, "spaces": 2, "app-spaces": 2})
    dated = replayed(stage)
    checks.equal("shared objects go at once; records wait for the time of the restoration",
                 (dated["state"], found(dated, "erased"), found(dated, "newer")["crm"]),
                 ("incomplete", {"app-db": 0, "crm": 0, "spaces": 2, "app-spaces": 2}, 2))
    done = replayed(stage, "--store", "crm", "--restored-at", now())
    checks.equal("with it they go, too", (done["state"], found(done, "erased")), ("finished", {"crm": 2}))
    checks.check("what has an owner again stays, in both stores",
                 owned in town.folders() and owned in town.rows("id", "workspaces")
                 and owned in town.rows("workspace_id", "documents"))
    checks.check("and what is only named like an erased user", users[0] in town.records())
    os.remove(f"{town.crm}/records/{users[0]}.json")
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("DELETE FROM members WHERE user_id = ? AND workspace_id = ?", (owner, owned))
    done = replayed(stage)
    checks.equal("with its last owner gone a replay takes it", found(done, "erased"),
                 {"app-db": 0, "crm": 0, "spaces": 1, "app-spaces": 1})


def without_state(checks, stage, town, users, spaces):
    """state.db is lost; the checkpoint file and hash.key are left."""
    stage.stop()
    for name in ("state.db", "state.db-wal", "state.db-shm"):
        if os.path.exists(stage.path(f"state/{name}")):
            os.remove(stage.path(f"state/{name}"))
    stage.starts()
    back_alone(stage, town, users, spaces)
    records = town.records()
    done = replayed(stage)
    checks.equal("until an empty state is accepted a replay touches nothing",
                 (done["state"], [(store["name"], store["error"]) for store in done["stores"]], town.records()),
                 ("incomplete", [("state", "state_rolled_back")], records))
    checks.equal("an empty state is accepted", stage.run("expungectl", "ledger", "accept-rollback").returncode, 0)
    done = replayed(stage)
    checks.equal("the ids' tombstones come from the checkpoint file", (done["state"], found(done, "erased")),
                 ("incomplete", {"app-db": 0, "crm": 0, "spaces": 3, "app-spaces": 3}))
    done = replayed(stage, "--store", "crm", "--restored-at", now())
    checks.equal("the records', too", (done["state"], found(done, "erased")), ("finished", {"crm": 2}))
    checks.equal("the ledger verifies", stage.run("expungectl", "ledger", "verify").returncode, 0)


def replayed(stage, *arguments):
    done = stage.run("expungectl", "replay", "--since", "2026-01-01T00:00:00Z", *arguments, "--json")
    return json.loads(done.stdout) if done.stdout.startswith("{") else {"state": done.stderr, "stores": []}


def found(replay, what):
    return {store["name"]: store[what] for store in replay["stores"]}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")[:-4] + "Z"


def after_the_looks(checks, stage):
    checks.check("ids wait for the looks", found_keys(stage) > 0)
    for _ in range(LOOKS_MAX):
        if found_keys(stage) > 0:
            look(stage)
    checks.equal("after the last one they are gone with their cases", found_keys(stage), 0)
    returned = [line for line in stage.log().splitlines() if "event=data_returned" in line]
    checks.equal("no look took what others own for data that came back", returned, [])


def show(stage, request):
    return stage.http("GET", f"/v1/requests/{request}")[1]


def found_keys(stage, which=""):
    state = sqlite3.connect(f"file:{stage.path('state/state.db')}?mode=ro", uri=True, timeout=HANG_S)
    try:
        return state.execute("SELECT count(*) FROM found_keys JOIN requests ON requests.id = request_id"
                             f" {which}").fetchone()[0]
    finally:
        state.close()
