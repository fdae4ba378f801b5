"""Proves the harness itself, so that a failing scenario is the product's fault."""

from checks import wait_for

UNIT = """[Service]
Type=notify
NotifyAccess=all
DynamicUser=yes
StateDirectory=trivial
ExecStart=/bin/sh -c 'systemd-notify --ready --status=fine; echo hello; exec sleep 600'
"""


def check_harness(checks, machine):
    """A trivial unit: start, state, journal, a kill seen, stop."""
    machine.write("/etc/systemd/system/trivial.service", UNIT)
    machine.systemctl("daemon-reload")
    machine.systemctl("start", "trivial.service")
    checks.equal("a unit starts", machine.show("trivial.service", "ActiveState"), "active")
    checks.equal("its status is read", machine.show("trivial.service", "StatusText"), "fine")
    entries = wait_for(
        "its output", lambda: [
            entry for entry in machine.journal("_SYSTEMD_UNIT=trivial.service")
            if entry["MESSAGE"] == "hello"])
    checks.equal("its output is in the journal once", len(entries), 1)
    pid = int(machine.show("trivial.service", "MainPID"))
    checks.check("its process is found on the host", machine.host_pid(pid) is not None)
    answer = machine.run("cat", "/etc/shadow", user="nobody", check=False)
    checks.check("a command runs as another user", answer.returncode != 0)
    machine.systemctl("kill", "-s", "KILL", "trivial.service")
    wait_for("the kill", lambda: machine.show("trivial.service", "Result") == "signal")
    checks.check("a kill is seen", True)
    machine.systemctl("reset-failed", "trivial.service")
