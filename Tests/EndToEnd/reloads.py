"""Many reloads of the same configuration leave nothing behind: judged by /proc of the daemon."""

import collections
import os

from checks import comes_true
from neighbors import resident_kib
from stage import Stage

RELOADS = 50
# Adapters that were replaced wait as long for their calls under way.
RETIREMENT_S = 60
# What the allocator keeps of the first ones, 2.4 MiB; a leak of 0.2 MiB each would be twice as much.
GROWTH_MAX = 5 * 1024


def reloads(checks, seed):
    stage = Stage(checks, seed)
    stage.starts()
    reload(stage)
    before, memory = descriptors(stage), resident_kib(stage)
    for _ in range(RELOADS):
        reload(stage)
    checks.check(f"after {RELOADS} reloads no descriptor more is open", comes_true(
        lambda: descriptors(stage).total() <= before.total() + 1, RETIREMENT_S + 15, 1), descriptors(stage) - before)
    checks.check("     nor does the daemon keep memory", comes_true(
        lambda: growth(stage, memory) < GROWTH_MAX, RETIREMENT_S + 15, 1), f"{growth(stage, memory)} KiB")
    print(f"     {growth(stage, memory)} KiB")
    user = stage.new_users(1)[0]
    stage.delete(user)
    checks.check("     and a deletion is carried out", comes_true(lambda: user not in stage.rows_left(), 30))
    stage.close()


def growth(stage, before):
    # A call makes the allocator give free pages back.
    stage.http("GET", "/v1/status")
    return resident_kib(stage) - before


def reload(stage):
    status, body = stage.http("POST", "/v1/configuration/reload", timeout=30)
    assert status == 200, body


def descriptors(stage):
    place, found = f"/proc/{stage.daemon.pid}/fd", collections.Counter()
    for name in os.listdir(place):
        try:
            found[os.readlink(os.path.join(place, name)).split(":")[0]] += 1
        except FileNotFoundError:
            continue  # Closed meanwhile.
    return found
