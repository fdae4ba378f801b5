"""The clock is wrong when the service starts, and is set later: nothing older than a deletion is left."""

import contextlib
import os
import shutil
import sqlite3
import time

from checks import HANG_S, comes_true, within
from clock_campaign import campaign
from preload import preload
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, Stage

YEAR = 365 * 86_400
DATED = """
ALTER TABLE posts ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
"""
CUTOFF = 'created_at_column = "created_at"\ncreated_at_unit = "unix_s"\n'


@scenario(bars=True)
def clock_steps(checks, seed, count=40):
    steps(checks, seed)
    new_installations(checks, seed)
    signed_in_behind(checks, seed)
    campaign(checks, *prepared(checks, seed), count)


def prepared(checks, seed):
    # A check whose answer a fault took away would wait for a day otherwise.
    stage = Stage(checks, seed, Sandbox(BINARIES, "--refresh-limit", "off"))
    stage.owns_sandbox = True
    shim = preload("clock", stage.directory)
    with sqlite3.connect(stage.app) as app:
        app.executescript(DATED)
    cutoff(stage)
    stage.hasten()
    return stage, Clock(stage, shim)


def steps(checks, seed):
    stage, clock = prepared(checks, seed)
    # An installation that has run before: the ledger has a checkpoint.
    clock.set(0)
    started(checks, stage, clock, "with the right clock")
    deleted(checks, stage, stage.new_users(2), "the right clock")
    stage.stop()
    behind(checks, stage, clock)
    ahead(checks, stage, clock)
    many(checks, stage, clock)
    stage.scan()
    stage.close()


def new_installations(checks, seed):
    """No checkpoint says what time it is: the program's age does, and the rows themselves do."""
    stage, clock = prepared(checks, seed)
    clock.set(-YEAR)
    started(checks, stage, clock, "new, and older than its program")
    held_until_set(checks, stage, clock, dated(stage, 5), "older than its program", lambda ids: stage.http(
        "GET", "/v1/status")[1]["parked"].get("clock_behind") == len(ids))
    stage.stop()
    stage.close()
    for what, offset in (("a year behind", -YEAR), ("set back by an hour", -3600)):
        stage, clock = prepared(checks, seed)
        program = stage.path("expunged")
        shutil.copy(os.path.join(BINARIES, "expunged"), program)
        os.utime(program, (1e9, 1e9))
        arguments = stage.arguments()
        stage.arguments = lambda: [program, *arguments[1:]]
        clock.set(0 if offset == -3600 else offset)
        started(checks, stage, clock, f"new, {what}")
        clock.set(offset)
        held_until_set(checks, stage, clock, dated(stage, 5), what, lambda ids: all(
            "has a time in the future" in str(stage.http("GET", f"/v1/requests/{id}")[1]) for id in ids))
        # An odd row holds nobody but its user, and the request goes on when it is corrected.
        odd, other = dated(stage, 2)
        with sqlite3.connect(stage.app, timeout=HANG_S) as app:
            app.execute("UPDATE posts SET created_at = 9999999999 WHERE id = (SELECT max(id) FROM posts"
                        " WHERE author_id = ?)", (odd,))
        stage.delete(odd)
        deleted(checks, stage, [other], f"{what}, beside a row of the far future", left=1)
        checks.equal("     whose user's request stays open", stage.open_count(), 1)
        with sqlite3.connect(stage.app, timeout=HANG_S) as app:
            app.execute("UPDATE posts SET created_at = 1 WHERE author_id = ?", (odd,))
        done(checks, stage, [odd], f"{what}, with that row corrected")
        stage.stop()
        stage.scan()
        stage.close()


def signed_in_behind(checks, seed):
    """A link was cut, and the user signs in again while the clock is behind that: the new token is live."""
    stage, clock = prepared(checks, seed)
    clock.set(0)
    started(checks, stage, clock, "with the right clock")
    users = dated(stage, 3)
    tokens = stage.new_tokens(6)
    for user, token in zip(users, tokens):
        stage.store(user, token)
    stage.stop()
    day = 86_400_000
    with contextlib.closing(sqlite3.connect(stage.path("state/state.db"))) as state, state:
        state.execute("UPDATE credentials SET created_at = created_at - ?, last_live_at = NULL", (2 * day,))
        state.execute("UPDATE identities SET link_cut_at = created_at - ?, created_at = created_at - ?", (day, 2 * day))
    clock.boot = 2
    clock.set(-YEAR)
    started(checks, stage, clock, "a year behind")
    for user, token in zip(users, tokens[3:]):
        checks.equal("a user signs in again", stage.store(user, token)[0], 202)
    clock.set(0)
    deleted(checks, stage, users, "who signed in while the clock was behind")
    live = stage.sandbox.live_grants("apple")
    checks.equal("     and the provider knows their new tokens no longer",
                 [token["user"] for token in tokens[3:] if token["user"] in live], [])
    stage.stop()
    stage.scan()
    stage.close()


