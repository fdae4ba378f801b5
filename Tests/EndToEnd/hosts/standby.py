"""Two hosts share a state in PostgreSQL: one works, the other takes over when it is killed, stopped, frozen or cut off.

Judged by the provider's own table of live tokens, the application's rows, and both processes.
"""

import os
import shutil
import signal
import sqlite3
import threading
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from kills import Load
from link import Link
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, ROWS_EACH, Stage

USERS = 40
# A lease ends 5 s after its last renewal, and a host that may not work is started again each second.
TAKEOVER_S = 7


@scenario(bars=True)
def standby(checks, seed):
    # A host that takes over repeats the checks that were under way.
    sandbox = Sandbox(BINARIES, "--refresh-limit", "off")
    one = Stage(checks, seed, sandbox, state="postgresql")
    two = Stage(checks, seed + 1, sandbox)
    two.unjudged = "the first host is asked"
    try:
        one.starts()
        again = one.run("expunged", "state", "init", "--config", one.path("expunged.toml"),
                        "--credentials-directory", one.path("credentials"), "--state-directory", one.path("state"))
        checks.check("a state that is there is left as it is", again.returncode == 74
                     and "there already; nothing was changed" in again.stderr, again.stderr)
        join(two, one)
        waits(checks, two)
        killed(checks, one, two)
        stopped(checks, two, one)
        frozen(checks, one, two)
        cut_off(checks, one, two)
    finally:
        two.stop()
        one.close()
        two.close()
        sandbox.close()


def join(two, one):
    """The same configuration, credentials and keys; another name and a spool of its own."""
    with open(two.path("expunged.toml")) as file:
        text = file.read()
    with open(two.path("expunged.toml"), "w") as file:
        file.write(text.replace(two.app, one.app))
    two.share_state(one.state_server, "two")
    shutil.copy(one.path("credentials/vault-key"), two.path("credentials/vault-key"))
    for key in ("hash.key", "ledger.key"):
        shutil.copy(one.path(f"state/{key}"), two.path(f"state/{key}"))


def waits(checks, two):
    left = two.path("state/state.db")
    with open(left, "w"):
        pass
    two.start()
    checks.check("a host that has a state in a file forgets nothing", comes_true(
        lambda: two.daemon.poll() == 78, 20) and "file_left" in two.log(), two.log()[-600:])
    os.unlink(left)
    two.start()
    checks.check("a second host ends at once", comes_true(lambda: two.daemon.poll() is not None, 20))
    checks.check("     and says that the first one works", two.daemon.returncode == 74 and "in_use" in two.log()
                 and "'one'" in two.log(), two.log()[-600:])


class Again(threading.Thread):
    """Starts a host until it works, as systemd does."""

    def __init__(self, stage):
        super().__init__(daemon=True)
        self.stage, self.works_at = stage, None
        self.start()

    def run(self):
        end = time.monotonic() + HANG_S
        while time.monotonic() < end:
            self.stage.start()
            while self.stage.daemon.poll() is None:
                if self.stage.is_up():
                    self.works_at = time.monotonic()
                    return
                time.sleep(0.02)
            time.sleep(1)


def loaded(stage):
    """Users with rows and a token each, whose deletions are handed in by both channels."""
    users = stage.new_users(USERS)
    for user, token in zip(users, stage.new_tokens(USERS)):
        assert stage.store(user, token)[0] == 202
    load = Load(stage, users)
    load.start()
    return users, load


