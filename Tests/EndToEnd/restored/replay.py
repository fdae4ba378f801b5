"""Every store is put back from an old copy after many deletions; a replay erases all of them again.

Six hundred users in thirteen stores, and a hundred in the object stores, where one takes some thirty calls of servers
that take 10 ms for each; or as many as `--set users=` says. Who is back and who is gone is reported by each store's own
client, never by the replay.
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
import urllib.parse

from checks import HANG_S, HOLDS_BARS, comes_true
from large_user import RESIDENT_MIB_MAX, resident_mib
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, Stage
from store_servers import (
    S3, CloudStorage, DynamoDB, Files, MySQL, PostgreSQL, Redis, make_certificate)
from store_stand_ins import API, Cloud, Command, Database, Webhook, cloud_stores, number

# A part of somebody else's id, and somebody else's id with something behind it.
NAME = re.compile(r"user-\d+-[0-9a-f]{20}\w*")
# For a thousand users in object stores, on a machine that has other work.
ERASE_S_MAX = REPLAY_S_MAX = 600
# As docs/stores/realtime-database.md says of all but lists of users.
ANSWER_MIB_MAX = 8
LONG_AGO_MS = 1_600_000_000_000
# Of so many users there are two others whose ids are nearly the same.
NEIGHBOURS = 25
# The posts' last lines, and what another store knows a user by.
KEY = """created_at_column = "made"
created_at_unit = "unix_ms"
[[store.table]]
table = "accounts"
column = "user_id"
action = "delete"
created_at_column = "made"
created_at_unit = "unix_ms"
[[store.key]]
name = "customer"
table = "accounts"
column = "user_id"
value = "crm_id"
"""


@scenario(gate={"users": 50}, long=True)
def replay(checks, seed, users=600):
    in_stores(checks, seed, databases_and_clouds, users, 250, play)


@scenario(long=True)
def replay_objects(checks, seed, users=100):
    in_stores(checks, seed, object_stores, users, 60, play)


@scenario(bars=True)
def replay_large_tree(checks, seed):
    in_stores(checks, seed, large_tree, 100, 60, play_large_tree)


def in_stores(checks, seed, make_stores, erased, kept, play):
    sandbox = Sandbox(BINARIES)
    stage = Stage(checks, seed, sandbox)
    stores = {"app-db": RestoredDatabase(stage)}
    try:
        os.chmod(stage.directory, 0o711)
        place = stage.path("stores")
        os.makedirs(place, mode=0o711)
        make_stores(stage, place, stores)
        configure(stage, stores)
        play(checks, stage, stores, *names(stage, erased, kept))
        stage.scan()
    finally:
        # A store that is asked to end waits for its clients.
        stage.stop()
        for store in stores.values():
            if hasattr(store, "close"):
                store.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def databases_and_clouds(stage, place, stores):
    stores["postgresql"] = RestoredPostgreSQL(os.path.join(place, "postgresql"))
    stores["mysql"] = RestoredMySQL(os.path.join(place, "mysql"))
    stores["redis"] = RestoredRedis(os.path.join(place, "redis"))
    stores["files"] = RestoredFiles(os.path.join(place, "files"))
    stores["command"] = RestoredCommand(os.path.join(place, "command"))
    # One for both: a second would replace the files of the first.
    certificate = make_certificate(stage.path("app"))
    stores["webhook"] = RestoredWebhook(*certificate)
    stores["http"] = RestoredAPI(*certificate)
    stores["records"] = RestoredRecords(os.path.join(place, "records"))
    stores["firestore"] = firestore(stage.sandbox)
    stores["cloud-storage"] = cloud_storage(stage.sandbox)
    stores["realtime-database"] = realtime_database(stage.sandbox)
    # The account goes last.
    accounts = cloud_stores(stage.sandbox)["firebase-auth"]
    stores["firebase-auth"] = RestoredCloud(accounts.sandbox, accounts.member, accounts.held, accounts.text)


def object_stores(stage, place, stores):
    stores["cloud-storage"] = RestoredCloudStorage(os.path.join(place, "cloud-storage"))
    certificate, key = make_certificate(stage.path("app"))
    stores["s3"] = RestoredS3(os.path.join(place, "s3"), certificate, key)
    stores["dynamodb"] = RestoredDynamoDB(os.path.join(place, "dynamodb"), certificate, key)


def large_tree(stage, place, stores):
    stores["realtime-database"] = LargeTree.of(realtime_database(stage.sandbox))


def configure(stage, stores):
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(KEY)
        for name, store in stores.items():
            if name != "app-db":
                file.write(f'\n[[store]]\nname = "{name}"\n{store.section(stage)}')


def names(stage, erased, kept):
    users = [f"user-{number}-{stage.random.getrandbits(80):020x}" for number in range(erased)]
    others = [f"user-{number}-{stage.random.getrandbits(80):020x}" for number in range(kept - 2 * NEIGHBOURS)]
    return users, others + [name for user in users[:NEIGHBOURS] for name in (user + "x", user[:-1] + "_")]


def play(checks, stage, stores, users, kept):
    # The search for all thousand of them in every form takes minutes.
    stage.canaries.add(*users[:20], *map(customer, users[:20]))
    for store in stores.values():
        store.prepare(users + kept)
    before = items(stores)
    since, calls = now(), calls_of(stores)
    for store in stores.values():
        store.keep_copy()
    assert stage.starts()
    erase(checks, stage, users)
    judge_calls(checks, "a deletion", stores, calls, users)
    judge(checks, "erased", stores, before, users, False)

    for store in stores.values():
        store.put_back(users)
    restored = now()
    judge(checks, "restored from an old copy", stores, before, users, True)

    for name in sorted({"postgresql", "mysql", "firebase-auth"} & set(stores)):
        drill = run(stage, "--since", since, "--drill", "--store", name)
        checks.equal(f"a drill finds them in {name}", [store["found"] for store in drill["stores"]], [len(users)])
    judge(checks, "after the drill", stores, before, users, True)

    begun, calls = time.monotonic(), calls_of(stores)
    done = run(stage, "--since", since)
    unsure = {name for name, store in stores.items() if store.LEFT_AS}
    judge_calls(checks, "a replay", {name: stores[name] for name in stores if name not in unsure}, calls, users)
    checks.equal(f"the replay ends in {time.monotonic() - begun:.0f} s; what a store dates by its restoration, or not"
                 " at all, is left, and not called done",
                 (done["state"], {store["name"]: store.get("error") for store in done["stores"]}),
                 ("incomplete", {name: store.LEFT_AS for name, store in stores.items()}))
    checks.equal("it says so of each",
                 {store["name"] for store in done["stores"] if store["newer"]}, unsure)
    singles = {"records", "s3"} & unsure
    checks.equal("and once of each item, also where the rows of another store led there",
                 {store["name"]: store["newer"] for store in done["stores"] if store["name"] in singles},
                 dict.fromkeys(singles, len(users)))
    calls = calls_of(stores)
    for name in sorted(unsure):
        begun = time.monotonic()
        done = run(stage, "--since", since, "--store", name, "--restored-at", restored)
        checks.check(f"with the time of its restoration {name} ends in {time.monotonic() - begun:.0f} s, too",
                     done["state"] == "finished" and done["stores"][0]["erased"] == len(users), done)
    judge_calls(checks, "a replay", {name: stores[name] for name in stores if name in unsure}, calls, users)
    judge(checks, "after the replay", stores, before, users, False)
    again = run(stage, "--since", since)
    checks.equal("another replay finds nobody, and is done",
                 (again["state"], sum(store["found"] for store in again["stores"])), ("finished", 0))
    ledger_verifies(checks, stage)


def play_large_tree(checks, stage, stores, users, kept):
    """One answer lists them all, and is longer than others may be."""
    play(checks, stage, stores, users, kept)
    tree = stores["realtime-database"]
    checks.check(f"the tree's {tree.CROWD:,} other users take {tree.listed_mib():.0f} MiB in one answer",
                 tree.listed_mib() > ANSWER_MIB_MAX)
    peak = resident_mib(stage, "VmHWM")
    print(f"     {peak:.0f} MiB resident at most")
    if HOLDS_BARS:
        checks.check(f"at most {RESIDENT_MIB_MAX} MiB resident", peak <= RESIDENT_MIB_MAX, peak)


def ledger_verifies(checks, stage):
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
            return stage.http("GET", "/v1/status")[1]["requests"].get("completed") == len(users)
        except GONE:
            return False

    ended = comes_true(all_ended, ERASE_S_MAX, 0.2)
    checks.check(f"{len(users):,} requests are completed in {time.monotonic() - begun:.0f} s", ended,
                 stage.http("GET", "/v1/status"))


def run(stage, *arguments):
    done = stage.run("expungectl", "replay", *arguments, "--json", timeout=REPLAY_S_MAX)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {"state": done.stderr, "stores": []}


def calls_of(stores):
    return {name: store.relay.connections for name, store in stores.items() if hasattr(store, "relay")}


def judge_calls(checks, what, stores, before, users):
    """A call is a connection: these servers close each. Two rules take so many calls, and listings of all some more."""
    for name, count in calls_of(stores).items():
        each, bound = (count - before[name]) / len(users), stores[name].CALLS_MAX
        checks.check(f"{what} takes {each:.1f} calls of {name} for each user", 0 < each < bound + 1, bound)


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


def judge(checks, when, stores, before, users, is_back):
    """All of the users have something in each store, or none, and everybody else has what they had."""
    after, erased = items(stores), set(users)
    expected = len(users) if is_back else 0
    counts = {name: len(erased & set(held)) for name, held in after.items()}
    checks.equal(f"{when}: {expected:,} of {len(users):,} users have something in "
                 + ", ".join(stores), counts, dict.fromkeys(stores, expected))
    changed = [name for name in stores if others(before[name], erased) != others(after[name], erased)]
    checks.equal(f"{when}: what others have is as it was", changed, [])


def others(held, erased):
    return {owner: content for owner, content in held.items() if owner not in erased}


def customer(user):
    return hashlib.sha256(user.encode()).hexdigest()[:24]


class RestoredDatabase(Database):
    LEFT_AS = None

    def prepare(self, users):
        super().prepare(users)
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            app.execute(f"ALTER TABLE posts ADD COLUMN made INTEGER DEFAULT {LONG_AGO_MS}")
            app.execute(f"CREATE TABLE accounts (user_id TEXT PRIMARY KEY, crm_id TEXT NOT NULL,"
                        f" made INTEGER DEFAULT {LONG_AGO_MS})")
            app.executemany("INSERT INTO accounts (user_id, crm_id) VALUES (?, ?)",
                            [(user, customer(user)) for user in users])

    def items(self):
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            return super().items() | {f"account of {user}": crm for user, crm in app.execute(
                "SELECT user_id, crm_id FROM accounts")}

    def keep_copy(self):
        subprocess.run(["sqlite3", self.stage.app, f"VACUUM INTO '{self.stage.path('app/old.db')}'"], check=True)

    def put_back(self, users):
        """Another file under the old name, while the daemon has the old one open."""
        os.replace(self.stage.path("app/old.db"), self.stage.app)
        for ending in ("-wal", "-shm"):
            if os.path.exists(self.stage.app + ending):
                os.remove(self.stage.app + ending)


class RestoredPostgreSQL(PostgreSQL):
    LEFT_AS = "undated"

    def keep_copy(self):
        done = subprocess.run(["pg_dump", "-h", self.directory, "-U", "owner", "--clean", "postgres"],
                              capture_output=True, text=True, check=True)
        self.dump = done.stdout

    def put_back(self, users):
        """The tables are dropped and made anew."""
        self.sql(self.dump)


class RestoredMySQL(MySQL):
    LEFT_AS = "undated"

    def keep_copy(self):
        done = subprocess.run(["mariadb-dump", "--no-defaults", "-S", self.socket, "-u", "root", "app"],
                              capture_output=True, text=True, check=True)
        self.dump = done.stdout

    def put_back(self, users):
        """The tables are dropped and made anew."""
        self.sql(self.dump)


class RestoredRedis(Redis):
    LEFT_AS = "undated"

    def keep_copy(self):
        self.cli("SAVE")
        shutil.copy(os.path.join(self.directory, "dump.rdb"), os.path.join(self.directory, "old.rdb"))

    def put_back(self, users):
        """Another server, which reads the old file."""
        self.cli(text="SHUTDOWN NOSAVE\n")
        self.process.wait(HANG_S)
        shutil.copy(os.path.join(self.directory, "old.rdb"), os.path.join(self.directory, "dump.rdb"))
        self.serve()


class RestoredFiles(Files):
    LEFT_AS = "newer_than_erasure"
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


class RestoredCloudStorage(CloudStorage):
    LEFT_AS = "newer_than_erasure"
    CUT_RATE = CHANGE_S = 0
    OBJECTS = 1
    # Two listings and deletions, the bucket's policy, and two times two listings.
    CALLS_MAX = 9

    def keep_copy(self):
        pass

    def put_back(self, users):
        """As a copy from another bucket: every object is new."""
        self.fill(users)


class RestoredS3(S3):
    LEFT_AS = "newer_than_erasure"
    CUT_RATE = 0
    # Two times two listings and a deletion, and two times three listings.
    CALLS_MAX = 11

    def prepare(self, users):
        self.make_bucket()
        self.fill(users)

    def fill(self, users):
        for user in users:
            self.call("PUT", f"/uploads/users/{user}/0", f"of {user}")

    def keep_copy(self):
        pass

    def put_back(self, users):
        """As a copy from another bucket; it is dated by the second, and not by that of the erasure."""
        second = int(time.time())
        assert comes_true(lambda: int(time.time()) > second), "the clock stands still"
        self.fill(users)


class RestoredDynamoDB(DynamoDB):
    """A restored table has the dates that its application wrote."""

    LEFT_AS = None
    CUT_RATE = 0
    OBJECTS = 1
    # A query and a deletion, a query of the index with a read and a deletion, and two queries.
    CALLS_MAX = 7

    def keep_copy(self):
        pass

    def put_back(self, users):
        self.fill(users)


PROGRAM = r"""#!/bin/sh
set -eu
export LC_ALL=C
cd '{home}'
IFS= read -r ask || test -n "$ask"
value() {
    value=${ask#*\""$1"\":\"}
    if [ "$value" = "$ask" ]; then value=; else value=${value%%\"*}; fi
}
value user_id; user=$value
value after; after=$value
value operation
case $value in
users)
    count=0 list= last= next=null
    for name in *; do
        [ -e "$name" ] && [ "$name" \> "$after" ] || continue
        [ $count -lt 100 ] || { next="\"$last\""; break; }
        list="$list${list:+,}\"$name\"" last=$name count=$((count + 1))
    done
    echo "{\"outcome\":\"listed\",\"users\":[$list],\"next\":$next}" ;;
verify)
    if [ -e "$user" ]; then echo '{"outcome":"remaining","count":1}'; else echo '{"outcome":"clean"}'; fi ;;
