"""What keeps one user's data in a store: each obstacle is named, hinders nobody else, and is overcome.

Judged by the rows and files that are left, never by what the daemon believes.
"""

import json
import os
import sqlite3
import subprocess
import sys

from canaries import canary
from checks import HANG_S, comes_true
from holds import later_request_ends
from scenario import scenario
from stage import BINARIES, GONE, ROOT, Stage

STORES = """
[[store.table]]
table = "scores"
column = "player"
id_type = "integer"
action = "delete"
[[store.table]]
table = "profiles"
column = "player"
action = "anonymize"
keep_reason = "tax law"
set = {{ player = {{ strategy = "null" }}, zip = {{ strategy = "truncate", length = 2 }}, mail = {{ strategy = "hash" }} }}
[[store]]
name = "files"
kind = "files"
root = "{files}"
paths = ["{{user_id}}", "*/{{user_id}}"]
[[store]]
name = "crm"
kind = "files"
root = "{crm}"
paths = ["{{user_id}}.json"]
keyed_by = "app-db.customer"
without_keys = "park"
"""
KEY = """
[[store.table]]
table = "users"
column = "id"
action = "delete"
[[store.key]]
name = "customer"
table = "users"
column = "id"
value = "crm_id"
"""
SCHEMA = """
CREATE TABLE users (id TEXT PRIMARY KEY, crm_id TEXT);
CREATE TABLE invoices (number INTEGER PRIMARY KEY, payer TEXT REFERENCES users);
CREATE INDEX invoices_payer ON invoices (payer);
CREATE TABLE scores (player INTEGER, points INTEGER);
CREATE INDEX scores_player ON scores (player);
CREATE TABLE profiles (player TEXT, zip TEXT, mail TEXT);
CREATE INDEX profiles_player ON profiles (player);
CREATE TRIGGER blocked_posts BEFORE DELETE ON posts WHEN old.body = 'keep' BEGIN
  SELECT RAISE(ABORT, 'of somebody@example.org');
END;
"""
FORGED = "erased:0123456789abcdef0123456789abcdef"
VERIFIER = os.path.join(ROOT, "docs/verify-ledger.py")


@scenario(gate={})
def obstacles(checks, seed):
    stage = Stage(checks, seed)
    try:
        town = Town(stage)
        if not stage.starts():
            return
        users = town.settle()
        # With a token, so that its verdict is decided when the store asks for a decision.
        stage.store(users["nobody"], stage.new_tokens(1)[0])
        town.delete(*users.values())
        healthy(checks, stage, town, users["healthy"])
        named(checks, stage, town, users)
        alarmed(checks, stage)
        overcome(checks, stage, town, users)
        missing(checks, stage, town)
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))


class Town:
    """The application: users with an account, posts, scores, a profile, files and a customer record."""

    def __init__(self, stage):
        self.stage = stage
        self.files, self.crm = stage.path("files"), stage.path("crm")
        for path, name in ((self.files, "files"), (self.crm, "crm")):
            os.makedirs(path)
            with open(os.path.join(path, ".expunged-root"), "w") as file:
                file.write(name + "\n")
        with sqlite3.connect(stage.app) as app:
            app.executescript(SCHEMA)
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(STORES.format(files=self.files, crm=self.crm).replace(
                "[[store]]\nname = \"files\"", KEY + "[[store]]\nname = \"files\"", 1))
        self.requests = {}

    def do(self, statement, *values):
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            return app.execute(statement, values).fetchall()

    def settle(self):
        """One user for each obstacle, and healthy ones."""
        random = self.stage.random
        names = {word: str(random.randrange(10 ** 16, 10 ** 17)) for word in
                 ("key", "trigger", "file", "spelling", "nobody", "healthy")}
        self.stage.canaries.add(*names.values())
        for user in names.values():
            customer = f"crm-{canary(random)}"
            self.stage.canaries.add(customer)
            self.do("INSERT INTO users VALUES (?, ?)", user, customer)
            self.do("INSERT INTO posts (author_id, body) VALUES (?, 'text')", user)
            self.do("INSERT INTO scores VALUES (?, 3)", int(user))
            self.do("INSERT INTO profiles VALUES (?, 'YO', ?)", user, FORGED)
            for path in (f"{user}/a", f"{user}/b", f".trash/{user}"):
                os.makedirs(os.path.dirname(f"{self.files}/{path}"), exist_ok=True)
                with open(f"{self.files}/{path}", "w") as file:
                    file.write("text")
            with open(f"{self.crm}/{customer}.json", "w") as file:
                file.write("record")
        self.do("INSERT INTO invoices (payer) VALUES (?)", names["key"])
        self.do("UPDATE posts SET body = 'keep' WHERE author_id = ?", names["trigger"])
        attribute(f"{self.files}/{names['file']}/a", True)
        # In an INTEGER column full-width digits stay text.
        self.do("UPDATE scores SET player = ? WHERE player = ?",
                "".join(chr(0xff10 + int(digit)) for digit in names["spelling"]), int(names["spelling"]))
        # The application was faster than the service.
        self.do("DELETE FROM users WHERE id = ?", names["nobody"])
        return names

    def delete(self, *users):
        for user in users:
            status, body = self.stage.delete(user)
            assert status in (200, 201, 202), body
            self.requests[user] = body["id"]

    def show(self, user):
        return self.stage.http("GET", f"/v1/requests/{self.requests[user]}")[1]

    def state(self, user):
        try:
            return self.show(user)["state"]
        except GONE:
            return None

    def obstacle(self, user):
        return [(step["store"], step["last_error"], step["obstacle"])
                for step in self.show(user)["steps"] if step.get("obstacle")]

    def next_try(self, user):
        tries = [step.get("retry_at") for step in self.show(user)["steps"] if step.get("obstacle")]
        return bool(tries) and all(tries)

    def left(self, user):
        """Rows and files that would have to go."""
        rows = sum(self.do(f"SELECT count(*) FROM {table} WHERE {column} = ?", user)[0][0] for table, column in
                   (("users", "id"), ("posts", "author_id")))
        wide = "".join(chr(0xff10 + int(digit)) for digit in user)
        rows += self.do("SELECT count(*) FROM scores WHERE player IN (?, ?)", int(user), wide)[0][0]
        rows += self.do("SELECT count(*) FROM profiles WHERE player = ?", user)[0][0]
        return rows + os.path.exists(f"{self.files}/{user}")