def held_until_set(checks, stage, clock, users, what, is_held):
    ids = [stage.delete(user)[1]["id"] for user in users]
    checks.check(f"{what}: every deletion stays open, and says why",
                 comes_true(lambda: is_held(ids)), stage.http("GET", "/v1/status"))
    checks.check("     and none is completed", not within(3, lambda: stage.open_count() != len(users)),
                 stage.http("GET", "/v1/status"))
    clock.set(0)
    done(checks, stage, users, f"{what}, and corrected")


class Clock:
    """What the service takes for the machine's clock."""

    def __init__(self, stage, shim):
        self.file, self.shim, self.boot = stage.path("offset"), shim, 1
        # Seconds that it is ahead of the right one.
        self.offset = 0

    def set(self, offset):
        with open(self.file + ".new", "w") as file:
            file.write(str(round(offset * 1000)))
        os.replace(self.file + ".new", self.file)
        self.offset = offset

    def now(self):
        return time.time() + self.offset

    def environment(self):
        return {"LD_PRELOAD": self.shim, "CLOCK_OFFSET": self.file, "EXPUNGED_BOOT_ID": f"boot{self.boot}"}


def cutoff(stage):
    path = stage.path("expunged.toml")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace('action = "delete"\n', 'action = "delete"\n' + CUTOFF))


def started(checks, stage, clock, what):
    stage.start(**clock.environment())
    return checks.check(f"it starts {what}", stage.comes_up(), stage.log()[-2000:])


def dated(stage, count, at=None):
    """Users whose rows say when they were written, by the right clock, within the last minutes."""
    users = stage.new_users(count)
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        for user in users:
            app.execute("UPDATE posts SET created_at = ? - (id % 5) * 60 WHERE author_id = ?",
                        (int((at or time.time()) - 1), user))
    return users


def deleted(checks, stage, users, what, left=0):
    for user in users:
        stage.delete(user)
    done(checks, stage, users, what, left)


def done(checks, stage, users, what, left=0):
    # A clock that is set back by up to a minute is waited for.
    ended = comes_true(lambda: stage.open_count() == left, 600)
    left = stage.rows_left()
    checks.check(f"{what}: every deletion ends", ended, stage.http("GET", "/v1/status"))
    checks.equal(f"{what}: rows of the users that are left",
                 sum(left.get(user, 0) for user in users), 0)


def behind(checks, stage, clock):
    # The machine was rebooted, and its battery is empty.
    clock.boot = 2
    clock.set(-YEAR)
    started(checks, stage, clock, "a year behind")
    users = dated(stage, 5)
    for user in users:
        stage.delete(user)
    checks.check("nothing is erased while the clock is behind the ledger", comes_true(
        lambda: stage.http("GET", "/v1/status")[1]["parked"].get("clock_behind") == 5),
        stage.http("GET", "/v1/status"))
    checks.check("     and an alarm says so", "clock_behind" in stage.http("GET", "/v1/status")[1]["alarms"])
    clock.set(0)
    # Any use of the clock notices that it was set; in production a timer does at once.
    done(checks, stage, users, "accepted a year behind")
    status = stage.http("GET", "/v1/status")[1]
    checks.check("an alarm says that the clock was set", "clock_stepped" in status["alarms"], status)
    deleted(checks, stage, dated(stage, 5), "after the clock was set")
    stage.stop()


def ahead(checks, stage, clock):
    clock.set(1800)
    started(checks, stage, clock, "half an hour ahead")
    users = dated(stage, 3, time.time() + 1800)
    stage.sandbox.fault(1.0)
    tokens, asked = stage.new_tokens(3), len(stage.sandbox.calls())
    for user, token in zip(users, tokens):
        stage.store(user, token)
        stage.delete(user)
    checks.check("the provider is asked, and fails", comes_true(lambda: len(stage.sandbox.calls()) > asked),
                 stage.log()[-2000:])
    stage.kill()
    clock.set(0)
    stage.sandbox.fault(0)
    started(checks, stage, clock, "with the right clock again")
    done(checks, stage, users, "accepted half an hour ahead, and killed")


def many(checks, stage, clock):
    users = []
    for number in range(40):
        clock.set(stage.random.choice((-YEAR, -3600, -30, 30, 3600, YEAR)) if number % 2 else 0)
        user = dated(stage, 1)
        if not comes_true(stage.is_up):
            checks.check("the service runs", False, (stage.daemon.poll(), stage.log()[-3000:]))
            return
        stage.delete(user[0])
        users += user
        time.sleep(0.05)
    clock.set(0)
    done(checks, stage, users, "40 steps of the clock")