purge)
    count=0
    if [ -e "$user" ]; then count=1; rm -- "$user"; fi
    echo "{\"outcome\":\"purged\",\"entries\":[{\"name\":\"rows\",\"count\":$count}]}" ;;
*) echo '{"outcome":"ok"}' ;;
esac
"""


class RestoredCommand(Command):
    """A program whose store is a folder with a file for each user, which it lists a hundred a page."""

    LEFT_AS = None

    def __init__(self, directory):
        super().__init__(directory)
        with open(self.program, "w") as file:
            file.write(PROGRAM.replace("{home}", self.home))

    def prepare(self, users):
        for user in users:
            with open(os.path.join(self.home, user), "w") as file:
                file.write(f"rows of {user}")

    def items(self):
        found = {}
        for user in os.listdir(self.home):
            with open(os.path.join(self.home, user)) as file:
                found[user] = file.read()
        return found

    def keep_copy(self):
        shutil.copytree(self.home, self.home + ".old")

    def put_back(self, users):
        shutil.copytree(self.home + ".old", self.home, dirs_exist_ok=True)


class RestoredAPI(API):
    """An HTTP API that lists its users, a hundred a page, and erases each by one call."""

    LEFT_AS = "undated"
    PAGE = 100

    def prepare(self, users):
        self.is_faulty = False
        self.rows = {user: [f"row {number} of {user}" for number in range(4)] for user in users}

    def items(self):
        with self.lock:
            return {f"{user}/{number}": text for user, rows in self.rows.items() for number, text in enumerate(rows)}

    def answer(self, method, url):
        query = dict(urllib.parse.parse_qsl(url.query))
        with self.lock:
            if url.path == "/users":
                left = sorted(name for name in self.rows if name > query.get("after", ""))
                page = left[:self.PAGE]
                return 200, {"users": [{"id": user} for user in page], "next": page[-1] if page != left else None}
            rows = self.rows.pop(query["owner"], []) if method == "DELETE" else self.rows.get(query["owner"], [])
        return 200, {"count": len(rows)}

    def section(self, stage):
        text = super().section(stage)
        return text[:text.index("[[store.erase]]")] + """[[store.erase]]
