"""Every store is put back from an old copy after a thousand deletions; a replay erases all of them again.

Who is back and who is gone is told by each store's own client, never by what the replay reports.
"""

import collections
import datetime
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time

from checks import comes_true
from sandbox import Sandbox
from stage import BINARIES, GONE, Stage
from store_servers import Files, PostgreSQL, Redis
from store_stand_ins import Cloud, Database

ERASED, KEPT = 1000, 250
# A part of somebody else's id, and somebody else's id with something behind it.
NAME = re.compile(r"user-\d+-[0-9a-f]{20}\w*")
ERASE_S_MAX = REPLAY_S_MAX = 120
# What another store knows a user by.
KEY = """
[[target.table]]
table = "accounts"
column = "user_id"
action = "delete"
[[target.key]]
name = "customer"
table = "accounts"
column = "user_id"
value = "crm_id"
"""


def replay(checks, seed):
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
    stores["app-db"] = RestoredDatabase(stage)
    stores["postgresql"] = RestoredPostgreSQL(os.path.join(place, "postgresql"))
    stores["redis"] = RestoredRedis(os.path.join(place, "redis"))
    stores["files"] = RestoredFiles(os.path.join(place, "files"))
    stores["firestore"] = firestore(stage.sandbox)
    stores["records"] = RestoredRecords(os.path.join(place, "records"))
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(KEY)
        for name, store in stores.items():
            if name != "app-db":
                file.write(f'\n[[target]]\nname = "{name}"\n{store.section(stage)}')


def play(checks, stage, stores):
    users = [f"user-{number}-{stage.dice.getrandbits(80):020x}" for number in range(ERASED)]
    kept = [f"user-{number}-{stage.dice.getrandbits(80):020x}" for number in range(KEPT - 50)]
    kept += [user + "x" for user in users[:25]] + [user[:-1] + "_" for user in users[:25]]
    # The search for all thousand of them in every form takes minutes.
    stage.canaries.add(*users[:20], *map(customer, users[:20]))
    for store in stores.values():
        store.prepare(users + kept)
    before = items(stores)
    since = now()
    for store in stores.values():
        store.keep_copy()
    assert stage.starts()
    erase(checks, stage, users)
    judge(checks, "erased", stores, before, users, 0)

    for store in stores.values():
        store.put_back(users)
    restored = now()
    judge(checks, "restored from an old copy", stores, before, users, ERASED)

    drill = run(stage, "--since", since, "--drill", "--target", "postgresql")
    checks.equal("a drill finds them", [target["found"] for target in drill["targets"]], [ERASED])
    judge(checks, "after the drill", stores, before, users, ERASED)

    begun = time.monotonic()
    done = run(stage, "--since", since)
    dated = {name for name, store in stores.items() if store.IS_DATED}
    checks.equal(f"the replay ends in {time.monotonic() - begun:.0f} s; what a store dates by its restoration is"
                 " left, and not called done",
                 (done["state"], {target["name"]: target.get("error") for target in done["targets"]}),
                 ("incomplete", {name: "newer_than_erasure" if name in dated else None for name in stores}))
    checks.equal("it says so of each",
                 {target["name"] for target in done["targets"] if target["fenced"]}, dated)
    checks.equal("and once, also where the rows of another store led there",
                 {target["name"]: target["fenced"] for target in done["targets"]}["records"], ERASED)
    for name in sorted(dated):
        done = run(stage, "--since", since, "--target", name, "--restored-at", restored)
        checks.check(f"with the time of its restoration {name} ends, too",
                     done["state"] == "finished" and done["targets"][0]["erased"] == ERASED, done)
    judge(checks, "after the replay", stores, before, users, 0)
    again = run(stage, "--since", since)
    checks.equal("another replay finds nobody, and is done",
                 (again["state"], sum(target["found"] for target in again["targets"])), ("finished", 0))
    done = subprocess.run([os.path.join(BINARIES, "expungectl"), "ledger", "verify"], capture_output=True,
                          env=dict(os.environ, EXPUNGED_SOCKET=stage.path("runtime/control.sock")))
    checks.equal("the ledger verifies", done.returncode, 0)


def erase(checks, stage, users):
    begun = time.monotonic()
    for start in range(0, len(users), 100):
        names = {f"user{number}": user for number, user in enumerate(users[start:start + 100])}
        stage.spool_do("INSERT INTO requests (kind, user_id) VALUES "
                       + ", ".join(f"('delete_account', :{name})" for name in names), **names)

    def all_ended():
        try:
            return stage.http("GET", "/v1/status")[1]["requests"].get("completed") == ERASED
        except GONE:
            return False

    ended = comes_true(all_ended, ERASE_S_MAX, 0.2)
    checks.check(f"{ERASED:,} requests are completed in {time.monotonic() - begun:.0f} s", ended,
                 stage.http("GET", "/v1/status"))