def attribute(path, is_kept):
    """Lets nobody remove a file, root neither."""
    if os.geteuid() == 0:
        subprocess.run(["chattr", "+i" if is_kept else "-i", path], check=True)
    else:
        os.chmod(os.path.dirname(path), 0o500 if is_kept else 0o700)


def healthy(checks, stage, town, user):
    done = comes_true(lambda: town.state(user) == "completed")
    checks.check("whom nothing hinders is erased beside the others", done and town.left(user) == 0,
                 (town.show(user), town.left(user)))
    receipt = stage.http("GET", f"/v1/requests/{town.requests[user]}/receipt")[1]
    passed = [row for row in receipt["not_erased"] if "hidden folder" in row["reason"]]
    checks.check("the receipt names what a wildcard passed over",
                 [(row["store"], row["rows"]) for row in passed] == [("files", 1)], receipt)


def entries(stage, text):
    return sum(text in line for line in stage.log().splitlines())


def named(checks, stage, town, users):
    expected = {
        "key": ("app-db", "blocked_by_foreign_key", "foreign key 'payer' of 'invoices'"),
        "trigger": ("app-db", "blocked_by_trigger", "trigger 'blocked_posts' of 'posts'"),
        "file": ("files", "blocked_by_permission", "permission of '{user_id}'"),
        "spelling": ("app-db", "other_spelling", "column 'player' of 'scores' spells the value otherwise"),
    }
    for word, what in expected.items():
        user = users[word]
        checks.check(f"{word}: the obstacle is named", comes_true(lambda: what in town.obstacle(user)),
                     town.show(user))
        checks.check(f"{word}: nothing is called completed", town.state(user) != "completed" and town.left(user) > 0,
                     (town.show(user), town.left(user)))
        checks.check(f"{word}: it stands in the journal once",
                     comes_true(lambda: entries(stage, what[2]) >= 1) and entries(stage, what[2]) == 1,
                     stage.log()[-2000:])
        shown = stage.run("expungectl", "show", town.requests[user]).stdout
        checks.check(f"{word}: and in what an operator is shown", what[2] in shown, shown)
        checks.check(f"{word}: with what to do", "\nto mend it: " in shown, shown)
        listed = stage.run("expungectl", "list", "--user", user).stdout
        checks.check(f"{word}: a list has a mark", "ing (blocked) " in listed, listed)
        # While a try is under way there is none.
        checks.check(f"{word}: with the time of the next try", comes_true(
            lambda: "NEXT TRY" in stage.run("expungectl", "show", town.requests[user]).stdout
            and town.next_try(user), pause=0.2), shown)
    printed, said = waiting(stage, town.requests[users["trigger"]])
    checks.check("who waits for the end reads once what stands in the way, and what to do",
                 said.count("  blocked by: app-db: trigger ") == 1 and said.count("  to mend it: ") == 1
                 and not printed, said)
    paused = stage.http("GET", "/v1/stores")[1]
    checks.check("no store is paused for it", "misconfigured" not in str(paused), paused)
    user = users["nobody"]
    parked = comes_true(lambda: (town.state(user), town.show(user).get("detail")) == ("parked", "without_keys"))
    checks.check("a store into which no key led lets the request wait", parked, town.show(user))
    checks.check("its token is revoked by then",
                 [identity["verdict"] for identity in town.show(user)["identities"]] == ["accepted"], town.show(user))
    shown = stage.run("expungectl", "show", town.requests[user]).stdout
    checks.check("an operator reads how it goes on", "waits for: a key into a store" in shown, shown)


