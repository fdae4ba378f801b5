"""The Debian packages: built from the release programs, then installed, upgraded, removed and purged."""

import glob
import os
import re
import subprocess

from checks import HANG_S, wait_for
from provider import Provider
from service import EXPORTER, RELEASE_DIR, SPOOL, UNIT, Service

SOCKETS = ("expunged-control.socket", "expunged-submit.socket", "expunged-viewer.socket")
TIMER = "expunged-metrics.timer"
METRICS = f"{EXPORTER}/expunged.prom"
SANDBOX = "expunged-sandbox.service"
CONFIGURATION = "/etc/expunged/expunged.toml"
STATE = "/var/lib/expunged/state.db"
KEY = "/etc/expunged/credentials/vault-key"
CHECKPOINTS = "/var/log/expunged/checkpoints"
NEXT_VERSION = "0.1.0+next"

# What apt, dpkg and systemd themselves leave after any package. Users stay, so that no other user gets
# their numbers and what belongs to them.
LEFT_BY_OTHERS = re.compile(
    r"/(etc/(passwd|group|shadow|gshadow)-|etc/\.pwd\.lock|var/(cache|lib/apt|lib/dpkg|log|tmp)/.*"
    r"|var/lib/systemd/.*|tmp/.*|root/.*)")
# The kernel's and systemd's own.
NOT_ON_DISK = {"dev", "proc", "run", "sys"}

# An application that asks all the time while the package is replaced.
ASKS = """
while [ ! -e /srv/app/stop ]; do
    curl -s -o /dev/null -w '%{http_code}\\n' --max-time 60 \\
        --unix-socket /run/expunged/submit.sock http://expunged/v1/status
done
"""


class Packages:
    """Both versions of the packages, built once for all machines."""

    def __init__(self, checks, source, is_timed):
        self.checks = checks
        self.source = source
        # Whether bars of time are checked: only where nothing else uses the machine.
        self.is_timed = is_timed
        self.release = os.path.join(source, RELEASE_DIR)
        self.place = os.path.join(source, ".build/system-test/packages")

    def build(self):
        self.first = self._build("first")
        self.next = self._build("next", "--version", NEXT_VERSION)
        lint = subprocess.run(
            ["lintian", "--allow-root", "--fail-on", "error,warning", *glob.glob(f"{self.place}/first/*.changes")],
            capture_output=True, text=True)
        self.checks.check("lintian has no complaint", lint.returncode == 0 and lint.stdout == "",
                          lint.stdout + lint.stderr)
        for name, file in self.first.items():
            listing = subprocess.run(
                ["dpkg-deb", "--contents", os.path.join(self.source, file[len("/src/"):])],
                capture_output=True, text=True, check=True).stdout
            self.checks.equal(f"the stand-in for providers is in {name}", "bin/expunged-sandbox" in listing,
                              name == "expunged-sandbox")

    def _build(self, name, *options):
        """The packages by name, as paths in a machine."""
        place = os.path.join(self.place, name)
        # The usual compression takes minutes, and only a download gains by it.
        subprocess.run(
            [os.path.join(self.source, "scripts/deb"), *options, place], check=True, stdout=subprocess.DEVNULL,
            env={**os.environ, "RELEASE_DIR": self.release, "DPKG_DEB_COMPRESSOR_TYPE": "gzip",
                 "DPKG_DEB_COMPRESSOR_LEVEL": "1"})
        return {os.path.basename(file).split("_")[0]: file.replace(self.source, "/src", 1)
                for file in glob.glob(f"{place}/*.deb")}


