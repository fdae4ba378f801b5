"""The clock is wrong when the service starts, and is set later: nothing older than a deletion is left."""

import os
import sqlite3
import subprocess
import time

from checks import comes_true
from stage import Stage

HERE = os.path.dirname(os.path.abspath(__file__))
YEAR = 365 * 86_400
DATED = """
ALTER TABLE posts ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
"""
FENCE = 'created_at_column = "created_at"\ncreated_at_unit = "unix_s"\n'


def clock_steps(checks, seed):
    stage = Stage(checks, seed)
    shim = stage.path("clock.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, os.path.join(HERE, "clock.c")], check=True)
    with sqlite3.connect(stage.app) as app:
        app.executescript(DATED)
    fence(stage)
    clock = Clock(stage, shim)
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


class Clock:
    """What the service takes for the machine's clock."""

    def __init__(self, stage, shim):
        self.file, self.shim, self.boot = stage.path("offset"), shim, 1

    def set(self, offset):
        with open(self.file + ".new", "w") as file:
            file.write(str(offset))
        os.replace(self.file + ".new", self.file)

    def environment(self):
        return {"LD_PRELOAD": self.shim, "CLOCK_OFFSET": self.file, "EXPUNGED_BOOT_ID": f"boot{self.boot}"}


def fence(stage):
    path = stage.path("expunged.toml")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace('action = "delete"\n', 'action = "delete"\n' + FENCE))


def started(checks, stage, clock, what):
    stage.start(**clock.environment())
    return checks.check(f"it starts {what}", stage.comes_up(), stage.log()[-2000:])


def dated(stage, count, at=None):
    """Users whose rows say when they were written, by the right clock, within the last minutes."""
    users = stage.new_users(count)
    with sqlite3.connect(stage.app, timeout=10) as app:
        for user in users:
            app.execute("UPDATE posts SET created_at = ? - (id % 5) * 60 WHERE author_id = ?",
                        (int((at or time.time()) - 1), user))
    return users


def deleted(checks, stage, users, what, seconds=60):
    for user in users:
        stage.delete(user)
    done(checks, stage, users, what, seconds)


def done(checks, stage, users, what, seconds=60):
    ended = comes_true(lambda: stage.open_count() == 0, seconds)
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
        lambda: stage.http("GET", "/v1/status")[1]["parked"].get("clock_behind") == 5, 15),
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
    tokens = stage.new_tokens(3)
    for user, token in zip(users, tokens):
        stage.store(user, token)
        stage.delete(user)
    time.sleep(3)
    stage.kill()
    clock.set(0)
    stage.sandbox.fault(0)
    started(checks, stage, clock, "with the right clock again")
    done(checks, stage, users, "accepted half an hour ahead, and killed")


def many(checks, stage, clock):
    users = []
    for number in range(40):
        clock.set(stage.dice.choice((-YEAR, -3600, -30, 30, 3600, YEAR)) if number % 2 else 0)
        user = dated(stage, 1)
        if not comes_true(stage.is_up, 10):
            checks.check("the service runs", False, (stage.daemon.poll(), stage.log()[-3000:]))
            return
        stage.delete(user[0])
        users += user
        time.sleep(0.05)
    clock.set(0)
    # A clock that was set back by half a minute is waited for.
    done(checks, stage, users, "40 steps of the clock", 100)
