"""A Redis with very many keys: one pass over them serves the patterns of many users, and a check ends in time."""

import os
import re
import statistics
import subprocess
import threading
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from comfort import in_terminal
from purge_speed import completed, submit
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, Stage
from store_servers import Redis

USERS, SESSIONS = 120, 20
# How many times the time of one user that many may take.
TIMES_MAX = 2
# Each COUNT of a SCAN is a thousand keys; the server may look at some more.
KEYS_A_SCAN = 1000 / 1.1
# For a million keys on a machine that does much else.
PATIENCE_S = 600
WAIT_MS_MAX = 100
# The search ends after 8 s or a million keys; the rest is for the connection and a busy machine.
CHECK_S_MAX = 20
LOOKED_MIN = 100_000

SECTION = """
[[store]]
name = "redis"
kind = "redis"
socket = "{socket}"
keys = ["user:{{user_id}}", "session:{{user_id}}:*", "cart:*:{{user_id}}"]
"""

# A script of the server is quicker than its client.
FILL = "for i = {start}, {end} do redis.call('SET', 'session:other-' .. i % 50000 .. ':' .. i, i) end return 1"


@scenario(bars=True)
def many_keys(checks, seed, count=200_000):
    sandbox = Sandbox(BINARIES)
    stage = Stage(checks, seed, sandbox)
    store = None
    try:
        store = Redis(stage.path("redis"))
        names = [f"user-{stage.random.getrandbits(80):020x}" for _ in range(USERS + 1)]
        stage.canaries.add(*names[:20])
        fill(store, names, count)
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(SECTION.format(socket=store.socket))
        stage.starts()
        check(checks, stage, count)
        one, scans = purge(checks, stage, store, names[:1])
        many, more = purge(checks, stage, store, names[1:])
        print(f"     {USERS} users take {many / one:.2f} times the time of one user ({many:.1f} s, {one:.1f} s)")
        if HOLDS_BARS:
            checks.check(f"at most {TIMES_MAX} times as long", many <= TIMES_MAX * one, (many, one))
        checks.check(f"one pass to purge and one to verify: {scans} calls of SCAN for one user, {more} for {USERS}",
                     max(scans, more) <= 2 * count / KEYS_A_SCAN)
        checks.equal("nothing of them is left", store.cli("EVAL", COUNT, "0"), ["0"])
        checks.equal("the others' keys are there", store.cli("DBSIZE"), [str(count)])
        stage.scan()
    finally:
        if store:
            store.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


COUNT = """local found, cursor = 0, '0' repeat local page = redis.call('SCAN', cursor, 'MATCH', '*user-*', 'COUNT', 10000)
cursor = page[1] found = found + #page[2] until cursor == '0' return found"""


def fill(store, names, count):
    for start in range(0, count, 100_000):
        store.cli("EVAL", FILL.format(start=start, end=min(start + 100_000, count) - 1), "0")
    lines = []
    for name in names:
        lines += [f'SET "user:{name}" x', f'SET "cart:1:{name}" x']
        lines += [f'SET "session:{name}:{number}" x' for number in range(SESSIONS)]
    store.cli(text="\n".join(lines) + "\n")


def check(checks, stage, count):
    begun = time.monotonic()
    status, shown = in_terminal(stage, "stores", "check", "redis")
    took = time.monotonic() - begun
    checks.check(f"with {count:,} keys a check ends in {took:.1f} s, and finds nothing",
                 status == 0 and "uncovered:" not in shown, (status, shown))
    if HOLDS_BARS:
        checks.check(f"     that is at most {CHECK_S_MAX} s", took <= CHECK_S_MAX, took)
    checks.check("it shows that it goes on", "looking through store redis, " in shown, shown)
    part = re.search(r"sampled: \*: (\d+) keys were looked at", shown)
    looked = int(part[1]) if part else count
    print(f"     it looked at {looked:,} of them")
    if HOLDS_BARS:
        checks.check(f"     those are at least {LOOKED_MIN:,}", looked >= LOOKED_MIN, shown)


def purge(checks, stage, store, names):
    """Answers the time and the calls of SCAN that it took."""
    store.cli("CONFIG", "RESETSTAT")
    done, client = completed(stage), Client(store)
    # All of them wait before the first pass begins: one that begins with some takes another for the rest.
    stage.run("expungectl", "stores", "pause", "redis")
    submit(stage.spool, names)
    assert comes_true(lambda: parked(stage) == len(names), PATIENCE_S, 0.05), stage.log()[-2000:]
    begun = time.monotonic()
    stage.run("expungectl", "stores", "resume", "redis")
    ended = comes_true(lambda: completed(stage) >= done + len(names), PATIENCE_S, 0.05)
    took = time.monotonic() - begun
    waits = client.stop()
    checks.check(f"{len(names)} users are erased in {took:.1f} s", ended, stage.log()[-2000:])
    if HOLDS_BARS:
        checks.check(f"of {len(waits)} commands of another client beside it, one of a hundred took"
                     f" {statistics.quantiles(waits, n=100)[98]:.1f} ms or longer, the longest {max(waits):.0f}",
                     len(waits) > 10 and statistics.quantiles(waits, n=100)[98] <= WAIT_MS_MAX, sorted(waits)[-20:])
    return took, scan_calls(store)


def parked(stage):
    return stage.http("GET", "/v1/status")[1]["requests"].get("parked", 0)


def scan_calls(store):
    line = next((line for line in store.cli("INFO", "commandstats") if line.startswith("cmdstat_scan:")), "calls=0,")
    return int(line.split("calls=")[1].split(",")[0])


class Client(threading.Thread):
    """An application that reads a key now and then, and notes how long each took, in ms."""

    def __init__(self, store):
        super().__init__(daemon=True)
        self.waits, self.is_over = [], threading.Event()
        self.session = subprocess.Popen(["redis-cli", "-s", store.socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, env=dict(os.environ, TERM="dumb"))
        self.start()

    def run(self):
        while not self.is_over.wait(0.005):
            begun = time.monotonic()
            self.session.stdin.write("GET session:other-1:1\n")
            assert self.session.stdout.readline() == "1\n"
            self.waits.append((time.monotonic() - begun) * 1000)

    def stop(self):
        self.is_over.set()
        self.join(HANG_S)
        self.session.stdin.close()
        self.session.wait(HANG_S)
        return self.waits
