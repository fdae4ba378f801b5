"""Three hosts share a state in PostgreSQL: each takes requests and does a part of the work of all.

One is killed under load, one stands still for longer than its leases last, one is stopped. Judged by the provider's own
table of live tokens and its log of calls, the application's rows, the hosts' spools and the receiver of messages.
"""

import collections
import os
import shutil
import signal
import statistics
import time

from checks import comes_true
from kills import Load
from receiver import Receiver
from sandbox import Sandbox
from stage import BINARIES, ROWS_EACH, Stage

USERS = 90
PARTITIONS = 64
# A lease ends 5 s after its last renewal.
TAKEOVER_S = 7
# Those who left are known at once, and a notification wakes the others.
RELEASED_S = 1


def hosts(checks, seed):
    # What a takeover repeats would be throttled for a day.
    sandbox = Sandbox(BINARIES, "--refresh-limit", "off")
    one = Stage(checks, seed, sandbox, state="postgresql")
    others = [Stage(checks, seed + number, sandbox) for number in (1, 2)]
    stages = [one, *others]
    with open(one.path("expunged.toml"), "a") as file:
        file.write("share_work = true\n")
    receiver = Receiver(one, "app")
    try:
        for stage, name in zip(others, ("two", "three")):
            join(stage, one, name)
            stage.unjudged = "the first host is asked"
        forgets_nothing(others[0])
        for stage in stages:
            stage.starts()
        together(checks, stages)
        share(checks, stages, receiver)
        answer_for_each_other(checks, stages)
        stands_still(checks, stages, receiver)
        stopped(checks, stages)
        killed(checks, stages)
    finally:
        receiver.close()
        for stage in others:
            stage.stop()
        one.close(keep=bool(checks.failed))
        for stage in others:
            stage.close(keep=bool(checks.failed))
        sandbox.close()


def join(stage, one, name):
    """The same configuration, credentials and keys; another name and a spool of its own."""
    with open(one.path("expunged.toml")) as file:
        text = file.read()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace('host = "one"', f'host = "{name}"'))
    stage.app = one.app
    shutil.copytree(one.path("credentials"), stage.path("credentials"), dirs_exist_ok=True)
    for key in ("hash.key", "ledger.key"):
        source = one.path(f"state/{key}")
        if not os.path.exists(source):
            # Made by the first start.
            one.starts()
            one.stop()
        shutil.copy(source, stage.path(f"state/{key}"))


def forgets_nothing(stage):
    left = stage.path("state/state.db")
    with open(left, "w"):
        pass
    stage.start()
    stage.checks.check("a host that has a state in a file forgets nothing", comes_true(
        lambda: stage.daemon.poll() == 78, 20) and "file_left" in stage.log(), stage.log()[-600:])
    os.unlink(left)


def known(stage):
    """What a host knows of all: {name: row}."""
    return {row["name"]: row for row in stage.http("GET", "/v1/hosts")[1]["items"]}


def live(stage):
    return {name: row for name, row in known(stage).items() if row["partitions"]}


def steward(stages):
    name = next(name for name, row in known(stages[0]).items() if row["steward"])
    return next(stage for stage in stages if me(stage) == name)


def me(stage):
    return next(name for name, row in known(stage).items() if row["this"])


def together(checks, stages):
    def is_balanced():
        counts = [row["partitions"] for row in live(stages[0]).values()]
        return sum(counts) == PARTITIONS and len(counts) == 3 and max(counts) - min(counts) <= 1
    checks.check("three hosts share the partitions evenly", comes_true(is_balanced, 30, 0.2), known(stages[0]))
    checks.equal("     each host says the same", len({tuple(sorted(
        (name, row["partitions"], row["steward"]) for name, row in known(stage).items())) for stage in stages}), 1)
    checks.equal("     one of them is the steward", sum(row["steward"] for row in known(stages[0]).values()), 1)
    shown = stages[1].run("expungectl", "hosts").stdout
    checks.check("     expungectl lists them", "steward" in shown and "(this)" in shown
                 and all(name in shown for name in ("one", "two", "three")), shown)
    here = steward(stages)
    there = next(stage for stage in stages if stage is not here)
    refused = there.run("expungectl", "replay", "--since", "2020-01-01T00:00:00Z")
    checks.check("     what one host does for all is refused elsewhere, with its name", refused.returncode != 0
                 and f"host '{me(here)}' does this for all hosts" in refused.stderr, refused.stderr)
    done = here.run("expungectl", "replay", "--since", "2020-01-01T00:00:00Z")
    checks.check("     and done there", done.returncode == 0, done.stderr)


