"""A drill erases in a copy of each store, which proves that a replay would work; where it would not, the drill says so.

What is in a store and in its copy is reported by the store's own client, never by what the drill reports.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from unittest import mock

from checks import HANG_S, comes_true
from replay import now
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, Stage
from store_servers import CloudStorage, DynamoDB, Files, MySQL, PostgreSQL, Redis, S3, make_certificate
from store_stand_ins import Cloud, Command, Database, Webhook, checksum, number

ERASED, KEPT = 12, 5
DRILL_S_MAX = 600


@scenario(long=True)
def drills(checks, seed):
    # Nothing is revoked here: no user has a link.
    sandbox = Sandbox(BINARIES)
    stage = Stage(checks, seed, sandbox)
    stores = {}
    try:
        configure(stage, stores)
        play(checks, stage, stores)
        stage.scan()
    finally:
        for store in stores.values():
            if hasattr(store, "close"):
                store.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def configure(stage, stores):
    os.chmod(stage.directory, 0o711)
    place = stage.path("stores")
    os.makedirs(place, mode=0o711)
    certificate, key = make_certificate(stage.path("app"))
    stores["app-db"] = DrilledDatabase(stage)
    stores["postgresql"] = DrilledPostgreSQL(os.path.join(place, "postgresql"))
    stores["mysql"] = DrilledMySQL(os.path.join(place, "mysql"))
    stores["redis"] = DrilledRedis(os.path.join(place, "redis"))
    stores["files"] = DrilledFiles(os.path.join(place, "files"))
    stores["s3"] = DrilledS3(os.path.join(place, "s3"), certificate, key)
    stores["dynamodb"] = DrilledDynamoDB(os.path.join(place, "dynamodb"), certificate, key)
    stores["cloud-storage"] = DrilledCloudStorage(os.path.join(place, "cloud-storage"))
    stores["command"] = DrilledCommand(os.path.join(place, "command"))
    stores["webhook"] = DrilledWebhook(certificate, key)
    stores["realtime-database"] = DrilledRealtimeDatabase(stage.sandbox)
    # The account goes last.
    stores["firebase-auth"] = DrilledAccounts(stage.sandbox)
    with open(stage.path("expunged.toml"), "a") as file:
        for name, store in stores.items():
            if name != "app-db":
                file.write(f'\n[[store]]\nname = "{name}"\n{store.section(stage)}')


def play(checks, stage, stores):
    users = [f"user-{number}-{stage.random.getrandbits(80):020x}" for number in range(ERASED)]
    kept = [f"kept-{number}-{stage.random.getrandbits(80):020x}" for number in range(KEPT)]
    stage.canaries.add(*users)
    for store in stores.values():
        store.prepare(users + kept)
        store.back_up()
    before = {name: store.items() for name, store in stores.items()}
    since = now()
    assert stage.starts()
    for user in users:
        stage.delete(user)
    ended = comes_true(
        lambda: stage.http("GET", "/v1/status")[1]["requests"].get("completed") == ERASED, pause=0.2)
    checks.check(f"{ERASED} requests are completed", ended, stage.http("GET", "/v1/status"))
    for store in stores.values():
        store.restore(users + kept)
    restored = now()
    live = {name: store.items() for name, store in stores.items()}
    for name, store in stores.items():
        checks.equal(f"{name}: erased, and all there in the copy",
                     (owned(live[name], users), owned(store.items(store.COPY), users)), (0, ERASED))
        fail(checks, stage, name, store, since, restored)
        checks.equal(f"{name}: no drill that fails touched the store or the copy",
                     (store.items() == live[name], owned(store.items(store.COPY), users)), (True, ERASED))
        succeed(checks, stage, name, store, since, restored)
        after = store.items(store.COPY)
        checks.equal(f"{name}: of the erased nothing is left in the copy, of others everything",
                     (owned(after, users), others(after, users)), (0, others(before[name], users)))
        checks.equal(f"{name}: the store is as it was", store.items(), live[name])
    done = stage.run("expungectl", "ledger", "verify")
    checks.equal("the ledger verifies", done.returncode, 0)


def fail(checks, stage, name, store, since, restored):
    for what, place, error, word in store.bad_places():
        status, done = drill(stage, since, name, place, "--restored-at", restored)
        report = done["stores"][0] if done["stores"] else {}
        checks.check(f"{name}: a drill {what} fails: {error}",
                     (status, done["state"], report.get("error")) == (1, "incomplete", error)
                     and word in report.get("detail", ""), (status, done))


def succeed(checks, stage, name, store, since, restored):
    if store.LEFT_AS:
        status, done = drill(stage, since, name, store.COPY)
        checks.equal(f"{name}: what the copy dates by its restoration, or not at all, is left, and the drill says so",
                     (status, done["stores"][0].get("error")), (1, store.LEFT_AS))
    status, done = drill(stage, since, name, store.COPY, "--restored-at", restored)
    report = done["stores"][0] if done["stores"] else {}
    checks.equal(f"{name}: a drill in the copy finds and erases them",
                 (status, done["state"], report.get("found"), report.get("erased"), report.get("error")),
                 (0, "finished", ERASED, ERASED, None))


def drill(stage, since, name, place, *more):
    done = stage.run("expungectl", "replay", "--since", since, "--drill", "--store", name, "--copy", place,
                     *more, "--json", timeout=DRILL_S_MAX)
    is_report = done.stdout.startswith("{")
    return done.returncode, json.loads(done.stdout) if is_report else {"state": done.stderr, "stores": []}


def owned(held, users):
    """How many of the users have something."""
    return sum(any(user in item for item in held) for user in users)


def others(held, users):
    return {item: content for item, content in held.items() if not any(user in item for user in users)}


class DrilledDatabase(Database):
    LEFT_AS = "undated"

    def __init__(self, stage):
        super().__init__(stage)
        self.COPY = stage.path("app/copy.db")

    def items(self, place=None):
        with sqlite3.connect(place or self.stage.app, timeout=HANG_S) as app:
            return {f"{number} of {user}": body for number, user, body in app.execute(
                "SELECT id, author_id, body FROM posts")}

    def back_up(self):
        for name in ("copy", "other"):
            subprocess.run(["sqlite3", self.stage.app, f"VACUUM INTO '{self.stage.path(f'app/{name}.db')}'"],
                           check=True)
        with sqlite3.connect(self.stage.path("app/other.db")) as app:
            app.execute("ALTER TABLE posts RENAME TO articles")

    def restore(self, users):
        os.symlink(self.stage.path("app"), self.stage.path("linked"))

    def bad_places(self):
        yield "in the database itself", self.stage.app, "bad_copy", "store 'app-db' itself"
        yield ("in it by another name", self.stage.path("linked/app.db"), "bad_copy", "store 'app-db' itself")
        yield "in a relative path", "copy.db", "bad_copy", "absolute path"
        yield "where nothing is", self.stage.path("app/nowhere.db"), "misconfigured", "nowhere.db"
        yield "in a database without the table", self.stage.path("app/other.db"), "misconfigured", "posts"


class DrilledPostgreSQL(PostgreSQL):
    LEFT_AS, COPY = "undated", "restored"
    database = "postgres"

    def _client(self):
        return super()._client()[:-1] + [self.database]

    def items(self, place="postgres"):
        with mock.patch.object(self, "database", place):
            return super().items()

    def back_up(self):
        """Before the daemon has a session: no database is copied while others use it."""
        for name in (self.COPY, "stubborn", "empty"):
            self.sql(f"CREATE DATABASE {name} TEMPLATE {'template0' if name == 'empty' else 'postgres'}")
        with mock.patch.object(self, "database", "stubborn"):
            self.sql("CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
                     "CREATE TRIGGER keep BEFORE DELETE ON posts FOR EACH ROW EXECUTE FUNCTION keep()")

    def restore(self, users):
        pass

    def bad_places(self):
        yield "in the database itself", "postgres", "bad_copy", "store 'postgresql' itself"
        yield "in a database that is not there", "nowhere", "misconfigured", "dbname"
        yield "on another host", f"host={self.directory} dbname={self.COPY}", "misconfigured", "dbname"
        yield "in a database without the tables", "empty", "misconfigured", "posts"
        yield "in a database whose rows stay", "stubborn", "remaining_rows", ""


class DrilledMySQL(MySQL):
    LEFT_AS, COPY = "undated", "restored"

    def items(self, place="app"):
        with mock.patch.object(self, "database", place):
            return super().items()

    def back_up(self):
        dump = subprocess.run(["mariadb-dump", "--no-defaults", "-S", self.socket, "-u", "root", "app"],
                              capture_output=True, text=True, check=True).stdout
        for name in (self.COPY, "empty"):
            self.sql(f"CREATE DATABASE {name}; USE {name}; {'' if name == 'empty' else dump}")

    def restore(self, users):
        pass

    def bad_places(self):
        yield "in the database itself", "app", "bad_copy", "store 'mysql' itself"
        yield "in it by another name", "APP", "bad_copy", "store 'mysql' itself"
        yield "in a database that is not there", "nowhere", "misconfigured", "database"
        yield "in a database without the tables", "empty", "misconfigured", "posts"


class DrilledRedis(Redis):
    LEFT_AS, COPY = "undated", "3"
    database = "0"

    def cli(self, *words, text=None):
        return super().cli("-n", self.database, *words, text=text)

    def items(self, place="0"):
        with mock.patch.object(self, "database", place):
            return super().items()

    def back_up(self):
        self.cli(text="".join(f'COPY "{key}" "{key}" DB {self.COPY}\n' for key in self.cli("KEYS", "*")))

    def restore(self, users):
        pass

    def bad_places(self):
        yield "in the database itself", "0", "bad_copy", "store 'redis' itself"
        yield "in a name", "restored", "bad_copy", "number of a database"
        yield "in a database that the server has not", "99", "misconfigured", ""


class DrilledFiles(Files):
    LEFT_AS = "newer_than_erasure"
    FOLDERS = 2

    def __init__(self, directory):
        super().__init__(directory)
        self.COPY = directory + ".restored"

    def items(self, place=None):
        with mock.patch.object(self, "root", place or self.root):
            return {os.path.relpath(name, self.root): content for name, content in super().items().items()}

    def back_up(self):
        subprocess.run(["cp", "-a", self.root, self.root + ".old"], check=True)

    def restore(self, users):
        for name in (self.COPY, self.root + ".unmarked"):
            subprocess.run(["cp", "-a", self.root + ".old", name], check=True)
        os.remove(os.path.join(self.root + ".unmarked", ".expunged-root"))
        shutil.copy(os.path.join(self.root, ".expunged-root"), os.path.join(self.root, "files"))

    def bad_places(self):
        yield "in the folder itself", self.root, "bad_copy", "store 'files' itself"
        yield "within it", os.path.join(self.root, "files"), "bad_copy", "store 'files' itself"
        yield "above it", os.path.dirname(self.root), "bad_copy", "store 'files' itself"
        yield "where nothing is", self.root + ".nowhere", "misconfigured", "nowhere"
        yield "in a folder without its mark", self.root + ".unmarked", "misconfigured", ".expunged-root"


class DrilledS3(S3):
    LEFT_AS, COPY = "newer_than_erasure", "restored"
    bucket = "uploads"
    # What becomes of connections that are cut is shown elsewhere.
    CUT_RATE = 0

    def call(self, method, path, body=None):
        return super().call(method, path.replace("/uploads", "/" + self.bucket, 1), body)

    def items(self, place="uploads"):
        """Without the ids of versions and uploads: the copy has others."""
        with mock.patch.object(self, "bucket", place):
            held = super().items()
        names = [name.rsplit(" ", 1)[0] if not name.startswith("upload ") else name for name in held]
        return {name: names.count(name) for name in names}

    def back_up(self):
        pass

    def restore(self, users):
        # It dates by full seconds: the next one is newer than every request.
        second = int(time.time())
        assert comes_true(lambda: time.time() >= second + 1), "the clock stands still"
        with mock.patch.object(self, "bucket", self.COPY):
            self.prepare(users)

    def bad_places(self):
        yield "in the bucket itself", "uploads", "bad_copy", "store 's3' itself"
        yield "at another host", "evil.example.com/x", "bad_copy", "3 to 63"
        yield "in a bucket that is not there", "nowhere", "misconfigured", "nowhere"


class DrilledDynamoDB(DynamoDB):
    LEFT_AS, COPY = None, "restored-"
    CUT_RATE = 0

    def items(self, place="live-"):
        with mock.patch.object(self, "prefix", place):
            return super().items()

    def back_up(self):
        pass

    def restore(self, users):
        with mock.patch.object(self, "prefix", self.COPY):
            self.prepare(users)

    def bad_places(self):
        yield "in the tables themselves", "live-", "bad_copy", "store 'dynamodb' itself"
        yield "at another host", "evil.example.com/x", "bad_copy", "A-Z"
        yield "where no tables are", "nowhere-", "misconfigured", "nowhere-"


class DrilledCloudStorage(CloudStorage):
    LEFT_AS, COPY = "newer_than_erasure", "restored"
    bucket = "media"
    CUT_RATE = 0

    def call(self, method, path, body=None, *more):
        if path == "/storage/v1/b":
            body = body.replace("media", self.bucket)
        return super().call(method, path.replace("/b/media", "/b/" + self.bucket, 1), body, *more)

    def items(self, place="media"):
        with mock.patch.object(self, "bucket", place):
            return super().items()

    def back_up(self):
        pass

    def restore(self, users):
        with mock.patch.object(self, "bucket", self.COPY):
            self.prepare(users)

    def bad_places(self):
        yield "in the bucket itself", "media", "bad_copy", "store 'cloud-storage' itself"
        yield "at another path", "restored/o/x", "bad_copy", "1 to 222"
        yield "in a bucket that is not there", "nowhere", "misconfigured", "nowhere"


PROGRAM = """#!{python}
import json, os, shutil, sys
ask = json.load(sys.stdin)
operation, home = ask["operation"], {home!r}
if operation == "drill":
    operation, home = ask["step"], os.path.join(os.path.dirname(home), "copies", ask["copy"])
