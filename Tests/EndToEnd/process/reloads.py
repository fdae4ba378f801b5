"""A reload puts into force what it says; many leave nothing behind: judged by the databases and /proc."""

import collections
import os
import sqlite3

from checks import HANG_S, HOLDS_BARS, comes_true
from neighbors import resident_kib
from scenario import scenario
from stage import Stage

RELOADS = 50
# Adapters that were replaced wait as long for their calls under way.
RETIREMENT_S = 60
# What the allocator keeps where all of them were there at once, 4.5 to 5.5 MiB; another 150 add nothing to it.
# A leak of 0.2 MiB each would be 10 MiB.
GROWTH_MAX = 8 * 1024


@scenario(bars=True)
def reloads(checks, seed):
    stage = Stage(checks, seed)
    stage.starts()
    reload(stage)
    before, memory = descriptors(stage), resident_kib(stage)
    for _ in range(RELOADS):
        reload(stage)
    checks.check(f"after {RELOADS} reloads no descriptor more is open", comes_true(
        lambda: descriptors(stage).total() <= before.total() + 1, RETIREMENT_S + 15, 1), descriptors(stage) - before)
    if HOLDS_BARS:
        checks.check("     nor does the daemon keep memory", comes_true(
            lambda: growth(stage, memory) < GROWTH_MAX, RETIREMENT_S + 15, 1), f"{growth(stage, memory)} KiB")
    print(f"     {growth(stage, memory)} KiB")
    user = stage.new_users(1)[0]
    stage.delete(user)
    checks.check("     and a deletion is carried out", comes_true(lambda: user not in stage.rows_left(), 30))
    another_database(checks, stage)
    stage.close()


def another_database(checks, stage):
    """The answer and the databases agree on where rows are deleted."""
    user = stage.new_users(1)[0]
    moved = stage.path("app/moved.db")
    with sqlite3.connect(stage.app) as old, sqlite3.connect(moved) as new:
        old.backup(new)
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace(stage.app, moved))
    answer = reload(stage)
    checks.equal("a store's new path is in force after a reload", (answer["changed"], answer["need_restart"]),
                 (["store.app-db.path"], []))
    stage.delete(user)
    checks.check("     and the rows go there", comes_true(lambda: rows(moved, user) == 0, 30), rows(moved, user))
    checks.check("     and nowhere else", rows(stage.app, user) > 0)
    stage.app = moved


def rows(path, user):
    with sqlite3.connect(path, timeout=HANG_S) as database:
        return database.execute("SELECT count(*) FROM posts WHERE author_id = ?", (user,)).fetchone()[0]


def growth(stage, before):
    # A call makes the allocator give free pages back.
    stage.http("GET", "/v1/status")
    return resident_kib(stage) - before


def reload(stage):
    status, body = stage.http("POST", "/v1/configuration/reload")
    assert status == 200, body
    return body


def descriptors(stage):
    place, found = f"/proc/{stage.daemon.pid}/fd", collections.Counter()
    for name in os.listdir(place):
        try:
            found[os.readlink(os.path.join(place, name)).split(":")[0]] += 1
        except FileNotFoundError:
            continue  # Closed meanwhile.
    return found