class PackageScenarios:
    """Runs in order on one machine: each begins with what the one before left."""

    def __init__(self, checks, machine, packages):
        self.checks = checks
        self.machine = machine
        self.packages = packages

    def run(self):
        provider = Provider(os.path.join(self.packages.release, "expunged-sandbox"))
        self.service = Service(self.machine, provider, self.packages.source)
        try:
            for name in ("fresh", "unused", "configured", "again", "upgrade", "removal", "purge", "sandbox"):
                self.checks.scenario(f"{self.machine.release}: packages, {name}", getattr(self, name))
        finally:
            provider.stop()

    # Help

    def apt(self, *arguments):
        return self.machine.run(
            "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", "--no-install-recommends", *arguments,
            check=False, timeout=180)

    def install(self, file, *options):
        done = self.apt("install", *options, file)
        self.checks.equal(f"apt installs {os.path.basename(file)}", done.returncode, 0)
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        return done.stdout + done.stderr

    def state(self, unit):
        return self.machine.show(unit, "ActiveState")

    def exists(self, path):
        return os.path.lexists(self.machine.root + path)

    def files(self):
        """Every path of the machine's disk, with type, mode and owner."""
        found = {}
        for folder, folders, names in os.walk(self.machine.root):
            if folder == self.machine.root:
                folders[:] = [name for name in folders if name not in NOT_ON_DISK]
            for name in folders + names:
                path = os.path.join(folder, name)
                status = os.lstat(path)
                found[path[len(self.machine.root):]] = (oct(status.st_mode), status.st_uid, status.st_gid)
        return found

    def left(self, before):
        after = self.files()
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        return sorted(path for path in changed if "expunged" in path or not LEFT_BY_OTHERS.fullmatch(path))

    def runs(self):
        return all(self.state(unit) == "active" for unit in (UNIT, *SOCKETS))

    def delete_a_user(self):
        """What the whole service is for: one deletion, to its end."""
        user = self.service.add_user()
        self.service.spool_sign_in(user)
        state, detail, request = self.service.spool_end(self.service.spool_delete(user))
        self.checks.equal("a deletion completes", (state, detail, self.service.rows(user)), ("completed", "", 0))
        return request

    def catalog_knows(self):
        listed = self.machine.run("journalctl", "--list-catalog", check=False).stdout
        return self.service.message_id("Request completed") in listed.replace("-", "")

    # Scenarios

    def fresh(self):
        """Installed and not configured: enabled, nothing runs, nothing fails, and apt says what comes next."""
        self.machine.run("mkdir", "-p", EXPORTER)
        self.before = self.files()
        said = self.install(self.packages.first["expunged"])
        self.checks.check("apt says what comes next", CONFIGURATION in said and "quick-start.md" in said, said)
        self.checks.equal("the units are enabled", [
            self.machine.systemctl("is-enabled", unit, check=False).stdout.strip()
            for unit in (UNIT, *SOCKETS, TIMER)], ["enabled"] * 4 + ["disabled"])
        done = self.machine.systemctl("start", UNIT, *SOCKETS, check=False)
        self.checks.equal("a start changes nothing", (done.returncode, self.state(UNIT), self.state(SOCKETS[0])),
                          (0, "inactive", "inactive"))
        self.checks.equal("no unit failed", self.machine.failed_units(), "")
        stat = self.machine.run("stat", "-c", "%n %a %U %G", "/etc/expunged/credentials", "/var/lib/expunged",
                                "/var/lib/expunged/spool", SPOOL).stdout.splitlines()
        self.checks.equal("files have the owners and modes of the design", stat, [
            "/etc/expunged/credentials 700 root root", "/var/lib/expunged 711 expunged expunged",
            "/var/lib/expunged/spool 2770 expunged expunged-submit", f"{SPOOL} 660 expunged expunged-submit"])
        self.checks.equal("dpkg finds its files unchanged", self.machine.run("dpkg", "--verify", "expunged").stdout, "")
        self.checks.check("the journal's catalog has the entries", self.catalog_knows())
        for path in ("/usr/share/bash-completion/completions/expungectl", "/usr/share/man/man8/expunged.8.gz",
                     "/usr/share/doc/expunged/examples/expunged.toml", "/usr/share/doc/expunged/openapi.json",
                     "/usr/share/doc/expunged/verify-ledger.py", "/usr/share/doc/expunged/docs/guides/install.md"):
            self.checks.check(f"{path} is installed", self.exists(path))
        self.checks.check("the stand-in for providers is not installed", not self.exists("/usr/bin/expunged-sandbox"))
        verify = self.machine.run("systemd-analyze", "verify", "--man=no", UNIT, *SOCKETS, check=False)
        self.checks.equal("systemd-analyze verify of the installed units", verify.stderr, "")

    def unused(self):
        """A purge of a service that never ran leaves nothing."""
        done = self.apt("purge", "expunged")
        self.checks.equal("apt purges", done.returncode, 0)
        self.checks.equal("nothing is left", self.left(self.before), [])
        self.checks.equal("systemd knows no unit of it",
                          self.machine.systemctl("list-unit-files", "expunged*", check=False).stdout.count("expunged"), 0)

    def configured(self):
        self.install(self.packages.first["expunged"])
        self.service.prepare()
        self.machine.systemctl("start", UNIT)
        self.checks.check("the service starts once it is configured, with its sockets", self.runs())
        self.request = self.delete_a_user()
        # docs/guides/monitoring.md
        self.machine.systemctl("enable", "--now", TIMER)
        self.machine.systemctl("start", "expunged-metrics.service")
        read = self.machine.run("cat", METRICS, user="prometheus", check=False)
        self.checks.check("the user of the node exporter reads the metrics",
                          "\nexpunged_ledger_sound " in read.stdout, read.stderr)

    def again(self):
        """Every maintainer script may run twice."""
        script, version = "/var/lib/dpkg/info/expunged.postinst", "0.1.0~dev"
        for old in ("", version):
            done = self.machine.run("env", "DPKG_MAINTSCRIPT_PACKAGE=expunged", script, "configure", old, check=False)
            self.checks.equal(f"postinst configure {old or 'again'}", (done.returncode, self.runs()), (0, True))
        self.machine.run("cp", SPOOL, "/srv/app/sound.db", user="app")
        spoil = ("conv=notrunc", f"of={SPOOL}", "bs=16", "count=1")
        self.machine.run("dd", "if=/dev/zero", *spoil, user="app")
        done = self.machine.run("env", "DPKG_MAINTSCRIPT_PACKAGE=expunged", script, "configure", version, check=False)
        self.checks.equal("postinst with a damaged spool", (done.returncode, self.runs()), (0, True))
        self.machine.run("dd", "if=/srv/app/sound.db", *spoil, user="app")
        self.machine.systemctl("disable", "--now", UNIT, *SOCKETS)
        self.install(self.packages.first["expunged"], "--reinstall")
        self.checks.equal("what the operator disabled stays disabled and stopped", (
            self.machine.systemctl("is-enabled", UNIT, check=False).stdout.strip(), self.state(UNIT)),
            ("disabled", "inactive"))
        self.machine.systemctl("enable", UNIT)
        self.machine.systemctl("start", UNIT)

    def upgrade(self):
        """A deletion is under way and an application keeps asking while the package is replaced."""
        user = self.service.add_user()
        self.service.http_sign_in(user)
        self.service.provider.fail(rate=1, kinds=["unavailable"], endpoints=["revoke"])
        row = self.service.spool_delete(user)
        wait_for("work in the middle", lambda: self.service.spool_row(row)[0] == "revoking", 20)
        pid = self.service.pid
        since = [self.machine.show(unit, "ActiveEnterTimestampMonotonic") for unit in SOCKETS]
        asking = self.machine.start("sh", "-c", ASKS, user="app", stdout=subprocess.PIPE)
        try:
            self.install(self.packages.next["expunged"])
        finally:
            self.machine.write("/srv/app/stop", "")
            answers, _ = asking.communicate(timeout=HANG_S)
        answers = answers.split()
        self.checks.check(f"each of {len(answers)} calls during the upgrade is answered",
                          answers and set(answers) == {"200"}, answers)
        self.checks.equal("the sockets never stopped listening",
                          [self.machine.show(unit, "ActiveEnterTimestampMonotonic") for unit in SOCKETS], since)
        self.checks.check("the new program runs", self.runs() and self.service.pid != pid)
        self.checks.equal("the timer of the metrics still runs", self.state(TIMER), "active")
        self.checks.equal("dpkg has the new version", self.machine.run(
            "dpkg-query", "--show", "--showformat=${Version}", "expunged").stdout, NEXT_VERSION)
        self.service.provider.fail(rate=0)
        self.checks.equal("the deletion that was under way completes", self.service.spool_end(row)[0], "completed")
        self.checks.equal("no unit failed", self.machine.failed_units(), "")

    def removal(self):
        """Nothing runs, everything of the operator's is kept, and a new installation goes on with it."""
        self.checks.equal("apt removes", self.apt("remove", "expunged").returncode, 0)
        self.checks.equal("nothing runs", [self.state(unit) for unit in (UNIT, *SOCKETS, TIMER)], ["inactive"] * 5)
        self.checks.equal("no unit failed", self.machine.failed_units(), "")
        self.checks.check("the node exporter shows no old metrics", not self.exists(METRICS))
        for path in ("/usr/sbin/expunged", "/usr/bin/expungectl", "/usr/lib/systemd/system/expunged.service",
                     "/usr/lib/systemd/catalog/expunged.catalog"):
            self.checks.check(f"{path} is gone", not self.exists(path))
        sockets = self.machine.run("ls", "/run/expunged", check=False)
        self.checks.check("the sockets are gone", sockets.returncode != 0, sockets.stdout)
        self.checks.check("the journal's catalog has none of the entries", not self.catalog_knows())
        for path in (CONFIGURATION, KEY, STATE, CHECKPOINTS, SPOOL):
            self.checks.check(f"{path} is kept", self.exists(path))
        self.install(self.packages.next["expunged"])
        self.checks.check("installed again, it runs at once, with the timer",
                          self.runs() and self.state(TIMER) == "active")
        answer = self.service.expungectl("receipt", self.request)
        self.checks.equal("and has its receipts", answer.returncode, 0)

    def purge(self):
        """The configuration goes; proofs, unfinished deletions and keys are the operator's to destroy."""
        done = self.apt("purge", "expunged")
        self.checks.equal("apt purges", done.returncode, 0)
        destroy = re.search(r"^ *(rm -r .*)$", done.stdout, re.M)
        self.checks.check("it says what it keeps", destroy, done.stdout)
        with open(os.path.join(self.packages.source, "docs/guides/install.md")) as guide:
            self.checks.check("and how to destroy it, as the guide does", f"# {destroy.group(1)}\n" in guide.read())
        self.checks.check("the configuration is gone", not self.exists(CONFIGURATION))
        for path in (KEY, STATE, CHECKPOINTS, SPOOL):
            self.checks.check(f"{path} is kept", self.exists(path))
        self.install(self.packages.next["expunged"])
        self.checks.equal("installed again, it waits for a configuration", self.state(UNIT), "inactive")
        self.service.configure()
        self.machine.systemctl("start", UNIT)
        self.checks.equal("which finds the old receipts", self.service.expungectl("receipt", self.request).returncode, 0)
        self.apt("purge", "expunged")
        self.machine.run("sh", "-ec", destroy.group(1))
        own = [path for path in self.left(self.before) if not path.startswith("/srv/app")]
        # Of the test itself: its users, and the drop-ins that an operator writes.
        self.checks.equal("then nothing of it is left", own, [
            "/etc/systemd/system/expunged.service.d", "/etc/systemd/system/expunged.service.d/app.conf",
            "/etc/sysusers.d", "/etc/sysusers.d/test.conf"])

    def sandbox(self):
        before = self.files()
        self.install(self.packages.first["expunged-sandbox"])
        done = self.machine.run("expunged-sandbox", "--help", check=False)
        self.checks.check("the stand-in runs without the service",
                          done.returncode == 0 and not self.exists("/usr/sbin/expunged"), done.stderr)
        self.machine.systemctl("start", SANDBOX)
        pid = self.machine.show(SANDBOX, "MainPID")
        self.install(self.packages.next["expunged-sandbox"])
        # Another process would have other keys, and no grant of a test that is under way.
        self.checks.equal("an upgrade leaves it as it runs", (
            self.state(SANDBOX), self.machine.show(SANDBOX, "MainPID")), ("active", pid))
        self.checks.equal("apt purges the stand-in", self.apt("purge", "expunged-sandbox").returncode, 0)
        self.checks.equal("it does not listen any more", (
            self.state(SANDBOX), self.machine.failed_units()), ("inactive", ""))
        self.checks.equal("nothing is left", self.left(before), [])