place = os.path.join(home, ask.get("user_id", "-"))
count = len(os.listdir(place)) if os.path.isdir(place) else 0
if not os.path.isdir(home):
    answer = {{"outcome": "problems", "problems": ["there is no such copy"]}}
elif operation == "users":
    answer = {{"outcome": "listed", "users": os.listdir(home)}}
elif operation == "verify":
    answer = {{"outcome": "remaining", "count": count}} if count else {{"outcome": "clean"}}
elif operation == "purge":
    shutil.rmtree(place, ignore_errors=True)
    answer = {{"outcome": "purged", "entries": [{{"name": "rows", "count": count}}]}}
else:
    answer = {{"outcome": "ok"}}
print(json.dumps(answer))
"""


class DrilledCommand(Command):
    """A program with its copies in folders beside the store."""

    LEFT_AS, COPY = None, "restored"

    def __init__(self, directory):
        super().__init__(directory)
        self.copies = os.path.join(directory, "copies")
        with open(self.program, "w") as file:
            file.write(PROGRAM.format(python=sys.executable, home=self.home))

    def items(self, place=None):
        with mock.patch.object(self, "home", os.path.join(self.copies, place) if place else self.home):
            return super().items()

    def back_up(self):
        shutil.copytree(self.home, os.path.join(self.copies, self.COPY))

    def restore(self, users):
        pass

    def bad_places(self):
        yield "in a copy that it does not know", "nowhere", "misconfigured", "no such copy"
        yield "in a copy with a long name", "x" * 201, "bad_copy", "1 to 200"


class DrilledWebhook(Webhook):
    """A service that at first knows no drill."""

    LEFT_AS, COPY = None, "restored"
    knows = False

    def prepare(self, users):
        super().prepare(users)
        self.is_faulty, self.turn = False, threading.Lock()

    def answer(self, question, is_half):
        operation = question["operation"]
        if operation == "drill":
            if not self.knows:
                return 200, {"outcome": "unsupported"}
            with self.turn:
                live, self.rows = self.rows, self.copy
                try:
                    return self.answer({**question, "operation": question["step"]}, is_half)
                finally:
                    self.rows = live
        if operation == "users":
            return 200, {"outcome": "listed", "users": sorted({name.split("/")[0] for name in self.rows})}
        return super().answer(question, is_half)

    def items(self, place=None):
        return dict(self.copy if place else self.rows)

    def back_up(self):
        self.copy = dict(self.rows)

    def restore(self, users):
        pass

    def bad_places(self):
        yield "that it does not know", "restored", "misconfigured", "'drill'"
        self.knows = True


class DrilledCloud(Cloud):
    """One of the sandbox's stores; it takes the emulators' token, and what is in a copy is under another member."""

    COPY = "restored-1"

    def section(self, stage):
        return (self.text.replace("{endpoint}", self.sandbox.endpoint) + "emulator = true\n"
                f'ca_file = "{self.sandbox.path("ca.pem")}"\n')

    def items(self, place=None):
        if place != self.COPY:
            return super().items()
        return self.listed(self.sandbox.ask("cloud").get(self.COPIES, {}).get(place, {}))

    def back_up(self):
        pass

    def restore(self, users):
        path = self.sandbox.path("add.json")
        with open(path, "w") as file:
            json.dump({self.COPIES: {self.COPY: self.copied(users)}}, file)
        self.sandbox.ask("cloud", "--add", path)


class DrilledRealtimeDatabase(DrilledCloud):
    LEFT_AS, COPIES = "undated", "databases"

    def __init__(self, sandbox):
        super().__init__(sandbox, "values", lambda user: {name: number(name) for name in [
            *(f"users/{user}/{n}/text" for n in range(10)), f"online/{user}"]},
            'kind = "realtime-database"\nurl = "https://example-project-default-rtdb.firebaseio.com"\n'
            'paths = ["users/{user_id}", "online/{user_id}"]\nbase_url = "{endpoint}/cloud/database"\n')

    def copied(self, users):
        return {name: value for user in users for name, value in self.held(user).items()}

    def listed(self, held):
        return {name: checksum(value) for name, value in held.items()}

    def bad_places(self):
        yield ("in the database itself", "example-project-default-rtdb", "bad_copy",
               "store 'realtime-database' itself")
        yield "on another host", "evil.example.com/", "bad_copy", "1 to 63"
        yield "in a database that is not there", "nowhere", "misconfigured", ""


class DrilledAccounts(DrilledCloud):
    # The sandbox dates what is added to it by 1970.
    LEFT_AS, COPIES = None, "tenants"

    def __init__(self, sandbox):
        super().__init__(sandbox, "accounts", lambda user: {"password": user},
                         'kind = "firebase-auth"\nproject = "example-project"\n'
                         'base_url = "{endpoint}/cloud/identitytoolkit"\n')

    def copied(self, users):
        return [{"user": user, "links": self.held(user)} for user in users]

    def listed(self, held):
        return {f"account of {item['user']}": checksum(item["links"]) for item in held}

    def bad_places(self):
        yield "at another path", "restored/../x", "bad_copy", "1 to 63"
        yield "in a tenant that is not there", "nowhere", "misconfigured", ""
