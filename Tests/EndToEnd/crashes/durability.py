"""Nothing is acknowledged before it is on disk, and nothing is lost when the disk fails at any call.

kill -9 cannot show either: what was written survives it in the kernel's memory.
"""

import collections
import concurrent.futures
import itertools
import os
import shutil
import signal
import sqlite3
import tempfile
import threading
import time

from checks import HANG_S, Checks, comes_true, within
from preload import preload
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, ROWS_EACH, Stage
from sync_order import judge_trace, read_trace, without_syncs

TRACED = "read,write,writev,sendto,sendmsg,pwrite64,fdatasync,fsync"
# (calls, action, step): with step 1 at every n of the scenario. A page of the WAL is two writes, its
# header and its content, and a commit many of them: kills fall on every fifth, elsewhere in each run.
FAULTS = [("fdatasync", "eio", 1), ("fdatasync", "enospc", 1), ("fdatasync", "kill-after", 1),
          ("pwrite64", "enospc", 1), ("pwrite64", "kill-before", 5)]
# Runs at a time: most of a run is waiting for syncs and for the mirror's pace.
LANES = 4
# More calls than a run can make: the sweep ends by itself when nothing is left to inject.
CALLS_MAX = 1000


# The order, seen by strace


@scenario(gate={})
def sync_order(checks, seed):
    """Each acknowledgement follows the sync of the pages that hold what it acknowledges."""
    stage = Stage(checks, seed, grace="1h")
    trace = stage.path("trace")
    stage.start("strace", "-f", "-qq", "--seccomp-bpf", "-xx", "-s", "140000", "-yy", "-o", trace,
                "-e", f"trace={TRACED}")
    checks.check("the daemon starts under strace", stage.comes_up(), stage.log())
    users = stage.new_users(12)
    for user, token in zip(users[:4], stage.new_tokens(4)):
        assert stage.store(user, token)[0] == 202
    for user in users[:6]:
        assert stage.delete(user)[0] == 202
    for user in users[6:]:
        row = stage.spool_delete(user)
        checks.check("a row leaves 'submitted'", comes_true(lambda: stage.spool_rows(
            "SELECT 1 FROM requests WHERE id = :row AND state <> 'submitted'", row=row)), stage.spool_rows(
                "SELECT id, state FROM requests"))
    # strace ends with the daemon, its only child.
    with open(f"/proc/{stage.daemon.pid}/task/{stage.daemon.pid}/children") as file:
        os.kill(int(file.read()), signal.SIGTERM)
    stage.daemon.wait(HANG_S)
    calls = read_trace(trace)
    proven, unproven = judge_trace(calls)
    syncs = sum(call.name == "fdatasync" and call.file == "state.db-wal" for call in calls)
    checks.check(f"strace: {len(proven)} acknowledgements (10 by socket, 6 by spool), each after an"
                 f" fdatasync of the pages that hold it; {syncs} fdatasync of the WAL in all",
                 collections.Counter(proven) == {"socket": 10, "spool": 6} and not unproven,
                 (collections.Counter(proven), unproven))
    headers = [call for call in calls
               if call.name == "pwrite64" and call.file == "state.db-wal" and len(call.data) == 24]
    checks.check("the frames of a commit go to the WAL together, not header by header",
                 syncs > 0 and not headers, len(headers))
    checks.check("the judge sees it when the syncs are missing",
                 len(judge_trace(without_syncs(calls))[1]) == 16)
    stage.close()


# The n-th call fails, for every n


class Sweep:
    """One kind of fault, tried at the 1st, 2nd, 3rd … call until a run is left in peace."""

    def __init__(self, library, sandbox, template, seed, fault):
        self.library, self.sandbox, self.template = library, sandbox, template
        self.seed, (self.calls, self.action, self.step) = seed, fault
        self.runs, self.problems, self.injected = 0, [], []
        self.ends = collections.Counter()
        self._lock = threading.Lock()

    def run(self):
        numbers = itertools.count(1 + self.seed % self.step, self.step)
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            for lane in [pool.submit(self._lane, numbers) for _ in range(LANES)]:
                lane.result()
        return self

    def _lane(self, numbers):
        while True:
            with self._lock:
                at = next(numbers)
            outcome = Run(self, at).play()
            with self._lock:
                self.runs += 1
                self.problems += [f"n = {at}: {problem}" for problem in outcome.problems]
                self.ends[outcome.end] += 1
                if outcome.injected is None or at > CALLS_MAX:
                    return
                self.injected.append(outcome.injected)