def run(stage, *arguments):
    done = stage.run("expungectl", "replay", *arguments, "--json", timeout=REPLAY_S_MAX)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {"state": done.stderr, "targets": []}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")[:-4] + "Z"


def items(stores):
    """{store: {user, or None: {item: content}}}."""
    found = {}
    for name, store in stores.items():
        found[name] = collections.defaultdict(dict)
        for item, content in store.items().items():
            owner = NAME.search(item)
            found[name][owner and owner[0]][item] = content
    return found


def judge(checks, when, stores, before, users, expected):
    """So many of the users have something in each store, and everybody else has what they had."""
    after, erased = items(stores), set(users)
    counts = {name: len(erased & set(held)) for name, held in after.items()}
    checks.equal(f"{when}: {expected:,} of {ERASED:,} users have something in "
                 + ", ".join(stores), counts, dict.fromkeys(stores, expected))
    changed = [name for name in stores if others(before[name], erased) != others(after[name], erased)]
    checks.equal(f"{when}: what {KEPT} others have is as it was", changed, [])


def others(held, erased):
    return {owner: content for owner, content in held.items() if owner not in erased}


def customer(user):
    return hashlib.sha256(user.encode()).hexdigest()[:24]


class RestoredDatabase(Database):
    IS_DATED = False

    def prepare(self, users):
        super().prepare(users)
        with sqlite3.connect(self.stage.app, timeout=10) as app:
            app.execute("CREATE TABLE accounts (user_id TEXT PRIMARY KEY, crm_id TEXT NOT NULL)")
            app.executemany("INSERT INTO accounts VALUES (?, ?)", [(user, customer(user)) for user in users])

    def items(self):
        with sqlite3.connect(self.stage.app, timeout=10) as app:
            return super().items() | {f"account of {user}": crm for user, crm in app.execute("SELECT * FROM accounts")}

    def keep_copy(self):
        subprocess.run(["sqlite3", self.stage.app, f"VACUUM INTO '{self.stage.path('app/old.db')}'"], check=True)

    def put_back(self, users):
        """Another file under the old name, while the daemon has the old one open."""
        os.replace(self.stage.path("app/old.db"), self.stage.app)
        for ending in ("-wal", "-shm"):
            if os.path.exists(self.stage.app + ending):
                os.remove(self.stage.app + ending)


class RestoredPostgreSQL(PostgreSQL):
    IS_DATED = False

    def keep_copy(self):
        done = subprocess.run(["pg_dump", "-h", self.directory, "-U", "owner", "--clean", "postgres"],
                              capture_output=True, text=True, check=True)
        self.dump = done.stdout

    def put_back(self, users):
        """The tables are dropped and made anew."""
        self.sql(self.dump)


class RestoredRedis(Redis):
    IS_DATED = False

    def keep_copy(self):
        self.cli("SAVE")
        shutil.copy(os.path.join(self.directory, "dump.rdb"), os.path.join(self.directory, "old.rdb"))

    def put_back(self, users):
        """Another server, which reads the old file."""
        self.cli(text="SHUTDOWN NOSAVE\n")
        self.process.wait(15)
        shutil.copy(os.path.join(self.directory, "old.rdb"), os.path.join(self.directory, "dump.rdb"))
        self.serve()


class RestoredFiles(Files):
    IS_DATED = True
    FOLDERS = 2

    def keep_copy(self):
        subprocess.run(["cp", "-a", self.root, self.root + ".old"], check=True)

    def put_back(self, users):
        """Into the root that is there, as tar and rsync do."""
        subprocess.run(["cp", "-a", self.root + ".old/.", self.root], check=True)


class RestoredRecords(RestoredFiles):
    """A store that knows users by what `accounts` calls them."""

    def prepare(self, users):
        self.users = {customer(user): user for user in users}
        with open(os.path.join(self.root, ".expunged-root"), "w") as file:
            file.write("records\n")
        for name in self.users:
            with open(os.path.join(self.root, f"{name}.json"), "w") as file:
                file.write(name)

    def items(self):
        return {f"{path} of {self.users.get(os.path.basename(path)[:-5])}": text
                for path, text in super().items().items()}

    def section(self, stage):
        return f"""kind = "files"
root = "{self.root}"
paths = ["{{user_id}}.json"]
keyed_by = "app-db.customer"
"""


class RestoredCloud(Cloud):
    IS_DATED = False

    def keep_copy(self):
        pass

    def put_back(self, users):
        self.prepare(users)


def firestore(sandbox):
    """The sandbox dates what is added to it by 1970."""
    return RestoredCloud(
        sandbox, "documents", lambda user: [f"users/{user}", f"users/{user}/posts/1"],
        'kind = "firestore"\nproject = "example-project"\ndocuments = ["users/{user_id}"]\n'
        'base_url = "{endpoint}/cloud/firestore"\n')
