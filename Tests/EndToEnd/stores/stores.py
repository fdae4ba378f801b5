"""kill -9 inside the purge of every kind of store, while the stores fail, too.

Judged by what each store's own client sees: of the erased users nothing is left anywhere, and what
everybody else has is byte for byte what it was.
"""

import collections
import json
import os
import threading
import time

from rechecks import disclaimed, module, says
from checks import HANG_S, comes_true
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, Stage
from store_servers import S3, CloudStorage, DynamoDB, Files, MySQL, PostgreSQL, Redis, make_certificate
from store_stand_ins import API, Command, Database, Webhook, cloud_stores

FAULTS = "reset,throttled,unavailable,server_error,html,truncated,wrong_content_type,response_lost"
KILLS, USERS = 44, 30
# Kept for the stores at which no kill came in time: at least one store is hit.
SPARE = 14


@scenario(long=True)
def stores(checks, seed):
    in_stores(checks, seed, kill_inside)


@scenario(gate={})
def all_stores(checks, seed):
    """The same without kills: every kind of store, while all of them fail now and then."""
    in_stores(checks, seed, delete_all)


def in_stores(checks, seed, work):
    sandbox = Sandbox(BINARIES, "--fault-rate", "0.1", "--fault-kinds", FAULTS, "--seed", str(seed),
                      "--retry-after", "1s")
    stage = Stage(checks, seed, sandbox)
    found = Stores(stage)
    try:
        found.open()
        play(checks, stage, found, work)
    finally:
        found.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


class Stores:
    """All of them, in the order of the configuration, and who owns what."""

    def __init__(self, stage):
        self.stage, self.all, self.disturber = stage, {}, None
        self.users, self.owners = [], {}
        self.is_calm = threading.Event()
        # Our own sessions are not to be cut.
        self.lock = threading.Lock()

    def open(self):
        stage = self.stage
        os.chmod(stage.directory, 0o711)
        certificate, key = make_certificate(stage.path("app"))
        place = stage.path("stores")
        os.makedirs(place, mode=0o711)
        self.all["app-db"] = Database(stage)
        for name, make in {
                "postgresql": PostgreSQL, "mysql": MySQL, "redis": Redis, "files": Files,
                "cloud-storage": CloudStorage, "command": Command, "s3": lambda path: S3(path, certificate, key),
                "dynamodb": lambda path: DynamoDB(path, certificate, key)}.items():
            self.all[name] = make(os.path.join(place, name))
        self.all["webhook"] = Webhook(certificate, key)
        self.all["http"] = API(certificate, key)
        # The account goes last.
        self.all.update(cloud_stores(stage.sandbox))
        with open(stage.path("expunged.toml"), "a") as file:
            for name, store in self.all.items():
                if name != "app-db":
                    file.write(f'\n[[store]]\nname = "{name}"\n{store.section(stage)}')

    def disturb(self):
        """Cuts the daemon's sessions at stores that have no relay before them, until asked to stop."""
        def run():
            while not self.is_calm.wait(0.15):
                for store in self.all.values():
                    if hasattr(store, "disturb"):
                        with self.lock:
                            store.disturb()
        self.disturber = threading.Thread(target=run, daemon=True)
        self.disturber.start()

    def calm(self):
        """From now on no store fails."""
        self.is_calm.set()
        if self.disturber:
            self.disturber.join(HANG_S)
        self.stage.sandbox.fault(0)
        self.all["webhook"].is_faulty = self.all["http"].is_faulty = False
        self.all["command"].fail(0)
        for store in self.all.values():
            if hasattr(store, "relay"):
                store.relay.rate = 0

    def close(self):
        self.is_calm.set()
        for store in self.all.values():
            if hasattr(store, "close"):
                store.close()

    def prepare(self, users):
        self.users = sorted(users, key=len, reverse=True)
        for store in self.all.values():
            store.prepare(users)

    def items(self):
        """{store: {user, or None: {item: content}}}."""
        found = {}
        for name, store in self.all.items():
            found[name] = collections.defaultdict(dict)
            with self.lock:
                held = store.items()
            for item, content in held.items():
                found[name][self._owner(item)][item] = content
        return found

    def _owner(self, item):
        """Whose id is in the name; the longest, since a neighbour's id may be part of it."""
        if item not in self.owners:
            self.owners[item] = next((user for user in self.users if user in item), None)
        return self.owners[item]


def play(checks, stage, found, work):
    users = [f"user-{number}-{stage.random.getrandbits(80):020x}" for number in range(USERS)]
    stage.canaries.add(*users)
    neighbours = [name for user in users[:6] for name in (user + "x", user[:-1], user + " 2", user.upper())]
    everybody = users + neighbours
    found.prepare(everybody)
    before = found.items()
    checks.check(f"{len(found.all)} stores hold {sum(len(x) for s in before.values() for x in s.values())} items"
                 f" of {len(everybody)} users",
                 all(set(everybody) <= set(held) for held in before.values()),
                 {name: len(held) for name, held in before.items()})
    stage.starts()
    found.disturb()
    work(checks, stage, found, users, before)
    found.calm()

    def all_ended():
        try:
            return stage.open_count() == 0
        except GONE:
            return False

    calmed = time.monotonic()
    # The wait before an attempt grows with the failures until then.
    ended = comes_true(all_ended, 900, 0.1)
    print(f"     the last one {time.monotonic() - calmed:.0f} s after the last fault")
    checks.check("it goes on by itself, every deletion comes to its end", ended, parked(stage))
    judge(checks, found, users, before)
    proves(checks, stage)
    stage.scan()