class Run:
    """A daemon that meets one fault, then a daemon on the same state that meets none.

    Four users: two with a token, two without, two by socket, two by spool; and two who stay. What the
    client got no answer to it does again, with the same key, as a client must.
    """

    def __init__(self, sweep, at):
        self.sweep, self.at = sweep, at
        self.problems, self.injected, self.end = [], None, "went on"
        self.stage = Stage(Checks(), f"{sweep.seed} {sweep.calls} {sweep.action} {at}", sweep.sandbox)
        self.stage.unjudged = "every run judges its own end, by the same provider and stores"
        self.ids, self.stored, self.rows = {}, set(), {}

    def play(self):
        stage = self.stage
        try:
            if self.sweep.template:
                shutil.rmtree(stage.path("state"))
                shutil.copytree(self.sweep.template, stage.path("state"), copy_function=shutil.copy)
            # Between the rows of those who go there are rows of those who stay.
            first, self.stays, last = stage.new_users(2), stage.new_users(1), stage.new_users(2)
            self.users, self.stays = first + last, self.stays + stage.new_users(1)
            self.others = stage.checksum(but=self.users)
            self.tokens = dict(zip((self.users[0], self.users[2]), stage.new_tokens(2)))
            self._meet_fault()
            self._recover()
            self._judge()
        except Exception as error:
            self.problems.append(f"{type(error).__name__}: {error}")
        finally:
            stage.close(keep=bool(self.problems))
        return self

    def _meet_fault(self):
        stage, report = self.stage, self.stage.path("report")
        stage.start(LD_PRELOAD=self.sweep.library, FAULT_ROOT=stage.directory + "/",
                    FAULT_CALLS=self.sweep.calls, FAULT_AT=str(self.at),
                    FAULT_ACTION=self.sweep.action, FAULT_REPORT=report)
        if stage.comes_up():
            self._ask()
            comes_true(lambda: os.path.exists(report) or stage.daemon.poll() is not None or self._is_done())
            # Behind a fault some wait for a client that asks again.
            within(3, lambda: stage.daemon.poll() is not None or self._is_done())
        if os.path.exists(report):
            # The line comes behind the file; a kill may cut it off.
            comes_true(lambda: os.path.getsize(report) > 0 or stage.daemon.poll() is not None)
            with open(report) as file:
                self.injected = file.read().strip() or "a call without a name"
        status = stage.daemon.poll()
        if status is None:
            stage.kill()
        elif status < 0 and status != -signal.SIGKILL:
            self.end = f"signal {-status}"
            self.problems.append(f"ended by {signal.Signals(-status).name}: {stage.log()[-300:]}")
        elif status >= 0:
            self.end = f"exit {status}"
            if "cannot" not in stage.log():
                self.problems.append(f"exit {status} without a clear error: {stage.log()[-300:]}")
        else:
            self.end = "killed"

    def _ask(self):
        """Does once what was not acknowledged yet."""
        stage = self.stage
        socket_users, spool_users = self.users[:2], self.users[2:]
        for user in socket_users:
            if user in self.ids:
                continue
            if user in self.tokens and user not in self.stored:
                # Without the acknowledgement nobody may count on the token: no deletion yet.
                if not self._is_taken(lambda: stage.store(user, self.tokens[user], 5)):
                    continue
                self.stored.add(user)
            self._is_taken(lambda: stage.delete(user, timeout=5), user)
        for user in spool_users:
            if user not in self.rows:
                self.rows[user] = self._insert(user)

    def _insert(self, user):
        statements = ["INSERT INTO requests (kind, user_id) VALUES ('delete_account', :user)"]
        if user in self.tokens:
            statements.insert(0, "INSERT INTO credentials (user_id, provider, kind, secret)"
                                 " VALUES (:user, 'apple', 'refresh_token', :secret)")
            return self.stage.spool_do(
                *statements, user=user, secret=self.tokens[user]["refresh_token"])
        return self.stage.spool_do(*statements, user=user)

    def _is_taken(self, call, user=None):
        try:
            status, body = call()
        except GONE:
            return False
        if status == 202 and user:
            self.ids[user] = body["id"]
        return status == 202

    def _mirrored(self):
        return {row: (request, state) for row, request, state in self.stage.spool_rows(
            "SELECT id, request_id, state FROM requests")}

    def _is_done(self):
        """Whether everything that was taken is at its end."""
        try:
            return self.stage.open_count() == 0 and all(
                state == "completed" for _, state in self._mirrored().values())
        except (*GONE, sqlite3.OperationalError):
            return False

    def _recover(self):
        """Everything that was acknowledged is found right after the start, before anybody asks again."""
        stage = self.stage
        promised = dict(self.ids)
        promised.update({f"row {row}": request for row, (request, _) in self._mirrored().items()
                         if request is not None})
        stage.start()
        if not stage.comes_up():
            self.problems.append(f"does not start again: {stage.log()[-300:]}")
            return
        for what, request in promised.items():
            if stage.http("GET", f"/v1/requests/{request}")[0] != 200:
                self.problems.append(f"an acknowledged request is lost ({what[:6]}…)")
        for user in self.stored - set(self.ids):
            if not self._is_kept_or_used(user):
                self.problems.append("an acknowledged credential is lost")
        comes_true(lambda: self._ask() or len(self.ids) == 2)
        if len(self.ids) < 2 or not comes_true(self._is_done):
            self.problems.append(f"does not come to its end: {self._mirrored()}")

    def _is_kept_or_used(self, user):
        """Whether a stored token is there, or was revoked for a deletion whose answer did not arrive."""
        status, body = self.stage.http("GET", f"/v1/users/{user}/identities")
        if status == 200 and body["items"]:
            return True
        return self.tokens[user]["subject"] in self.sweep.sandbox.revoked_at()

    def _judge(self):
        stage = self.stage
        revoked, erased = self.sweep.sandbox.revoked_at(), stage.erased_at()
        for user, token in self.tokens.items():
            if user in erased and revoked.get(token["subject"], float("inf")) > erased[user]:
                self.problems.append("purged before the provider's revocation")
        if stage.rows_left() != dict.fromkeys(self.stays, ROWS_EACH):
            self.problems.append("rows are left")
        if stage.checksum(but=self.users) != self.others or set(erased) & set(self.stays):
            self.problems.append("what others have is not as it was")
        comes_true(lambda: not stage.leaks(), pause=0.2)
        if stage.leaks():
            self.problems.append(f"canaries: {stage.leaks()[:3]}")