def waiting(stage, request):
    """What `expungectl wait` has said, in both ways, when a later request has ended behind its first words."""
    paths = stage.path("waiting-out"), stage.path("waiting-err")
    with open(paths[0], "w") as out, open(paths[1], "w") as err:
        process = subprocess.Popen([os.path.join(BINARIES, "expungectl"), "wait", request], stdout=out, stderr=err,
                                   env=dict(os.environ, EXPUNGED_SOCKET=stage.path("runtime/control.sock")))
    try:
        stage.checks.check("who waits reads something", comes_true(
            lambda: "  to mend it: " in read(paths[1]) or process.poll() is not None), read(paths[1]))
        # Whatever was due until then is decided, and said.
        assert later_request_ends(stage), "a later request does not end"
    finally:
        process.terminate()
        process.wait()
    return tuple(map(read, paths))


def read(path):
    with open(path) as file:
        return file.read()


def alarms(stage):
    return stage.http("GET", "/v1/status")[1]["alarms"]


def metrics(stage):
    return stage.http("GET", "/metrics")[1].decode()


def alarmed(checks, stage):
    """Whom nothing but the surveillance reports."""
    checks.check("blocked users raise an alarm", comes_true(lambda: "purge_blocked" in alarms(stage)), alarms(stage))
    for store, count in (("app-db", 3), ("files", 1), ("crm", 0)):
        line = f'expunged_store_requests_blocked{{store="{store}"}} {count}'
        checks.check(f"{store}: and are counted", comes_true(lambda: f"{line}\n" in metrics(stage)), metrics(stage))
    done = stage.run("expungectl", "stores", "check", "files")
    checks.check("a check of their store says so, and fails",
                 done.returncode == 1 and "1 request is blocked: permission of '{user_id}'" in done.stdout,
                 (done.returncode, done.stdout, done.stderr))


def missing(checks, stage, town):
    """The folder of a store is gone while an operator resumes it."""
    checks.check("the alarm ends with the last obstacle", comes_true(lambda: "purge_blocked" not in alarms(stage)),
                 alarms(stage))
    stage.run("expungectl", "stores", "pause", "crm")
    os.rename(town.crm, town.crm + ".away")
    done = stage.run("expungectl", "stores", "resume", "crm")
    checks.check("resuming a store that is missing says where it is missing, and fails",
                 done.returncode == 1 and town.crm in done.stdout and "paused" in done.stdout,
                 (done.returncode, done.stdout, done.stderr))
    shown = stage.run("expungectl", "stores").stdout
    checks.check("so does the list", town.crm in shown, shown)
    os.rename(town.crm + ".away", town.crm)
    done = stage.run("expungectl", "stores", "resume", "crm")
    checks.check("it is resumed once it is back", done.returncode == 0 and "ready" in done.stdout, done.stdout)


def overcome(checks, stage, town, users):
    town.do("DELETE FROM invoices WHERE payer = ?", users["key"])
    town.do("UPDATE posts SET body = 'text' WHERE author_id = ?", users["trigger"])
    attribute(f"{town.files}/{users['file']}/a", False)
    wide = "".join(chr(0xff10 + int(digit)) for digit in users["spelling"])
    town.do("UPDATE scores SET player = ? WHERE player = ?", int(users["spelling"]), wide)
    for word in ("key", "trigger", "file", "spelling"):
        stage.run("expungectl", "retry", town.requests[users[word]])
        done = comes_true(lambda: town.state(users[word]) == "completed")
        checks.check(f"{word}: once it is overcome the user is erased", done and town.left(users[word]) == 0,
                     (town.show(users[word]), town.left(users[word])))
    user = users["nobody"]
    stage.run("expungectl", "abandon", town.requests[user], "--reason", "no customer record")
    checks.check("an operator lets it go on", comes_true(lambda: town.state(user) == "completed"),
                 town.show(user))
    masked = town.do("SELECT DISTINCT zip, mail = ?, mail GLOB 'erased:*' FROM profiles", FORGED)
    checks.check("neither a short text nor what looks like a mask was taken for masked", masked == [("*", 0, 1)], masked)
    receipt = stage.http("GET", f"/v1/requests/{town.requests[user]}/receipt")[1]
    crm = next(store for store in receipt["stores"] if store["store"] == "crm")
    checks.check("the receipt does not call that store verified",
                 crm["verified"] is False and "not_looked_for" in crm and "NOT looked for in 'crm'" in receipt["summary"],
                 receipt)
    comes_true(lambda: "ledger" in stage.http("GET", f"/v1/requests/{town.requests[user]}/receipt")[1])
    receipt = stage.http("GET", f"/v1/requests/{town.requests[user]}/receipt")[1]
    path = stage.path("receipt.json")
    with open(path, "w") as file:
        json.dump(receipt, file, ensure_ascii=False)
    done = subprocess.run([sys.executable, VERIFIER, receipt["ledger"]["key"], "--receipt", path],
                          capture_output=True, text=True)
    checks.check("the ledger says the same, for a program of our own", done.returncode == 0, done.stderr)
    checks.check("what was revoked stays revoked on it",
                 [(link["verdict"], link["revoked"]) for link in receipt["identities"]] == [("accepted", True)], receipt)
    checks.check("and says who decided", receipt.get("abandoned", {}).get("reason") == "no customer record", receipt)
