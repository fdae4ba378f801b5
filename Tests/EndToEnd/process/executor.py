"""Tasks on the pool of our own and on the executor of the Swift runtime: the same deletions, on the threads that were chosen."""

import os
import subprocess
import tempfile
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from intake_gap import commit, judged
from scenario import scenario
from stage import ROOT, Stage

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(ROOT, "Sources/CExecutor")
USERS = 40
POOL_THREAD = "expunged-work"
# libdispatch looks at its workers every second in a debug build, whichever executor runs the tasks.
WAKES_PER_S_MAX = 6
REST_S, IDLE_S = 4, 10


@scenario(bars=True)
def executor(checks, seed):
    timers(checks)
    for choice in ("pool", "stock"):
        stage = Stage(checks, seed)
        stage.start(EXPUNGED_EXECUTOR=choice)
        if checks.check(f"{choice}: the daemon starts", stage.comes_up(), stage.log()[-2000:]):
            threads = threads_of(stage.daemon.pid)
            checks.equal(f"{choice}: tasks have threads of our own", POOL_THREAD in threads.values(), choice == "pool")
            works(checks, stage, choice)
            if HOLDS_BARS:
                idles(checks, stage, choice)
            restarts(checks, stage, choice)
        stage.scan()
        stage.close()
    unknown(checks, seed)


def timers(checks):
    """The pool without Swift, in a program of its own."""
    with tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, "pool")
        subprocess.run(["cc", "-O1", "-w", "-o", program, os.path.join(HERE, "pool.c"), "-I", SOURCES,
                        "-I", os.path.join(SOURCES, "include"), "-lpthread"], check=True)
        done = subprocess.run([program], capture_output=True, text=True, timeout=HANG_S)
        checks.equal("timers fire once and not early, or are taken back; a job that waits for one gets it",
                     (done.returncode, done.stdout), (0, "done\n"))


def works(checks, stage, choice):
    users, tokens = stage.new_users(USERS), stage.new_tokens(USERS)
    for user, token in zip(users, tokens):
        commit(stage, user, token)
        stage.delete(user)
    judged(checks, stage, f"{choice}: {USERS} deletions", users, tokens)


def idles(checks, stage, choice):
    time.sleep(REST_S)
    before = switches_of(stage.daemon.pid)
    time.sleep(IDLE_S)
    woken = (switches_of(stage.daemon.pid) - before) / IDLE_S
    checks.check(f"{choice}: at most {WAKES_PER_S_MAX} wake-ups a second while idle", woken <= WAKES_PER_S_MAX, woken)


def restarts(checks, stage, choice):
    """A deadline is kept by either: SIGTERM ends the daemon, and what waited goes on after the next start."""
    stage.daemon.terminate()
    checks.check(f"{choice}: SIGTERM ends it", comes_true(lambda: stage.daemon.poll() is not None, 20))
    stage.start(EXPUNGED_EXECUTOR=choice)
    checks.check(f"{choice}: it starts again", stage.comes_up(), stage.log()[-2000:])
    works(checks, stage, choice)


def unknown(checks, seed):
    stage = Stage(checks, seed)
    done = subprocess.run(stage.arguments(), env=dict(os.environ, EXPUNGED_EXECUTOR="own"), capture_output=True,
                          text=True, timeout=HANG_S)
    checks.check("an unknown executor is refused by name", done.returncode == 64 and "'own'" in done.stderr,
                 (done.returncode, done.stderr))
    stage.close()


def threads_of(pid):
    return {task: name_of(pid, task) for task in os.listdir(f"/proc/{pid}/task")}


def name_of(pid, task):
    try:
        with open(f"/proc/{pid}/task/{task}/comm") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # It has ended meanwhile.


def switches_of(pid):
    count = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/status") as file:
                count += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return count
