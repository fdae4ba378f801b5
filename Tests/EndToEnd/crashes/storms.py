"""Calls fail by the dozen, and stop failing: then every deletion is carried out, none before its revocation.

The n-th call of a run fails in `durability`; here it is one in so many for a while, as it is when a machine has no
memory, no descriptors or no entropy left. A manager restarts what ends, as systemd does.
"""

import collections
import os
import signal
import socket
import sqlite3
import tempfile
import threading
import time

from checks import comes_true, within
from preload import preload
from sandbox import CLIENT, Sandbox
from scenario import scenario
from stage import BINARIES, GONE, Stage

# (kind, one call in so many fails). Without entropy BoringSSL and Swift end the process by themselves, and without memory
# of the kernel NIO, Swift, glibc and libdispatch do (docs/decisions/0067-faults-of-libraries.md).
STORMS = (("eintr", 20), ("emfile", 5), ("enomem", 200), ("timers", 1), ("entropy", 4), ("eio", 50), ("enospc", 20), ("sigbus", 0))
# By these the process may end, but not in a loop.
MAY_ABORT = ("entropy", "enomem")
# `sigbus` fails no call: it cuts a file. Nothing may use libdispatch's timers at all, so `timers` may find none.
MAY_MISS = ("sigbus", "timers")
USERS = 12
STORM_S = 8
# WatchdogSec= of the unit, and less than its RestartSec=: more starts fall into the storm.
RESTART_S, WATCHDOG_S = 1, 30
# Of a slow disk, for each sync.
SYNC_S = 2


class Manager(threading.Thread):
    """Starts the daemon again whenever it ends, and ends it when it says nothing for too long."""

    def __init__(self, stage, environment):
        super().__init__(daemon=True)
        self.stage = stage
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(stage.path("notify"))
        self.socket.setblocking(False)
        self.environment = dict(
            environment, NOTIFY_SOCKET=stage.path("notify"), WATCHDOG_USEC=str(WATCHDOG_S * 1_000_000))
        self.ends, self.watchdog_count, self.is_over = [], 0, threading.Event()
        self.start_daemon()

    def start_daemon(self):
        self.heard_at = time.monotonic()
        self.stage.start(**self.environment)

    def listen(self):
        """As the manager: whoever sent nothing for WatchdogSec= is ended."""
        try:
            while self.socket.recv(4096):
                self.heard_at = time.monotonic()
        except BlockingIOError:
            pass
        if time.monotonic() - self.heard_at > WATCHDOG_S:
            self.watchdog_count += 1
            self.stage.kill()

    def run(self):
        while not self.is_over.wait(0.05):
            status = self.stage.daemon.poll()
            if status is None:
                self.listen()
                continue
            if status != -signal.SIGKILL:
                self.ends.append((time.monotonic(), status))
            if self.is_over.wait(RESTART_S):
                return
            self.start_daemon()

    def stop(self):
        self.is_over.set()
        self.join()
        self.stage.stop()
        self.socket.close()


@scenario()
def storms(checks, seed):
    with tempfile.TemporaryDirectory() as place:
        library = preload("storm", place)
        for kind, one_in in STORMS:
            storm(checks, f"{seed} {kind}", library, kind, one_in)


@scenario(long=True)
def slow_disk(checks, seed):
    """Each sync takes seconds: more commits than a watchdog period has room for wait, and none is hanging."""
    with tempfile.TemporaryDirectory() as place:
        stage = Stage(checks, seed)
        manager = Manager(stage, {"LD_PRELOAD": preload("slow", place), "SLOW_S": str(SYNC_S)})
        manager.start()
        checks.check(f"with {SYNC_S} s for each sync the daemon starts", comes_true(stage.is_up, 300), stage.log()[-1500:])
        users, begun = stage.new_users(USERS), time.monotonic()
        tokens = dict(zip(users, stage.new_tokens(USERS)))
        rows = {}
        for number, user in enumerate(users):
            comes_true(lambda: take(stage, rows, user, tokens[user], number))
        done = comes_true(lambda: rows_done(stage, rows) == USERS, 600, 1)
        took = time.monotonic() - begun
        checks.check("     deletions are carried out", done, f"{rows_done(stage, rows)} of {USERS}\n" + stage.log()[-1500:])
        checks.check("     for longer than the watchdog waits", took > WATCHDOG_S, took)
        checks.equal("     the watchdog ends no service that goes on", (manager.watchdog_count, manager.ends), (0, []))
        manager.stop()
        stage.close()