def new_users(stages, count):
    """Users with rows and a token each; every host gets some of the tokens."""
    users = stages[0].new_users(count)
    for index, (user, token) in enumerate(zip(users, stages[0].new_tokens(count))):
        status, answer = stages[index % len(stages)].store(user, token)
        assert status == 202, answer
    return users


def loads(stages, users):
    """Each host gets the deletions of its share of the users, by both channels."""
    loads = [Load(stage, users[index::len(stages)]) for index, stage in enumerate(stages)]
    for load in loads:
        load.start()
    return loads


def are_erased(one, users, timeout=60):
    return comes_true(lambda: not set(users) & set(one.rows_left()), timeout)


def share(checks, stages, receiver):
    users = new_users(stages, USERS)
    begun = len(stages[0].sandbox.calls())
    all_loads = loads(stages, users)
    for load in all_loads:
        load.join()
    checks.check(f"{USERS} deletions handed in at three hosts are carried out", are_erased(stages[0], users),
                 stages[0].rows_left())
    for stage, load in zip(stages, all_loads):
        checks.check(f"     host '{me(stage)}' shows its own in its spool", comes_true(
            lambda: {state for state, in stage.spool_rows("SELECT state FROM requests")} == {"completed"}, 20),
            stage.spool_rows("SELECT state, count(*) FROM requests GROUP BY state"))
    calls = collections.Counter(call["subject"] for call in stages[0].sandbox.calls()[begun:]
                                if call.get("endpoint") == "revoke")
    checks.equal("     each token was revoked by one call", (len(calls), set(calls.values())), (USERS, {1}))
    checks.check("     every end is reported to a subscriber, whichever host it was on", comes_true(
        lambda: len(ended(receiver)) == USERS, 20), len(ended(receiver)))
    checks.equal("     and each message once", len(receiver.seen), len(receiver.delivered()))


def ended(receiver):
    return {request for request, states in receiver.states().items() if states[-1] == "completed"}


def answer_for_each_other(checks, stages):
    for stage in stages:
        stage.run("expungectl", "targets", "pause", "app-db")
    users = new_users(stages, 12)
    answers = [[stage.delete(user, key=f"same-{user}")[1]["id"] for stage in stages] for user in users]
    checks.check("a deletion that is sent to all hosts is one request", all(len(set(ids)) == 1 for ids in answers), answers)
    times = []
    for user, (request, *_) in zip(users, answers):
        stage = stages[users.index(user) % 3]
        for verb in ("hold", "release"):
            begun = time.monotonic()
            status, answer = stage.http("POST", f"/v1/requests/{request}/{verb}", {"reason": "law"} if verb == "hold" else None)
            times.append(time.monotonic() - begun)
            assert status == 200, answer
    checks.check(f"     an operation on any host's request is answered in {statistics.median(times) * 1000:.0f} ms in the middle",
                 statistics.median(times) <= 1, sorted(times))
    waits = stages[2].run("expungectl", "show", answers[0][0])
    checks.check("     every host shows it", waits.returncode == 0, waits.stderr)
    stages[1].run("expungectl", "targets", "resume", "app-db")
    checks.check("     a pause that another host placed ends everywhere", are_erased(stages[0], users, 30))
    for stage in stages:
        done = stage.run("expungectl", "wait", answers[0][0], timeout=30)
        checks.equal(f"     host '{me(stage)}' hears of the end", done.returncode, 0)