def proves(checks, stage):
    """What the daemon had in its hands at the commit, and what it reads back, are one receipt to the verifier."""
    verifier = module()
    requests = stage.http("GET", "/v1/requests?state=completed&limit=100")[1]["items"]
    unproven = []
    for request in requests:
        receipt = stage.http("GET", f"/v1/requests/{request['id']}/receipt")[1]
        output = says(verifier, receipt["ledger"]["key"], json.dumps(receipt))
        if output is None or disclaimed(output) & {"stores", "identities", "not_erased"}:
            unproven.append(receipt)
    checks.equal(f"the ledger proves {len(requests)} receipts, with the counts of every kind of store",
                 (len(requests), unproven), (USERS, []))


def delete_all(checks, stage, found, users, before):
    for user in users:
        take(stage, [user])


def kill_inside(checks, stage, found, users, before):
    """Waits until a purge is at a store, and kills just after; the store least hit goes first."""
    begun, slow, halves = time.monotonic(), 0, collections.Counter()
    waiting, inside = list(users), collections.Counter(dict.fromkeys(found.all, 0))
    kills = 0
    while kills < KILLS:
        # New ones come all the time, or the first store is left to itself soon.
        if len(waiting) > SPARE and kills % 2 == 0:
            take(stage, waiting)
        inside.update(turn(stage, inside))
        time.sleep(stage.random.uniform(0, 0.015))
        stage.kill()
        kills += 1
        left = found.items()
        for name in found.all:
            halves[name] += sum(0 < len(left[name][user]) < len(before[name][user]) for user in users)
        stage.start()
        slow += not stage.comes_up()
    for name in [name for name, hits in inside.items() if not hits]:
        user = waiting.pop(0)
        # Our own session there is not to be cut.
        with found.lock, found.all[name].frozen(user):
            take(stage, [user])
            inside[name] += comes_true(lambda: name in busy(stage))
            stage.kill()
        kills += 1
        stage.start()
        slow += not stage.comes_up()
    while waiting:
        take(stage, waiting)
    checks.equal(f"{kills} kill -9 in {time.monotonic() - begun:.0f} s, inside the purge of "
                 + ", ".join(f"{name} {hits}" for name, hits in inside.items()), slow, 0)
    checks.check("a purge was interrupted at every store", all(inside.values()), inside)
    print("     users half erased after a kill: " + ", ".join(f"{name} {halves[name]}" for name in found.all))


def take(stage, waiting):
    user = waiting.pop(0)
    assert comes_true(lambda: is_taken(stage, user), 30), "not taken"


def turn(stage, inside):
    """The stores that are hit now: waits a second for the one that was least often."""
    patience = time.monotonic() + 1
    while True:
        now = busy(stage)
        least = min(inside.values())
        if any(inside[name] == least for name in now) or time.monotonic() > patience:
            return now


def is_taken(stage, user):
    try:
        return stage.delete(user)[0] == 202
    except GONE:
        return False


def busy(stage):
    """The stores that something is being purged from right now."""
    found = set()
    try:
        for item in stage.http("GET", "/v1/requests?state=purging&limit=20")[1]["items"]:
            steps = stage.http("GET", f"/v1/requests/{item['id']}")[1]["steps"]
            found |= {step["store"] for step in steps
                      if step["kind"] == "purge" and step["state"] == "running"}
    except GONE:
        pass
    return found


def parked(stage):
    text = []
    for item in stage.http("GET", "/v1/requests?limit=1000")[1]["items"]:
        if item["state"] not in ("completed", "cancelled"):
            steps = stage.http("GET", f"/v1/requests/{item['id']}")[1]["steps"]
            text.append(str((item["state"], item.get("detail"),
                             [(s["name"], s["state"], s.get("last_error")) for s in steps])))
    return "\n".join(text)


def judge(checks, found, users, before):
    after = found.items()
    left = {name: sum(len(after[name][user]) for user in users) for name in found.all}
    checks.check(f"of {len(users)} erased users 0 items are left in {len(found.all)} stores",
                 not any(left.values()), left)
    others_are_as_before(checks, users, before, after)


def others_are_as_before(checks, users, before, after):
    for held in (before, after):
        for owners in held.values():
            for user in users:
                owners.pop(user, None)
    changed = [name for name in before if before[name] != after[name]]
    checks.check("what everybody else has is as it was, in every store", not changed,
                 [(name, differences(before[name], after[name])) for name in changed])


def differences(before, after):
    return [(owner, sorted(set(held.items()) ^ set(after.get(owner, {}).items()))[:5])
            for owner, held in before.items() if held != after.get(owner)][:3]
