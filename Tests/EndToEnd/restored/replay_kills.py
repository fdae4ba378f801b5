"""kill -9 in the middle of a replay, in every store of it; `expungectl replay` goes on, and ends only when it is true.

The order is that of `expunged-replay.service`: a file that names what was restored. Of `records`, which only rows of
the restored database name, it says nothing. Judged by what each store's own client reads, and by the exported ledger.
"""

import json
import os
import sqlite3
import subprocess
import time

from checks import HANG_S, comes_true
from replay import (
    RestoredCommand, RestoredDatabase, RestoredDynamoDB, RestoredFiles, RestoredMySQL, RestoredPostgreSQL,
    RestoredRecords, RestoredRedis, customer, erase, items, judge, ledger_verifies, now, run,
    in_stores)
from scenario import scenario
from stage import BINARIES
from store_servers import make_certificate
from tampering import export, independent, verify

ERASED, KEPT = 300, 100
KILLS_EACH = 2
PATIENCE_S = 240


@scenario()
def replay_kills(checks, seed):
    in_stores(checks, seed, some_stores, ERASED, KEPT, play)


def some_stores(stage, place, stores):
    """In the order of the replay."""
    stores["app-db"] = CountedDatabase(stage)
    stores["records"] = CountedRecords(os.path.join(place, "records"))
    stores["postgresql"] = CountedPostgreSQL(os.path.join(place, "postgresql"))
    stores["mysql"] = CountedMySQL(os.path.join(place, "mysql"))
    stores["redis"] = CountedRedis(os.path.join(place, "redis"))
    stores["files"] = CountedFiles(os.path.join(place, "files"))
    stores["command"] = CountedCommand(os.path.join(place, "command"))
    stores["dynamodb"] = CountedDynamoDB(os.path.join(place, "dynamodb"), *make_certificate(stage.path("app")))


def play(checks, stage, stores, users, kept):
    stage.canaries.add(*users[:20], *map(customer, users[:20]))
    for store in stores.values():
        store.prepare(users + kept)
    before, since = items(stores), now()
    for store in stores.values():
        store.keep_copy()
    assert stage.starts()
    erase(checks, stage, users)
    judge(checks, "erased", stores, before, users, False)
    for store in stores.values():
        store.put_back(users)
    judge(checks, "restored from an old copy", stores, before, users, True)

    with open(stage.path("replay-since"), "w") as file:
        restored = now()
        file.writelines(f"{since} {name} {restored}\n" for name in stores if name != "records")
    with open(stage.path("said"), "wb") as said, open(stage.path("complaints"), "wb") as complaints:
        client = subprocess.Popen(
            [os.path.join(BINARIES, "expungectl"), "replay", "--since-file", stage.path("replay-since"), "--json"],
            stdout=said, stderr=complaints, env=dict(os.environ, EXPUNGED_SOCKET=stage.path("runtime/control.sock")))
        try:
            kill_inside(checks, stage, stores, client)
        finally:
            client.kill()
            client.wait()
    judge(checks, "after the replay", stores, before, users, False)
    again = run(stage, "--since", since)
    checks.equal("another replay finds nobody, and is done",
                 (again["state"], sum(store["found"] for store in again["stores"])), ("finished", 0))
    ledger_verifies(checks, stage)
    judge_entries(checks, stage, stores)


def judge_entries(checks, stage, stores):
    """Whoever was erased again is recorded in each store, whichever replay erased and whichever was killed."""
    with sqlite3.connect(stage.spool, timeout=HANG_S) as spool:
        requests = {row[0] for row in spool.execute("SELECT request_id FROM requests WHERE state = 'completed'")}
    with sqlite3.connect(f"file:{stage.path('state/state.db')}?mode=ro", uri=True, timeout=HANG_S) as state:
        begun = state.execute("SELECT count(*) FROM begun_replays").fetchone()[0]
    lines, notes, key = export(stage)
    checks.equal("both verifiers agree with an export",
                 (verify(stage, lines, notes, key), independent(stage, key)), (0, 0))
    entries = [entry for entry in map(json.loads, lines.splitlines()) if entry["event"] == "replayed"]
    missing = {name: len(requests - {entry["request"] for entry in entries if entry["store"] == name})
               for name in stores}
    checks.equal(f"of {len(requests)} requests each has an entry in each store", missing, dict.fromkeys(stores, 0))
    resumed = [entry for entry in entries if entry.get("detail") == "resumed"]
    unknown = [entry for entry in entries if "rows" not in entry]
    checks.check(f"of {len(entries)} entries {len(resumed)} are resumed, and {len(unknown)} of these know no rows",
                 unknown and all(entry in resumed for entry in unknown), unknown[:5])
    checks.equal("nothing is left as begun", begun, 0)


