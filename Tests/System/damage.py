"""What an application can do to the spool: nothing of it stops the unit or its sockets."""

import subprocess

from checks import HANG_S, HOLDS_BARS, comes_true, within
from service import SPOOL, UNIT, ask

KEPT = SPOOL + ".kept"
COPY = "/srv/app/sound.db"
ALARM_S = 30

AWAY = f"mv {SPOOL} {KEPT} && "
BACK = f"rm -rf {SPOOL} && mv {KEPT} {SPOOL}"
# Who spoils the spool (root: None), how, and what mends it.
DAMAGE = {
    "a damaged header": ("app", f"dd if=/dev/zero of={SPOOL} bs=16 count=1 conv=notrunc",
                         f"dd if={COPY} of={SPOOL} bs=16 count=1 conv=notrunc"),
    "another database": ("app", AWAY + f"sqlite3 {SPOOL} 'CREATE TABLE t (a)'", BACK),
    "a directory": ("app", AWAY + f"mkdir {SPOOL}", BACK),
    "a symbolic link": ("app", AWAY + f"ln -s {COPY} {SPOOL}", BACK),
    "a file of mode 000": ("app", AWAY + f"cp {KEPT} {SPOOL} && chmod 000 {SPOOL}", BACK),
    "a newer version": ("app", AWAY + f"cp {KEPT} {SPOOL} && "
                        f"sqlite3 {SPOOL} 'PRAGMA user_version = 2'", BACK),
    "the spool with mode 000": (None, f"chmod 000 {SPOOL}", f"chmod 660 {SPOOL}"),
}


def damage(checks, service):
    """Each damage while the service runs and before a start, then locks of applications."""
    machine = service.machine
    machine.run("cp", SPOOL, COPY, user="app")
    for name, (user, spoil, mend) in DAMAGE.items():
        for when in ("while it runs", "before the start"):
            if when == "before the start":
                machine.systemctl("stop", UNIT)
            pid = service.pid
            machine.run("sh", "-ec", spoil, user=user)
            if when == "before the start":
                started = machine.systemctl("start", UNIT, check=False)
                checks.equal(f"{name}: the unit starts", started.returncode, 0)
                pid = service.pid
            alarm = within(ALARM_S if HOLDS_BARS else HANG_S, lambda: is_alarmed(service), 0.2)
            status = service.http("GET", "/v1/status")
            checks.check(f"{name}, {when}: an alarm says so", alarm, status)
            checks.equal(f"{name}, {when}: the socket answers", status[0], 200)
            found = machine.run("expungectl", "doctor", check=False)
            checks.check(f"{name}, {when}: the doctor says what to do",
                         found.returncode == 1 and "spool-repair.md" in found.stdout, found.stdout)
            machine.run("sh", "-ec", mend, user=user)
            checks.check(f"{name}, {when}: mended, the alarm ends in the same process",
                         comes_true(lambda: is_alarmed(service) is False, pause=0.2)
                         and service.pid == pid)
    locks(checks, machine)
    row = service.spool_delete(service.add_user())
    checks.equal("after all that a row is carried out", service.spool_end(row)[0], "completed")
    machine.run("rm", COPY, user="app")


def is_alarmed(service):
    """`None` without an answer."""
    shown = service.expungectl("status").stdout
    return "spool_quarantined" in shown if "alarms" in shown else None


def locks(checks, machine):
    """A start waits for no lock, and for no application that keeps the spool in WAL mode."""
    for name, statement in (("a lock", "BEGIN EXCLUSIVE; SELECT 1;"),
                            ("WAL mode", "PRAGMA journal_mode = WAL;")):
        held = machine.start("sqlite3", "-cmd", f".timeout {HANG_S * 1000}", SPOOL, user="app",
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        ask(held, statement)
        started = machine.systemctl("restart", UNIT, check=False)
        checks.equal(f"the unit starts beside {name} of an application", started.returncode, 0)
        held.communicate(timeout=HANG_S)