def stands_still(checks, stages, receiver):
    """The steward stands still for longer than its leases last, and goes on as if nothing had happened."""
    frozen = steward(stages)
    others = [stage for stage in stages if stage is not frozen]
    name = me(frozen)
    users = new_users(stages, USERS)
    all_loads = loads(stages, users)
    comes_true(lambda: sum(user not in stages[0].rows_left() for user in users) > USERS // 4, 30, 0.01)
    begun = len(stages[0].sandbox.calls())
    frozen.daemon.send_signal(signal.SIGSTOP)
    since = time.monotonic()
    taken = comes_true(lambda: name not in live(others[0]), 20, 0.1)
    took(checks, "a host that stands still", time.monotonic() - since, taken)
    time.sleep(1)
    checks.check("     another one is the steward", any(row["steward"] for row in live(others[0]).values()), known(others[0]))
    frozen.daemon.send_signal(signal.SIGCONT)
    for load in all_loads:
        load.join()
    checks.check("     it goes on, and all is carried out", are_erased(stages[0], users) and frozen.daemon.poll() is None,
                 (stages[0].rows_left(), frozen.log()[-800:]))
    reported = len(ended(receiver))
    ids = {request for load in all_loads for request in load.ids.values()}
    checks.check("     every end is reported", comes_true(lambda: ids <= ended(receiver), 30),
                 (reported, len(ids - ended(receiver))))
    checks.check("     it gets its share back", comes_true(lambda: name in live(others[0]), 30, 0.2), known(others[0]))
    calls = collections.Counter(call["subject"] for call in stages[0].sandbox.calls()[begun:]
                                if call.get("endpoint") == "revoke")
    checks.check("     a token is revoked again only where a call was under way", sum(
        count > 1 for count in calls.values()) <= 8, calls.most_common(12))


def stopped(checks, stages):
    leaving = stages[1]
    users = new_users(stages, 30)
    for user in users:
        assert stages[0].delete(user)[0] == 202
    leaving.stop()
    since = time.monotonic()
    taken = comes_true(lambda: sum(row["partitions"] for name, row in live(stages[0]).items()
                                   if name != "two") == PARTITIONS, 20, 0.05)
    took(checks, "a host that is stopped", time.monotonic() - since, taken, RELEASED_S)
    checks.check("     the others carry out what was handed in", are_erased(stages[0], users), stages[0].rows_left())
    leaving.starts()
    checks.check("     and share with it again", comes_true(lambda: "two" in live(stages[0]), 30, 0.2), known(stages[0]))


def killed(checks, stages):
    dying, rest = stages[2], stages[:2]
    name = me(dying)
    users = new_users(stages, USERS)
    all_loads = loads(rest, users)
    comes_true(lambda: sum(user not in stages[0].rows_left() for user in users) > USERS // 4, 30, 0.01)
    before = set(stages[0].rows_left())
    dying.kill()
    since = time.monotonic()
    taken = comes_true(lambda: name not in live(stages[0]), 20, 0.05)
    took(checks, "a host that is killed", time.monotonic() - since, taken)
    for load in all_loads:
        load.join()
    checks.check("     what was handed in at the others is carried out", are_erased(stages[0], users), stages[0].rows_left())
    checks.check("     users have all of their rows or none", all(
        count == ROWS_EACH for count in stages[0].rows_left().values()), stages[0].rows_left())
    print(f"     {len(before & set(users))} of {USERS} users were left when it died")
    dying.starts()
    checks.check("     when it comes back, it gets a share", comes_true(lambda: name in live(stages[0]), 30, 0.2),
                 known(stages[0]))


def took(checks, what, time_s, is_taken, most=TAKEOVER_S):
    checks.check(f"{what} is replaced within {most} s", is_taken and time_s <= most, f"{time_s:.1f} s")
    print(f"     {what}: the others have its partitions after {time_s:.1f} s")