@scenario(long=True)
def durability(checks, seed):
    sandbox = Sandbox(BINARIES, "--refresh-limit", "off")
    place = tempfile.mkdtemp(prefix="expunged-durability-")
    try:
        library = preload("fault", place)
        template = make_template(sandbox, place)
        for fault in FAULTS:
            begun = time.monotonic()
            # The syncs are swept from the very first start on, migrations included; the many
            # writes on a state that has them behind it.
            known = template if fault[0] == "pwrite64" else None
            sweep = Sweep(library, sandbox, known, seed, fault).run()
            report(checks, sweep, time.monotonic() - begun)
    finally:
        sandbox.close()
        shutil.rmtree(place, ignore_errors=True)


def make_template(sandbox, place):
    """A state directory that a daemon has used and left in order."""
    stage = Stage(Checks(), 0, sandbox)
    stage.start()
    assert stage.comes_up(), stage.log()
    stage.stop()
    template = os.path.join(place, "state")
    shutil.copytree(stage.path("state"), template, copy_function=shutil.copy)
    stage.close()
    return template


def report(checks, sweep, seconds):
    where = collections.Counter(os.path.basename(line.split()[-1]) for line in sweep.injected)
    print("     " + ", ".join(f"{count} × {name}" for name, count in where.most_common()))
    print("     " + ", ".join(f"{count} × {end}" for end, count in sweep.ends.most_common()))
    number = "I-13" if sweep.action.startswith("kill") else "I-2"
    every = "each" if sweep.step == 1 else f"every {sweep.step}th"
    checks.check(f"{number}: {sweep.calls} {sweep.action} at {every} call, {len(sweep.injected)} of them"
                 f" ({sweep.runs} runs in {seconds:.0f} s): nothing acknowledged is lost, everything"
                 " ends by itself, revocation first, what others have is as it was",
                 not sweep.problems and len(sweep.injected) > 10, "\n".join(sweep.problems[:20]))