def storm(checks, seed, library, kind, one_in):
    # A check whose answer a crash loses is repeated within the day, which Apple may throttle for a day.
    stage = Stage(checks, seed, Sandbox(BINARIES, "--refresh-limit", "off"))
    stage.owns_sandbox = True
    stage.hasten()
    gate, report = stage.path("gate"), stage.path("report")
    stays = stage.new_users(3)
    others = stage.checksum(but=())
    manager = Manager(stage, {} if kind == "sigbus" else dict(
        LD_PRELOAD=library, STORM_SWITCH=gate, STORM_KIND=kind, STORM_ONE_IN=str(one_in), STORM_REPORT=report,
        STORM_ROOT=stage.directory + "/"))
    if not checks.check(f"{kind}: the daemon starts", stage.comes_up(), stage.log()[-1500:]):
        return stage.close()
    manager.start()
    users = stage.new_users(USERS)
    tokens = dict(zip(users, stage.new_tokens(USERS)))
    begun = time.monotonic()
    rows = submit(stage, users, tokens, gate, kind)
    over = time.monotonic()
    met = failures(report)
    # A watchdog's patience, and the longest pause after the tries that failed in the storm.
    done = comes_true(lambda: rows_done(stage, rows) == USERS, 180, 0.2)
    checks.check("     after it every request is completed", done,
                 f"{rows_done(stage, rows)} of {USERS}; ends {manager.ends}\n" + stage.log()[-1500:])
    checks.equal("     every row of these users is gone, and no other",
                 (set(stage.rows_left()), stage.checksum(but=users)), (set(stays), others))
    judge_order(checks, stage, users, tokens)
    judge_ends(checks, manager, begun, over, kind)
    checks.check("     calls failed", bool(met) or kind in MAY_MISS, met)
    print(f"     {sum(met.values())} failed: {dict(met.most_common(6))};"
          f" ends: {dict(collections.Counter(status for _, status in manager.ends))}")
    manager.stop()
    stage.scan()
    stage.close()


def submit(stage, users, tokens, gate, kind):
    """Applications that try until an answer says that it is taken; half by socket, half by spool."""
    open(gate, "w").close()
    rows, end = {}, time.monotonic() + STORM_S
    for number, user in enumerate(users):
        within(max(0, end - time.monotonic()), lambda: take(stage, rows, user, tokens[user], number), 0.1)
        if kind == "sigbus":
            cut_index(stage)
        time.sleep(STORM_S / USERS / 2)
    time.sleep(max(0, end - time.monotonic()))
    os.unlink(gate)
    for number, user in enumerate(users):
        comes_true(lambda: user in rows or take(stage, rows, user, tokens[user], number), pause=0.1)
    return rows


def take(stage, rows, user, token, number):
    row = taken(stage, user, token, number)
    if row is not None:
        rows[user] = row
    return row is not None


def taken(stage, user, token, number):
    try:
        if number % 2:
            # A daemon that hangs must not keep the storm going until its watchdog ends it.
            if stage.store(user, token, timeout=10)[0] != 202:
                return None
            status, body = stage.delete(user, timeout=10)
            return body["id"] if status == 202 else None
        return stage.spool_do(
            "INSERT INTO credentials (user_id, provider, kind, secret, client_id)"
            " VALUES (:user, 'apple', 'refresh_token', :secret, :client)",
            "INSERT INTO requests (kind, user_id) VALUES ('delete_account', :user)",
            user=user, secret=token["refresh_token"], client=CLIENT)
    except (*GONE, sqlite3.OperationalError):
        return None


def cut_index(stage):
    """The owner of the store cuts its WAL index short while the daemon has it mapped."""
    index = stage.app + "-shm"
    if os.path.exists(index):
        os.truncate(index, 0)


def rows_done(stage, rows):
    done = 0
    for row in rows.values():
        try:
            if isinstance(row, int):
                done += stage.spool_rows("SELECT state FROM requests WHERE id = :row", row=row) == [("completed",)]
            else:
                done += stage.http("GET", f"/v1/requests/{row}")[1]["state"] == "completed"
        except (*GONE, KeyError, TypeError, sqlite3.OperationalError):
            continue
    return done


def judge_order(checks, stage, users, tokens):
    """The provider's log against the judge in the application's database."""
    revoked, erased = stage.sandbox.revoked_at(), stage.erased_at()
    early = [user for user in users
             if user in erased and not revoked.get(tokens[user]["subject"], float("inf")) <= erased[user]]
    checks.check("     nothing is erased before its token is revoked", not early, f"{len(early)} of {len(users)}")


def judge_ends(checks, manager, begun, over, kind):
    late = [status for at, status in manager.ends if at > over + RESTART_S]
    checks.check("     the daemon stays up after it", len(late) <= 1, manager.ends)
    # Nothing of ours waits on a timer of libdispatch's.
    watchdog_max = 0 if kind == "timers" else 1
    checks.check(f"     the watchdog ended it {manager.watchdog_count} times", manager.watchdog_count <= watchdog_max)
    restarts_max = (over - begun) // RESTART_S + 3
    checks.check(f"     it ended at most {restarts_max:.0f} times in it", len(manager.ends) <= restarts_max, manager.ends)
    killed = {status for _, status in manager.ends if status < 0}
    allowed = {-signal.SIGABRT, -signal.SIGILL, -signal.SIGTRAP} if kind in MAY_ABORT else set()
    checks.check("     no signal ended it" if not allowed else "     only its libraries' own aborts ended it",
                 killed <= allowed, manager.ends)


def failures(report):
    if not os.path.exists(report):
        return collections.Counter()
    with open(report) as file:
        return collections.Counter(line.strip() for line in file)