def kill_inside(checks, stage, stores, client):
    """Kills just after as few users are left in a store as chance wants, some times in each store.

    And as soon as no row names some of the records any more: nothing but what the daemon kept leads to them.
    """
    begun, slow, kills, early = time.monotonic(), 0, 0, set()
    goals = {name: ERASED * stage.random.uniform(0.7, 1) for name in stores}
    halves = {name: [] for name in stores}
    while client.poll() is None and time.monotonic() < begun + PATIENCE_S:
        # What is called done first: it must be true of what is read after it.
        done = [store["name"] for replay in said(stage) if replay["state"] == "finished"
                for store in replay["stores"]]
        # One after the other, so that a look at the store in turn takes no time.
        turn = [name for name in stores if name not in (*done, "records")][:1]
        left = {name: stores[name].count() - KEPT for name in {*done, *turn, "app-db", "records"}}
        early |= {name for name in done if left[name]}
        is_behind = left["app-db"] < left["records"] and len(halves["records"]) < KILLS_EACH
        is_half = [name for name in turn if 0 < left[name] < goals[name] and len(halves[name]) < KILLS_EACH]
        if not is_behind and not is_half:
            continue
        time.sleep(0 if is_behind else stage.random.uniform(0, 0.02))
        stage.kill()
        kills += 1
        for name in turn:
            halves[name].append(stores[name].count() - KEPT)
            goals[name] = halves[name][-1] * stage.random.uniform(0.7, 1)
        if is_behind:
            halves["records"].append(stores["records"].count() - stores["app-db"].count())
        stage.start()
        slow += not stage.comes_up()
    checks.equal(f"{kills} kill -9 in {time.monotonic() - begun:.0f} s, after which of {ERASED} users were left: "
                 + "; ".join(f"{name} {counts}" for name, counts in halves.items()), slow, 0)
    checks.check("each store was left half-way, and records with so many that no row names any more", all(
        any(0 < count < ERASED for count in counts) for counts in halves.values()), halves)
    comes_true(lambda: client.poll() is not None, 600)
    with open(stage.path("complaints")) as file:
        complaints = file.read().splitlines()
    checks.check("expungectl goes on by itself and ends well, and says each time why it takes longer",
                 client.poll() == 0 and 0 < len(complaints) <= kills
                 and all("daemon restarted" in line for line in complaints), (client.poll(), complaints))
    checks.equal("it calls every store done", sorted(
        store["name"] for replay in said(stage) if replay["state"] == "finished" for store in replay["stores"]
        if store["name"] != "records"), sorted(set(stores) - {"records"}))
    checks.equal("it calls none done in which something is left", early, set())


def said(stage):
    """The answers of expungectl until now, one behind the other."""
    with open(stage.path("said")) as file:
        text = file.read()
    found, decoder = [], json.JSONDecoder()
    while text.strip():
        try:
            answer, end = decoder.raw_decode(text)
        except ValueError:
            break
        found.append(answer)
        text = text[end:].lstrip()
    return found


class CountedDatabase(RestoredDatabase):
    def count(self):
        """How many users have something, in a look that takes no time."""
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            return app.execute("SELECT count(*) FROM (SELECT author_id FROM posts UNION SELECT user_id FROM accounts)"
                               ).fetchone()[0]


class CountedBySession:
    def put_back(self, users):
        super().put_back(users)
        self.reader = self.session()

    def count(self):
        self.reader.stdin.write("SELECT count(*) FROM (SELECT author FROM posts UNION SELECT owner FROM likes) u;\n")
        self.reader.stdin.flush()
        return int(self.reader.stdout.readline())

    def close(self):
        if hasattr(self, "reader"):
            self.reader.stdin.close()
            self.reader.wait(HANG_S)
        super().close()


class CountedPostgreSQL(CountedBySession, RestoredPostgreSQL):
    pass


class CountedMySQL(CountedBySession, RestoredMySQL):
    pass


class CountedRedis(RestoredRedis):
    def count(self):
        return len({key.split(":")[1] for key in self.cli("KEYS", "*") if ":" in key})


class CountedFiles(RestoredFiles):
    def count(self):
        return len(os.listdir(os.path.join(self.root, "files")))


class CountedRecords(RestoredRecords):
    def count(self):
        return sum(name.endswith(".json") for name in os.listdir(self.root))


class CountedCommand(RestoredCommand):
    def count(self):
        return len(os.listdir(self.home))


class CountedDynamoDB(RestoredDynamoDB):
    def count(self):
        return len({name.split()[-1] for name in self.items()})