def killed(checks, one, two):
    users, load = loaded(one)
    comes_true(lambda: sum(user not in one.rows_left() for user in users) > USERS // 4, 30, 0.01)
    begun = time.monotonic()
    one.kill()
    again = Again(two)
    again.join()
    took(checks, "a host that is killed", again, begun)
    # What was acknowledged; the rest was not taken, and its spool is that host's.
    acknowledged = list(load.ids)
    checks.check("     what it had acknowledged over the socket is carried out", comes_true(
        lambda: not set(acknowledged) & set(one.rows_left()), 30), len(acknowledged))
    checks.check("     users have all of their rows or none", all(
        count == ROWS_EACH for count in one.rows_left().values()), one.rows_left())
    one.start()
    checks.check("     when it comes back, it waits", comes_true(lambda: one.daemon.poll() == 74, 20), one.log()[-600:])


def stopped(checks, one, two):
    """`one` works here; `two` was killed before, and its spool has rows that nobody has taken."""
    begun = time.monotonic()
    one.stop()
    again = Again(two)
    again.join()
    took(checks, "a host that is stopped", again, begun, TAKEOVER_S - 5)
    checks.check("     all rows of the other's spool are carried out and shown there", comes_true(
        lambda: {state for state, in two.spool_rows("SELECT state FROM requests")} == {"completed"}
        and not two.rows_left(), 60), (two.rows_left(), two.spool_rows("SELECT state, detail FROM requests")))


def frozen(checks, one, two):
    """A host that stands still for longer than its leases last does nothing when it goes on."""
    process, log = one.daemon, len(one.log())
    begun = time.monotonic()
    process.send_signal(signal.SIGSTOP)
    again = Again(two)
    again.join()
    took(checks, "a host that is frozen", again, begun)
    users = two.new_users(4)
    one.users += users
    insert(one, users)
    for user in users:
        two.delete(user)
    process.send_signal(signal.SIGCONT)
    checks.check("     the other one carries out what it is given", comes_true(
        lambda: not set(users) & set(one.rows_left()), 30))
    checks.check("     it ends when it goes on", comes_true(lambda: process.poll() is not None, 30), one.log()[log:])
    two.stop()
    one.start()
    checks.check("     and works again when the other one has stopped", one.comes_up(), one.log()[-600:])


def cut_off(checks, one, two):
    """A host whose network to the database is dead does nothing either, and nothing once it is back."""
    one.stop()
    os.makedirs(one.path("link"))
    link = Link(one.path("link/.s.PGSQL.5432"), os.path.join(one.state_server.directory, ".s.PGSQL.5432"))
    try:
        reach(one, one.path("link"))
        one.start()
        checks.check("a host works over a link", one.comes_up(), one.log()[-600:])
        users = two.new_users(24)
        one.users += users
        insert(one, users)
        # Some of it is under way when the link is cut.
        for user in users[4:]:
            one.delete(user)
        process, begun = one.daemon, time.monotonic()
        link.cut()
        again = Again(two)
        again.join()
        took(checks, "a host that is cut off", again, begun)
        log = len(one.log())
        for user in users[:4]:
            two.delete(user)
        checks.check("     the other one carries out what it is given", comes_true(
            lambda: not set(users) & set(one.rows_left()), 30))
        link.mend()
        checks.check("     it ends when the network is back, or before", comes_true(
            lambda: process.poll() is not None, 60), one.log()[log:])
        checks.check("     and began nothing meanwhile", "purge_started" not in one.log()[log:], one.log()[log:])
        checks.check("     the other one goes on", two.is_up(), two.log()[-600:])
        two.stop()
        reach(one, one.state_server.directory)
        one.start()
        checks.check("     and it works again when the other one has stopped", one.comes_up(), one.log()[-600:])
    finally:
        link.close()


def reach(one, directory):
    with open(one.path("credentials/state-conninfo"), "w") as file:
        file.write(f"host={directory} user=owner dbname=postgres")


def insert(one, users):
    with sqlite3.connect(one.app, timeout=HANG_S) as app:
        app.executemany("INSERT INTO posts (author_id, body) VALUES (?, 'x')", [(user,) for user in users] * ROWS_EACH)


def took(checks, what, again, begun, most=TAKEOVER_S):
    time_s = (again.works_at or float("inf")) - begun
    checks.check(f"{what} is replaced", again.works_at is not None, again.stage.log()[-600:])
    if HOLDS_BARS:
        checks.check(f"     within {most} s", time_s <= most, time_s)
    print(f"     {what}: the other one works after {time_s:.1f} s")
