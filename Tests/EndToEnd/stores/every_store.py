"""The plan, a hold and the guard at every kind of store.

What is in a store is reported by the store's own client; what others have must stay as it was.
"""

from holds import ctl, edit, ends, parked, show, stays, through, works
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, Stage
from stores import Stores, others_are_as_before

LIMIT = 2
# A hold on a store is the same for each kind; these are a database, items without SQL, and calls.
HELD = ("mysql", "dynamodb", "http")
# Of a tree it counts the places that are named, of which each goes whole.
UNCOUNTED = {"realtime-database"}


@scenario()
def every_store(checks, seed):
    sandbox = Sandbox(BINARIES, "--refresh-limit", "off")
    stage = Stage(checks, seed, sandbox)
    found = Stores(stage)
    try:
        found.open()
        found.calm()
        play(checks, stage, found)
        stage.scan()
    finally:
        found.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def play(checks, stage, found):
    users = [f"user-{number}-{stage.random.getrandbits(80):020x}" for number in range(len(HELD) + 1 + 2 * LIMIT)]
    kept = [name for user in users[:3] for name in (user + "x", user.upper())]
    stage.canaries.add(*users)
    found.prepare(users + kept)
    before = found.items()
    stage.starts()
    planned(checks, stage, found, users[0])
    of_user(checks, stage, found, users[0])
    for name, user in zip(HELD, users[1:]):
        of_store(checks, stage, found, name, user, before[name][user])
    guarded(checks, stage, found, users[len(HELD) + 1:])
    others_are_as_before(checks, users, before, found.items())


def planned(checks, stage, found, user):
    held = found.items()
    plan = stage.http("POST", "/v1/plans", {"user_id": user})[1]
    checks.equal("a plan names every store", [store["name"] for store in plan["stores"]], list(found.all))
    for store in plan["stores"]:
        name = store["name"]
        count = sum(item["count"] for item in store["items"] if "count" in item)
        if name not in UNCOUNTED:
            checks.equal(f"{name}: the plan counts what there is", count, len(held[name][user]))
    checks.equal("a plan takes nothing", found.items(), held)


def of_user(checks, stage, found, user):
    held = found.items()
    checks.check("hold --user is accepted", works(ctl(stage, "hold", "--user", user)))
    request = stage.delete(user)[1]["id"]
    checks.check("hold --user: on hold, and stays so",
                 parked(stage, request, "on_hold") and stays(stage, request), show(stage, request))
    checks.equal("hold --user: every store has all of it", found.items(), held)
    released(checks, stage, found, user, request, "--user", user)


def of_store(checks, stage, found, name, user, held):
    """All that can go before the held store goes, and of that one nothing."""
    checks.check(f"{name}: hold --store is accepted", works(ctl(stage, "hold", "--store", name)))
    request = stage.delete(user)[1]["id"]
    checks.check(f"{name}: the deletion is on hold, and stays so",
                 parked(stage, request, "on_hold") and stays(stage, request), show(stage, request))
    left = {store: items[user] for store, items in found.items().items() if items[user]}
    checks.equal(f"{name}: all of it is there", left.get(name), held)
    checks.check(f"{name}: and elsewhere what goes behind it at most",
                 set(left) <= {name, "firebase-auth"}, sorted(left))
    released(checks, stage, found, user, request, "--hold", name)


def released(checks, stage, found, user, request, *arguments):
    checks.check("     released", works(ctl(stage, "release", *arguments)))
    checks.check("     it ends by itself", ends(stage, request), show(stage, request))
    left = [name for name, items in found.items().items() if items[user]]
    checks.equal("     with nothing left anywhere", left, [])
    receipt = stage.http("GET", f"/v1/requests/{request}/receipt")[1]
    checks.equal("     and every store on the receipt", {store["store"] for store in receipt["stores"]},
                 set(found.all))


def guarded(checks, stage, found, users):
    """The guard is set down to what has gone, and two more."""
    stage.stop()
    gone = len(HELD) + 1
    edit(stage, "max_deletions_per_hour = 100000", f"max_deletions_per_hour = {gone + LIMIT}")
    stage.starts()
    requests = {user: stage.delete(user)[1]["id"] for user in users}
    checks.equal("guard: it lets as many through as configured", through(stage, requests, LIMIT), LIMIT)
    waiting = [user for user, request in requests.items() if show(stage, request)["state"] != "completed"]
    checks.check("guard: the others wait for it",
                 all(parked(stage, requests[user], "mass_deletion_guard") for user in waiting))
    items = found.items()
    checks.equal("guard: every store has all of them, and nothing of who went",
                 {name: sorted(user for user in users if held[user]) for name, held in items.items()},
                 {name: sorted(waiting) for name in found.all})
    checks.check("guard override is accepted", works(ctl(stage, "guard", "override")))
    checks.equal("guard: it lets them through", through(stage, requests, len(users)), len(users))
    items = found.items()
    checks.equal("guard: nothing is left of them anywhere",
                 [name for name, held in items.items() if any(held[user] for user in users)], [])
