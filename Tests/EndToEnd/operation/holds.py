"""What stops a deletion: holds of every kind, the guard against mass deletion, and a table without a rule.

What is left is asked with the sqlite3 program, what was revoked is in the sandbox's log.
"""

import datetime
import json
import os
import subprocess
import time

from checks import HANG_S, comes_true
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, ROWS_EACH, Stage

ORDERS = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, buyer TEXT NOT NULL, status TEXT NOT NULL);
CREATE INDEX orders_buyer ON orders (buyer);
"""
NOTES = """
CREATE TABLE notes (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, text TEXT);
CREATE INDEX notes_owner ON notes (owner);
"""
STORES = """
[[store.table]]
table = "orders"
column = "buyer"
action = "delete"
[[store]]
name = "notes-db"
kind = "sqlite"
path = "{notes}"
[[store.table]]
table = "notes"
column = "owner"
action = "delete"
"""
AUDIT = """
[[store.table]]
table = "audit"
column = "actor_user_id"
action = "delete"
"""
FULL = {"posts": ROWS_EACH, "disputed": 2, "paid": 1, "notes": 3}
NOTHING = dict.fromkeys(FULL, 0)
HOUR_S = 3600
MEMBERS = 12


@scenario(gate={})
def holds(checks, seed):
    sandbox = Sandbox(BINARIES)
    try:
        for part in (held, guarded, uncovered, late):
            part(checks, seed, sandbox)
    finally:
        sandbox.close()


# Holds


def held(checks, seed, sandbox):
    stage = Stage(checks, seed, sandbox)
    try:
        sqlite(stage.app, ORDERS)
        sqlite(stage.path("app/notes.db"), NOTES)
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(STORES.format(notes=stage.path("app/notes.db")))
        # Of all at once: each call makes tokens of the same accounts anew.
        stage.spare_tokens = stage.new_tokens(MEMBERS)
        stage.starts()
        for part in (of_request, of_user, of_user_to_come, of_both, of_store, of_restored, of_rows):
            part(checks, stage)
        checks.equal("no hold on a store is left", json.loads(ctl(stage, "holds", "--json").stdout)["items"], [])
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))


def of_request(checks, stage):
    """The first store is purged when the hold comes, the second one is not."""
    user, neighbour = members(stage, 2)
    switch(stage, "stores/notes-db/pause")
    request = stage.delete(user)[1]["id"]
    checks.check("a request stands before its second store", parked(stage, request, "store_paused"), show(stage, request))
    half = dict(NOTHING, notes=FULL["notes"])
    checks.equal("with the first one purged", left(stage, user), half)
    checks.check("hold ID is accepted", works(ctl(stage, "hold", request, "--reason", "case 1")))
    checks.check("hold ID: it is parked on_hold", parked(stage, request, "on_hold"), show(stage, request))
    switch(stage, "stores/notes-db/resume")
    checks.check("hold ID: the next step is not taken", stays(stage, request), show(stage, request))
    checks.equal("hold ID: the data before that step is there", left(stage, user), half)
    erased(checks, stage, neighbour, "hold ID: a neighbour is erased meanwhile")
    released(checks, stage, "release ID", {user: request}, "release", request)


def of_user(checks, stage):
    user, neighbour = members(stage, 2)
    switch(stage, "stores/app-db/pause")
    request = stage.delete(user)[1]["id"]
    checks.check("a user's request stands before its purge", parked(stage, request, "store_paused"), show(stage, request))
    checks.check("hold --user is accepted", works(ctl(stage, "hold", "--user", user, "--reason", "case 2")))
    checks.check("hold --user: it is parked on_hold", parked(stage, request, "on_hold"), show(stage, request))
    switch(stage, "stores/app-db/resume")
    checks.check("hold --user: the purge does not begin", stays(stage, request), show(stage, request))
    stage.kill()
    stage.starts()
    checks.check("hold --user: nor after kill -9", stays(stage, request), show(stage, request))
    checks.equal("hold --user: all data is there", left(stage, user), FULL)
    erased(checks, stage, neighbour, "hold --user: a neighbour is erased meanwhile")
    listed = json.loads(ctl(stage, "holds", "--json").stdout)["items"]
    checks.equal("hold --user: it is listed with its reason and who placed it",
                 [(hold["reason"], "uid" in hold) for hold in listed], [("case 2", True)])
    name = listed[0]["name"]
    shown = ctl(stage, "show", request).stdout
    checks.check("hold --user: show has the command that releases it",
                 f"expungectl release --hold {name}" in shown, shown)
    released(checks, stage, "release --hold", {user: request}, "release", "--hold", name)


def of_user_to_come(checks, stage):
    user = members(stage, 1)[0]
    ctl(stage, "hold", "--user", user)
    revoked = len(stage.sandbox.revoked_at())
    request = stage.delete(user)[1]["id"]
    checks.check("a later request of a held user is parked on_hold", parked(stage, request, "on_hold"),
                 show(stage, request))
    checks.check("and stays so", stays(stage, request), show(stage, request))
    checks.equal("with its data and its token", (left(stage, user), len(stage.sandbox.revoked_at())), (FULL, revoked))
    released(checks, stage, "release --user", {user: request}, "release", "--user", user)
    checks.equal("release --user: the token is revoked then", len(stage.sandbox.revoked_at()), revoked + 1)


def of_both(checks, stage):
    """A hold on a request and one on its user are lifted by their own commands, whichever came first."""
    for order in ("request, user", "user, request"):
        user = members(stage, 1)[0]
        switch(stage, "stores/app-db/pause")
        request = stage.delete(user)[1]["id"]
        checks.check(f"{order}: it stands before its purge", parked(stage, request, "store_paused"), show(stage, request))
        holds = [("hold", request, "--reason", "case 99"), ("hold", "--user", user)]
        for hold in holds if order == "request, user" else reversed(holds):
            checks.check(f"{order}: {hold[1]} is put on hold", works(ctl(stage, *hold)))
        switch(stage, "stores/app-db/resume")
        checks.check(f"{order}: release --user is accepted", works(ctl(stage, "release", "--user", user)))
        checks.check(f"{order}: the hold on the request stays", stays(stage, request), show(stage, request))
        again = ctl(stage, "release", "--user", user)
        checks.check(f"{order}: a user who is not on hold cannot be released",
                     again.returncode == 3 and "not on hold" in again.stderr, (again.returncode, again.stderr))
        stage.kill()
        stage.starts()
        checks.check(f"{order}: nor does kill -9 lift it", stays(stage, request), show(stage, request))
        checks.equal(f"{order}: all data is there", left(stage, user), FULL)
        released(checks, stage, f"{order}: release ID", {user: request}, "release", request)


def of_store(checks, stage):
    users = members(stage, 2)
    revoked = len(stage.sandbox.revoked_at())
    switch(stage, "providers/apple/pause")
    requests = {user: stage.delete(user)[1]["id"] for user in users}
    checks.check("two requests stand before their revocation", all(
        parked(stage, request, "provider_paused") for request in requests.values())
        and len(stage.sandbox.revoked_at()) == revoked)
    checks.check("hold --store is accepted", works(ctl(stage, "hold", "--store", "app-db", "--reason", "case 3")))
    switch(stage, "providers/apple/resume")
    for request in requests.values():
        checks.check("hold --store: parked on_hold", parked(stage, request, "on_hold"), show(stage, request))
    checks.equal("hold --store: the tokens are revoked", len(stage.sandbox.revoked_at()), revoked + 2)
    stage.kill()
    stage.starts()
    checks.check("hold --store: also after kill -9", all(stays(stage, request) for request in requests.values()))
    for user in users:
        checks.equal("hold --store: its data is there, the other store is purged", left(stage, user), dict(FULL, notes=0))
    listed = json.loads(ctl(stage, "holds", "--json").stdout)["items"]
    checks.equal("holds lists it with its reason", [(hold["name"], hold["store"], hold.get("reason")) for hold in listed],
                 [("app-db", "app-db", "case 3")])
    released(checks, stage, "release --hold", requests, "release", "--hold", "app-db")


def of_restored(checks, stage):
    """The store that is purged comes back from a backup while the other one is held: nobody has a tombstone yet."""
    user, neighbour = members(stage, 2)
    notes, since = stage.path("app/notes.db"), datetime.datetime.now(datetime.timezone.utc).isoformat()
    sqlite(notes, f"VACUUM INTO '{notes}.old'")
    ctl(stage, "hold", "--store", "app-db")
    request = stage.delete(user)[1]["id"]
    checks.check("restored: parked on_hold, with one store purged", parked(stage, request, "on_hold")
                 and left(stage, user)["notes"] == 0, show(stage, request))
    os.replace(f"{notes}.old", notes)
    checks.equal("restored: the data is back", left(stage, user), FULL)
    drill = ctl(stage, "replay", "--drill", "--since", since, "--store", "notes-db")
    checks.check("restored: a drill has no deletion purge again", "reopened    0" in drill.stdout, drill)
    checks.check("restored: and leaves the data", stays(stage, request) and left(stage, user) == FULL, left(stage, user))
    done = ctl(stage, "replay", "--since", since, "--store", "notes-db")
    checks.check("restored: a replay says that a deletion purges again", works(done) and "reopened    1" in done.stdout, done)
    checks.check("restored: it does, within the hold", comes_true(lambda: left(stage, user) == dict(FULL, notes=0))
                 and parked(stage, request, "on_hold"), left(stage, user))
    checks.equal("restored: a neighbour keeps everything", left(stage, neighbour), FULL)
    receipt = released(checks, stage, "restored: release --hold", {user: request}, "release", "--hold", "app-db")
    counts = {store["store"]: sum(table["rows"] for table in store["tables"]) for store in receipt["stores"]}
    checks.equal("restored: the receipt counts what went both times", counts["notes-db"], 2 * FULL["notes"])


def of_rows(checks, stage):
    user = members(stage, 1)[0]
    switch(stage, "stores/app-db/pause")
    request = stage.delete(user)[1]["id"]
    checks.check("a request stands before the purge of its rows", parked(stage, request, "store_paused"),
                 show(stage, request))
    wrong = ctl(stage, "hold", "--store", "app-db", "--table", "orders", "--where", "state=disputed")
    checks.check("a hold on a column that is not there is refused", wrong.returncode != 0, wrong.stdout)
    done = ctl(stage, "hold", "--store", "app-db", "--table", "orders", "--where", "status=disputed")
    checks.check("hold --where is accepted", works(done))
    switch(stage, "stores/app-db/resume")
    checks.check("hold --where: parked on_hold", parked(stage, request, "on_hold"), show(stage, request))
    checks.check("hold --where: and stays so", stays(stage, request), show(stage, request))
    checks.equal("hold --where: those rows are there, all others are gone", left(stage, user),
                 dict(NOTHING, disputed=FULL["disputed"]))
    shown = ctl(stage, "show", request).stdout
    checks.check("show says how many rows are held", f"{FULL['disputed']} rows held" in shown, shown)
    receipt = released(checks, stage, "release --hold", {user: request}, "release", "--hold", "app-db.orders")
    tables = next(store for store in receipt["stores"] if store["store"] == "app-db")["tables"]
    checks.equal("the receipt says how many were held until then",
                 [(table["table"], table["rows"]) for table in tables if table["action"].startswith("held")],
                 [("orders", FULL["disputed"])])


def released(checks, stage, text, requests, *arguments):
    """Lifts a hold and does nothing else; answers the last receipt."""
    checks.check(f"{text} is accepted", works(ctl(stage, *arguments)))
    receipt = None
    for user, request in requests.items():
        checks.check(f"{text}: it ends by itself", ends(stage, request), show(stage, request))
        checks.equal(f"{text}: with everything gone", left(stage, user), NOTHING)
        receipt = stage.http("GET", f"/v1/requests/{request}/receipt")[1]
    return receipt


def members(stage, count):
    """Users with a token and with rows everywhere."""
    users = stage.new_users(count)
    for user in users:
        assert stage.store(user, stage.spare_tokens.pop())[0] == 202
        sqlite(stage.app, f"INSERT INTO orders (buyer, status) VALUES ('{user}', 'disputed'), ('{user}', 'paid'),"
                          f" ('{user}', 'disputed')")
        sqlite(stage.path("app/notes.db"), f"INSERT INTO notes (owner) VALUES ('{user}'), ('{user}'), ('{user}')")
    return users


def left(stage, user):
    asked = {
        "posts": (stage.app, f"posts WHERE author_id = '{user}'"),
        "disputed": (stage.app, f"orders WHERE buyer = '{user}' AND status = 'disputed'"),
        "paid": (stage.app, f"orders WHERE buyer = '{user}' AND status = 'paid'"),
        "notes": (stage.path("app/notes.db"), f"notes WHERE owner = '{user}'"),
    }
    return {name: int(sqlite(path, f"SELECT count(*) FROM {text}")) for name, (path, text) in asked.items()}


# The guard


def guarded(checks, seed, sandbox):
    stage = Stage(checks, seed + 1, sandbox)
    try:
        edit(stage, "max_deletions_per_hour = 100000", "max_deletions_per_hour = 2")
        stage.starts()
        first = hand_in(stage, 2)
        checks.check("guard: as many as configured are erased", all(ends(stage, request) for request in first.values()))
        wave = hand_in(stage, 4)
        checks.check("guard: the next ones are parked", all(
            parked(stage, request, "mass_deletion_guard") for request in wave.values()))
        state = status(stage)
        checks.equal("guard: it says closed, and how many wait", (state["open"], state["waiting"]), (False, 4))
        checks.equal("guard: their data is there", whole(stage, wave), 4)
        checks.check("guard override --count is accepted", works(ctl(stage, "guard", "override", "--count", "2")))
        checks.equal("guard: it lets exactly so many through", through(stage, wave, 2), 2)
        checks.equal("guard: the data of the others is there", whole(stage, wave), 2)
        checks.check("guard: the override is used up", "override_remaining" not in status(stage), status(stage))
        late = hand_in(stage, 1)
        checks.check("guard: it opened once", parked(stage, *late.values(), "mass_deletion_guard"))
        checks.check("guard override without a count is accepted", works(ctl(stage, "guard", "override")))
        checks.equal("guard: it lets all that wait through", through(stage, {**wave, **late}, 5), 5)
        more = hand_in(stage, 1)
        checks.check("guard: and no one who comes later", parked(stage, *more.values(), "mass_deletion_guard"))
        last = expiry(checks, stage, more)
        stage.scan(open_users=list(last))
    finally:
        stage.close(keep=bool(checks.failed))


def expiry(checks, stage, waiting):
    """Nobody waits an hour here: the end of what is left is moved to now while the daemon is stopped."""
    begun = time.time()
    checks.check("guard override for more than wait is accepted", works(ctl(stage, "guard", "override", "--count", "5")))
    checks.equal("guard: who waits goes through", through(stage, waiting, 1), 1)
    state, over = status(stage), time.time()
    end = datetime.datetime.fromisoformat(state["override_expires_at"].replace("Z", "+00:00")).timestamp()
    checks.check("guard: the rest is kept for an hour", state["override_remaining"] == 4
                 and begun - 1 <= end - HOUR_S <= over + 1, state)
    stage.kill()
    stage.starts()
    later = hand_in(stage, 1)
    checks.check("guard: also across kill -9", ends(stage, *later.values()), status(stage))
    checks.equal("guard: which takes one more of it", status(stage).get("override_remaining"), 3)
    stage.stop()
    sqlite(stage.path("state/state.db"), f"UPDATE guard_overrides SET expires_at = {int(time.time() * 1000)}")
    stage.starts()
    last = hand_in(stage, 1)
    checks.check("guard: behind its end it lets nobody through", parked(stage, *last.values(), "mass_deletion_guard"),
                 status(stage))
    checks.equal("guard: with the data there", whole(stage, last), 1)
    return last


def hand_in(stage, count):
    return {user: stage.delete(user)[1]["id"] for user in stage.new_users(count)}


def whole(stage, users):
    """How many have all their rows."""
    return sum(int(sqlite(stage.app, f"SELECT count(*) FROM posts WHERE author_id = '{user}'")) == ROWS_EACH
               for user in users)


def through(stage, requests, count):
    """How many of them end, once `count` have and whatever else was due then is decided."""
    def ended():
        return sum(show(stage, request)["state"] == "completed" for request in requests.values())
    comes_true(lambda: ended() >= count, pause=0.1)
    assert later_request_ends(stage), f"a later request does not end; {ended()} of {count} have ended"
    return ended()


def status(stage):
    return stage.http("GET", "/v1/status")[1]["guard"]


# A table without a rule


def uncovered(checks, seed, sandbox):
    stage = Stage(checks, seed + 2, sandbox)
    try:
        # The judge of other scenarios keeps user ids, without a rule.
        sqlite(stage.app, "DROP TRIGGER judge; DROP TABLE erased;")
        stage.starts()
        done = ctl(stage, "stores", "check")
        checks.equal("stores check ends with 0 where every table has a rule", done.returncode, 0)
        sqlite(stage.app, "CREATE TABLE audit (actor_user_id TEXT NOT NULL, what TEXT);"
                          "CREATE INDEX audit_actor ON audit (actor_user_id);")
        done = ctl(stage, "stores", "check")
        checks.equal("stores check ends with 14 where a table of users has none", done.returncode, 14)
        checks.check("and names it", "audit" in done.stdout, done.stdout)
        stage.stop()
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(AUDIT)
        stage.starts()
        done = ctl(stage, "stores", "check")
        checks.equal("stores check ends with 0 once it has one", done.returncode, 0)
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))


# A store that is configured while deletions are open


def late(checks, seed, sandbox):
    stage = Stage(checks, seed + 3, sandbox)
    try:
        stage.spare_tokens = stage.new_tokens(2)
        sqlite(stage.app, ORDERS)
        for name in ("notes", "later"):
            sqlite(stage.path(f"app/{name}.db"), NOTES)
        stage.starts()
        first, second = members(stage, 2)
        sqlite(stage.path("app/later.db"), f"INSERT INTO notes (owner) VALUES ('{second}')")
        switch(stage, "providers/apple/pause")
        requests = {user: stage.delete(user)[1]["id"] for user in (first, second)}
        added(checks, stage, STORES.format(notes=stage.path("app/notes.db")))
        checks.check("hold --user is accepted", works(ctl(stage, "hold", "--user", second)))
        switch(stage, "providers/apple/resume")
        checks.check("a deletion ends whose purge had not begun", ends(stage, requests[first]), show(stage, requests[first]))
        checks.equal("and has erased in the new store", left(stage, first), NOTHING)
        ctl(stage, "hold", "--store", "notes-db")
        ctl(stage, "release", "--user", second)
        checks.check("another one has purged the first store", parked(stage, requests[second], "on_hold")
                     and left(stage, second)["posts"] == 0, left(stage, second))
        added(checks, stage, STORES[STORES.index("[[store]]"):].format(notes=stage.path("app/later.db")).replace(
            "notes-db", "later-db"))
        receipt = released(checks, stage, "release --hold", {second: requests[second]}, "release", "--hold", "notes-db")
        checks.equal("what came behind that is no part of it", [store["store"] for store in receipt["stores"]],
                     ["app-db", "notes-db"])
        checks.equal("and keeps its rows", sqlite(stage.path("app/later.db"), "SELECT count(*) FROM notes"), "1")
        checks.check("the receipt says so", any("'later-db'" in line for line in receipt["not_in_scope"])
                     and "NOT erased from 'later-db'" in receipt["summary"], receipt)
        # What is left of the user there is known.
        sqlite(stage.path("app/later.db"), "DELETE FROM notes; VACUUM")
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))


def added(checks, stage, text):
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(text)
    checks.check("a store is added by a reload", works(ctl(stage, "reload")))


# All of them


def sqlite(path, text):
    done = subprocess.run(["sqlite3", "-cmd", f".timeout {HANG_S * 1000}", path, text], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def edit(stage, old, new):
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    assert old in text
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace(old, new))


def ctl(stage, *arguments):
    return stage.run("expungectl", *arguments)


def works(done):
    return done.returncode == 0


def switch(stage, path):
    status_code = stage.http("POST", f"/v1/{path}")[0]
    assert status_code == 200, (path, status_code)


def show(stage, request):
    try:
        return stage.http("GET", f"/v1/requests/{request}")[1]
    except GONE as error:
        return {"state": f"unreachable: {error}"}


def parked(stage, request, reason):
    return comes_true(lambda: show(stage, request).get("detail") == reason)


def stays(stage, request):
    """Whether it is on hold when whatever was due until now is decided."""
    return show(stage, request).get("detail") == "on_hold" and later_request_ends(stage) \
        and show(stage, request).get("detail") == "on_hold"


def later_request_ends(stage):
    """Asks for something that no hold and no guard stops, and waits for its end."""
    status_code, answer = stage.http("POST", "/v1/requests", {
        "kind": "revoke_tokens", "user_id": f"witness-{stage.random.getrandbits(80):020x}"}, f"key-{stage.random.getrandbits(80):020x}")
    return status_code == 202 and ends(stage, answer["id"])


def ends(stage, request):
    return comes_true(lambda: show(stage, request)["state"] == "completed", pause=0.05)


def erased(checks, stage, user, text):
    request = stage.delete(user)[1]["id"]
    checks.check(text, ends(stage, request), show(stage, request))
    checks.equal(f"{text}: everywhere", left(stage, user), NOTHING)