name = "rows"
method = "DELETE"
path = "/rows"
query = { owner = "{user_id}" }
count = "/count"
[[store.verify]]
name = "rows"
method = "GET"
path = "/rows"
query = { owner = "{user_id}" }
count = "/count"
[[store.users]]
name = "users"
method = "GET"
path = "/users"
query = { after = "{cursor}" }
items = "/users"
id = "/id"
next = "/next"
"""

    def keep_copy(self):
        self.copy = dict(self.rows)

    def put_back(self, users):
        self.rows = dict(self.copy)


class RestoredWebhook(Webhook):
    """A service that lists its users, a hundred a page."""

    LEFT_AS = None
    PAGE = 100

    def prepare(self, users):
        self.is_faulty = False
        self.rows = {user: [f"row {number} of {user}" for number in range(8)] for user in users}

    def items(self):
        with self.lock:
            return {f"{user}/{number}": text for user, rows in self.rows.items() for number, text in enumerate(rows)}

    def answer(self, question, is_half):
        user, operation = question.get("user_id"), question["operation"]
        with self.lock:
            if operation == "users":
                left = sorted(name for name in self.rows if name > question.get("after", ""))
                page = left[:self.PAGE]
                return 200, {"outcome": "listed", "users": page, "next": page[-1] if page != left else None}
            count = len(self.rows.get(user, []))
            if operation == "verify":
                return 200, {"outcome": "remaining", "count": count} if count else {"outcome": "clean"}
            if operation == "purge":
                self.rows.pop(user, None)
                return 200, {"outcome": "purged", "entries": [{"name": "rows", "count": count}]}
        return 200, {"outcome": "ok"}

    def keep_copy(self):
        self.copy = dict(self.rows)

    def put_back(self, users):
        self.rows = dict(self.copy)


class RestoredCloud(Cloud):
    """The sandbox dates what is added to it by 1970."""

    LEFT_AS = None

    def keep_copy(self):
        pass

    def put_back(self, users):
        self.prepare(users)


class RestoredTree(RestoredCloud):
    """Nothing but a `created_at_child` would have a date."""

    LEFT_AS = "undated"


class LargeTree(RestoredTree):
    """The tree of an application with many users."""

    CROWD = 300_000

    @classmethod
    def of(cls, tree):
        return cls(tree.sandbox, tree.member, tree.held, tree.text)

    def prepare(self, users):
        super().prepare(users)
        crowd = self.crowd()
        held, self.held = self.held, lambda user: {f"users/{user}": 1}
        super().prepare(crowd)
        self.held = held

    def put_back(self, users):
        super().prepare(users)

    def crowd(self):
        """Ids as long as those that the others have."""
        return [f"one-{number:06}-{number * 2654435761 % 2**80:020x}" for number in range(self.CROWD)]

    def listed_mib(self):
        return sum(len(f'"{user}":true,') for user in self.crowd()) / 2**20


def realtime_database(sandbox):
    return RestoredTree(
        sandbox, "values", lambda user: {f"users/{user}/{n}": number(f"{n} of {user}") for n in range(2)},
        'kind = "realtime-database"\nurl = "https://example-project-default-rtdb.firebaseio.com"\n'
        'paths = ["users/{user_id}"]\nbase_url = "{endpoint}/cloud/database"\n')


def cloud_storage(sandbox):
    return RestoredCloud(
        sandbox, "objects", lambda user: dict.fromkeys(f"users/{user}/a/{n}" for n in range(2)),
        'kind = "google-cloud-storage"\nbucket = "example-bucket"\nprefixes = ["users/{user_id}/"]\n'
        'base_url = "{endpoint}/cloud/storage"\n')


def firestore(sandbox):
    """Half of the users are names of documents, the others texts of a field in any collection of a name."""
    return RestoredCloud(
        sandbox, "documents", lambda user: {f"users/{user}": {"text": "x"}} if number(user) % 2 else
        {f"albums/1/likes/{user}": {"by.id": user}},
        'kind = "firestore"\nproject = "example-project"\ndocuments = ["users/{user_id}"]\n'
        'groups = ["likes where by.id == {user_id}"]\n'
        'base_url = "{endpoint}/cloud/firestore"\n')
