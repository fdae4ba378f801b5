"""Every command that the documentation prints is run: here as printed, in a tree of its own in which the installed places
are those of a stage, or by the test that the table below names. A command that is in neither fails this scenario.
"""

import datetime
import glob
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import textwrap

from checks import comes_true
from container import Image
from scenario import SCENARIOS, scenario
from stage import BINARIES, ROOT, Stage

# So that a hang ends.
WAITS_S = 240
# A program that shows what happens until somebody stops it, and the status of timeout(1) then.
LIVE = ("expungectl watch", "expungectl events")
LIVE_S, STOPPED = 3, 124
KEY = "expunged-3a52c8f1+5e1f0d7a+AaFz…"
CONSOLE = re.compile(r"^[$#] ", re.M)

# Which other test does what a page prints: its pages, the beginnings of its commands, and the test, or why none can.
ELSEWHERE = (
    ("docs/guides/quick-start.md", "", "Tests/System/quick_start.py does each step of the page on an empty machine"),
    ("docs/guides/sandbox.md", "", "the scenario guides does them in their order"),
    ("docs/guides/install.md", "", "Tests/System/packages.py builds, installs, updates, removes and purges the packages"),
    ("docs/guides/container.md", "", "the scenario container plays recipe and quadlet: no container engine is here"),
    ("docs/guides/keys-in-hardware.md", "", "the scenario token-key makes the same key in a TPM of software; systemd-creds"
     " needs the keys of a host that systemd has booted"),
    ("CONTRIBUTING.md", "", ".ci/run calls the same targets of make, and this is one of their tests"),
    ("docs/guides/maintenance.md", "make ", "Tests/System/machine.py builds and installs so"),
    ("docs/guides/maintenance.md", "expungectl doctor", "Tests/System/scenarios.py: it tries the sandbox of the unit"),
    ("docs/guides/check.md", "expungectl doctor", "Tests/System/scenarios.py: it tries the sandbox of the unit"),
    ("docs/guides/backup-and-restore.md", "expunged restore", "the scenario backup: this service goes on"),
    ("docs/guides/state-in-postgresql.md", "", "the scenarios standby and failover have a server and hosts"),
    ("docs/guides/status-page.md", "nginx", "the scenario viewer runs nginx with the page's configuration"),
    ("docs/guides/status-page.md", "printf 'anna", "openssl asks for a password at a terminal"),
    ("docs/guides/monitoring.md", "curl", "the port is that of prometheus-node-exporter; the scenario monitoring reads its file"),
    ("docs/guides/approval.md", "expungectl", "the scenario approval: it needs two logins"),
    ("docs/guides/submit-in-the-same-transaction.md", "", "the scenario outbox has the servers that it needs"),
    ("docs/guides/pauses.md", "expungectl guard", "the scenario holds: many deletions must close the guard first"),
    ("docs/man/expungectl.1", "expungectl reauthorize", "the scenario fresh-sign-in: it needs a user who signs in"),
    ("docs/guides/notifications.md", "expungectl notification", "Tests/Control/CommandSessionTests.swift: a signature of"
     " GitHub cannot stand on a page"),
    ("docs/stores/postgresql.md", "expungectl stores", "the scenario stores checks each kind of database"),
    ("docs/stores/mysql.md", "expungectl stores", "the scenario stores checks each kind of database"),
    ("", "apt", "Tests/System/packages.py installs with apt; the network of a test has no mirror"),
    ("", "apt-get", "Tests/System/packages.py installs with apt; the network of a test has no mirror"),
    ("", "systemctl", "needs a systemd that has booted: Tests/System does so with the same units"),
    ("", "journalctl", "needs a systemd that has booted: Tests/System/scenarios.py reads its journal"),
)

# How a command ends here, and why that is not 0.
STATUS = (
    ("expunged --check --json", 1, "it finds that no web service is at the subscriber's address"),
)

STORES = """
[[store.table]]
table = "comments"
column = "user_id"
action = "delete"
[[store.table]]
table = "users"
column = "id"
action = "delete"
[[store]]
name = "uploads"
kind = "files"
root = "/srv/app/uploads"
paths = ["{user_id}"]
[[subscriber]]
name = "app"
url = "https://localhost:9/"
secret_credential = "app-messages"
allow_private_addresses = true
"""


@scenario(gate={})
def documented(checks, seed):
    if os.geteuid():
        checks.skip("the documentation's commands: they need root for places of their own")
        return
    found = list(printed())
    checks.check("the documentation prints commands", len(found) > 100, len(found))
    for page, start, why in ELSEWHERE:
        used = any((not page or where == page) and plain(command).startswith(start) for where, command in found)
        checks.check(f"an exception is needed: {page} {start}", used, why)
    missing = [name for _, _, why in ELSEWHERE for name in named(why) if name not in SCENARIOS
               and not os.path.exists(os.path.join(ROOT, name))]
    checks.equal("every test that an exception names exists", missing, [])
    stage = Place(checks, seed)
    try:
        stage.prepare()
        for page, command in found:
            if not elsewhere(page, command):
                stage.follow(page, command)
        stage.ordinary()
        stage.statuses()
    finally:
        stage.close(keep=bool(checks.failed))


def plain(command):
    return re.sub(r"^sudo (-u \w+ )?", "", command)


def named(why):
    """The scenarios, and the files of tests, in the reason of an exception."""
    scenarios = re.findall(r"\bscenarios? ([\w-]+)(?: and ([\w-]+))?", why)
    return [name for pair in scenarios for name in pair if name] + re.findall(r"\S+/[\w/.]*\w", why)


def elsewhere(page, command):
    return any((not where or where == page) and plain(command).startswith(start) for where, start, _ in ELSEWHERE)


def printed():
    """(page, command) of every command of a guide, a page about providers or stores, the README and a manual page."""
    pages = [path for pattern in ("docs/guides", "docs/providers", "docs/stores", "docs/integrations")
             for path in sorted(glob.glob(os.path.join(ROOT, pattern, "*.md")))]
    for path in pages + [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]:
        with open(path) as file:
            text = file.read()
        for kind, block in re.findall(r"^ *```(console|sh|bash|shell)\n(.*?)^ *```", text, re.M | re.S):
            block = textwrap.dedent(block)
            if kind == "console":
                for command in CONSOLE.split(block)[1:]:
                    yield os.path.relpath(path, ROOT), without_answer(command)
            elif "<<" in block:
                yield os.path.relpath(path, ROOT), block.strip()
            else:
                for command in re.split(r"(?<!\\)\n(?=\S)", block.strip()):
                    yield os.path.relpath(path, ROOT), command
    for path in sorted(glob.glob(os.path.join(ROOT, "docs/man/*"))):
        yield from ((os.path.relpath(path, ROOT), command) for command in of_manual(path))


def without_answer(text):
    """The command and its further lines, which are indented or follow a backslash or a bar; not what it answers."""
    lines = text.rstrip().split("\n")
    count = 1
    while count < len(lines) and (lines[count].startswith("    ") or lines[count - 1].endswith(("\\", "|"))):
        count += 1
    return "\n".join(re.sub(r"\s+# .*$", "", line) for line in lines[:count])


def of_manual(path):
    with open(path) as file:
        examples = re.search(r"^\.S[Hh] EXAMPLES\n(.*?)(?=^\.S[Hh] |\Z)", file.read(), re.M | re.S)
    blocks = re.findall(r"^\.(?:nf|Bd -literal.*)\n(.*?)^\.(?:fi|Ed)", examples[1] if examples else "", re.M | re.S)
    for block in blocks:
        text = re.sub(r"\\\n\s*", "", block.replace("\\-", "-").replace("\\e", "\\"))
        # What is an example of a file, or of the steps that ordinary() takes as a whole, is no command by itself.
        if "$D" not in text:
            yield from (line for line in text.splitlines() if re.match(r"(expunge|journal)", line))


class Place(Stage):
    """A stage, and a tree in which it is at the installed places."""

    def prepare(self):
        self.unjudged = "requests are left open on purpose"
        with sqlite3.connect(self.app) as app:
            app.execute("CREATE TABLE users (id TEXT PRIMARY KEY)")
            app.execute("CREATE TABLE comments (id INTEGER PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users, body TEXT)")
            app.execute("CREATE INDEX comments_user ON comments (user_id)")
        self.image = Image(self.directory)
        self.tree = self.image.tree
        self.lay_out()
        self.starts()
        self.fill()

    def lay_out(self):
        """The programs, the places of a package, users that the pages name, and sudo."""
        self.inside("mkdir -p /etc/expunged/credentials /etc/systemd/system /usr/share/doc/expunged /var/lib/expunged"
                    " /var/log/expunged /run/expunged /run/expunged-sandbox /srv/app/uploads /srv/app/data /srv/restored"
                    " /reader /var/backups && for name in expunged app www-data; do id $name >/dev/null 2>&1 ||"
                    " useradd --system --user-group $name; done && { getent group expunged-viewer >/dev/null ||"
                    " groupadd --system expunged-viewer; }")
        sudo = ('#!/bin/sh\n[ "$1" = -u ] || exec "$@"\nuser=$2 HOME=/\nshift 2\n'
                'exec setpriv --reuid="$user" --regid="$user" --init-groups "$@"\n')
        place = shlex.quote(f"{self.tree}/usr/local/sbin/sudo")
        self.image.host("sh", "-c", f"cat >{place} && chmod 755 {place}", input=sudo)
        self.checks.equal("sudo -u goes on as that user", self.inside("sudo -u app id -un").stdout, "app\n")
        for name in ("expunged", "expungectl", "expunged-sandbox"):
            self.image.host("install", "-m", "755", os.path.join(BINARIES, name), f"{self.tree}/usr/bin/{name}")
        for name in ("systemd/expunged-approval.conf", "docs/verify-ledger.py"):
            self.image.host("cp", os.path.join(ROOT, name), f"{self.tree}/usr/share/doc/expunged/")
        with open(self.path("credentials/app-messages"), "w") as file:
            file.write("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n")
        os.chmod(self.path("credentials/app-messages"), 0o600)
        os.makedirs(self.path("app/uploads"))
        os.makedirs(self.path("app/data"))
        shutil.copy(self.app, self.path("app/data/app.db"))
        with open(self.path("app/uploads/.expunged-root"), "w") as file:
            file.write("uploads\n")
        with open(self.path("expunged.toml"), "a") as file:
            file.write(STORES.replace("/srv/app", self.path("app")))
        for name in os.listdir(self.path("credentials")):
            self.image.host("cp", "-p", self.path(f"credentials/{name}"), f"{self.tree}/etc/expunged/credentials/")
        self.image.host("cp", self.path("expunged.toml"), f"{self.tree}/etc/expunged/")
        for outer, inner in (("state", "/var/lib/expunged"), ("runtime", "/run/expunged"), ("app", "/srv/app")):
            done = self.image.host("mount", "--bind", self.path(outer), self.tree + inner)
            assert done.returncode == 0, done.stderr

    def inside(self, command, text=""):
        words = self.image.inside("root", "timeout", str(WAITS_S), "bash", "-c", f"cd /reader 2>/dev/null; {command}",
                                  HOME="/root")
        return subprocess.run(words, capture_output=True, text=True, input=text, errors="replace")

    def fill(self):
        """What a reader puts in place of words in capitals."""
        done, waiting, known, gone = self.new_users(4)
        for user, token in zip((done, waiting, known, gone), self.new_tokens(4)):
            self.store(user, token)
        completed = self.delete(done)[1]["id"]
        assert comes_true(lambda: self.http("GET", f"/v1/requests/{completed}")[1]["state"] == "completed", WAITS_S), \
            self.http("GET", f"/v1/requests/{completed}")[1]
        self.http("POST", f"/v1/users/{waiting}/hold", {"reason": "case 7"})
        parked = self.delete(waiting)[1]["id"]
        assert comes_true(lambda: self.http("GET", f"/v1/requests/{parked}")[1]["state"] == "parked", WAITS_S), \
            self.http("GET", f"/v1/requests/{parked}")[1]
        self.known, self.completed, self.parked = known, completed, parked
        assert comes_true(lambda: "checkpoint" in self.http("GET", "/v1/ledger")[1], WAITS_S), "no checkpoint is signed"
        self.key = self.http("GET", "/v1/ledger")[1]["key"]
        now = datetime.datetime.now(datetime.timezone.utc)
        self.backup, self.restored = ((now - datetime.timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
                                      for hours in (72, 1))
        self.month = now.strftime("%Y-%m")

    def filled(self, page, command):
        request = self.parked if re.search(r"expungectl (plan|wait|retry|cancel|reauthorize)", command) else self.completed
        identity = self.http("GET", f"/v1/users/{self.known}/identities")[1]["items"]
        words = {
            "ID": request, "USER": self.known, "T": self.backup, "HASH": "a" * 64,
            "IDENTITY": identity[0]["identity_id"] if identity else "",
        }
        for word, value in words.items():
            command = re.sub(rf"(?<![\w-]){word}(?![\w-])", value, command)
        known = {
            KEY: self.key, "2026-11-20T03:00:00Z": self.backup, "2026-11-23T09:30:00Z": self.restored,
            "--month 2026-11": f"--month {self.month}", "/srv/restored/app.db": self.path("app/app-restored.db"),
            "01a20766-9c41": self.completed, "01a20766-8ff9": self.completed,
        }
        for old, new in known.items():
            command = command.replace(old, new)
        if "msg_12_" in command:
            message = self.http("GET", "/v1/messages?state=waiting")[1]["items"][0]["id"]
            command = re.sub(r"msg_12_[0-9a-f]+", message, command)
        return command

    # Steps

    def follow(self, page, command):
        if command.startswith("expunged-sandbox"):
            return self.at_sandbox(page, command)
        self.before(page, command)
        line = self.filled(page, command)
        is_live = plain(line).startswith(LIVE) and "--once" not in line
        if is_live:
            line = f"timeout {LIVE_S} {plain(line)}"
        done = self.inside(line, text="made-up-token\n" if "reauthorize" in command else "")
        expected = STOPPED if is_live else next((status for start, status, _ in STATUS if command.startswith(start)), 0)
        self.checks.check(f"{page}: {command.splitlines()[0][:70]}", done.returncode == expected,
                          f"{done.returncode}, not {expected}: {line}\n{done.stdout[-400:]}{done.stderr[-400:]}")

    def before(self, page, command):
        """What the page says that the reader has."""
        if "--generate-vault-key" in command:
            self.inside("rm -f /etc/expunged/credentials/vault-key /etc/expunged/credentials/vault-key-2")
        elif "/srv/restored/app.db" in command:
            with sqlite3.connect(self.app) as app:
                app.execute("VACUUM INTO ?", (self.path("app/app-restored.db"),))
        elif "ledger verify --entries" in command:
            self.inside("cp /usr/share/doc/expunged/verify-ledger.py . && expungectl ledger export > entries; cp"
                        " /var/lib/expunged/checkpoints . && cp checkpoints checkpoints.of-last-week; sqlite3 -readonly"
                        " /var/lib/expunged/state.db \".backup state.db\"; expungectl ledger export > entries;"
                        f" cp /var/lib/expunged/checkpoints . ; expungectl receipt {self.completed} > receipt.json")
        elif "sudo -u expunged" in command:
            # The service of the stage is root's; an installed one is this user's.
            self.inside("chmod o+x /var/lib/expunged && chgrp -R expunged /var/lib/expunged/spool"
                        " && chmod -R g+rwX /var/lib/expunged/spool")
        elif command.startswith("expunged --check --json"):
            self.inside("cp /etc/expunged/expunged.toml . && cp -r /etc/expunged/credentials .")
        elif "AuthKey_KEY1234567.p8" in command:
            self.inside("cp /etc/expunged/credentials/apple-key.p8 AuthKey_KEY1234567.p8")
        elif command.startswith("expungectl store-credential") or "token.jwt" in command:
            self.inside("echo made-up-token > token; echo made.up.jwt > token.jwt")

    def at_sandbox(self, page, command):
        """A manual page's example, at the sandbox of the stage."""
        if "serve" in command:
            return
        line = command.replace("--directory sandbox", f"--directory {self.sandbox.directory}")
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=WAITS_S,
                              env={**os.environ, "PATH": BINARIES + ":" + os.environ["PATH"]})
        self.checks.check(f"{page}: {command[:70]}", done.returncode == 0, done.stderr)

    def ordinary(self):
        """expunged(8): everything below one directory."""
        with open(os.path.join(ROOT, "docs/man/expunged.8")) as file:
            block = re.search(r"^\.Bd -literal -offset indent\n(.*?)^\.Ed", file.read(), re.M | re.S)[1]
        lines = re.sub(r"\\e\n\s*", "", block).splitlines()
        self.checks.equal("expunged(8) has the steps that this test takes", [line.split()[0] for line in lines],
                          ["mkdir", "expunged", "expunged", "expungectl"])
        self.inside("mkdir -p /reader/own && : > /reader/own/expunged.toml")
        script = "\n".join([*lines[:2], lines[2] + " & daemon=$!",
                            "for try in $(seq 2000); do [ -S $D/run/control.sock ] && break; sleep 0.1; done",
                            lines[3], "status=$?; kill $daemon; wait $daemon; exit $status"])
        done = self.inside(f"D=/reader/own; {script}")
        self.checks.check("docs/man/expunged.8: everything below one directory",
                          done.returncode == 0 and "running" in done.stdout, done.stdout + done.stderr)

    def statuses(self):
        """Each program ends in all the ways that its page lists, and in no other."""
        ways = {
            "expunged.8": {
                "expunged --version": 0, "expunged --check --config /dev/null --state-directory /nowhere": 1,
                "expunged --frobnicate": 64, "expunged --init-spool --state-directory /proc": 74,
                "expunged --check-config --config /nowhere": 78,
            },
            "expunged-sandbox.1": {
                f"expunged-sandbox clients --directory {shlex.quote(self.sandbox.directory)}": 0,
                "expunged-sandbox clients --directory /nowhere": 1, "expunged-sandbox clients --frobnicate": 64,
            },
        }
        for page, commands in ways.items():
            with open(os.path.join(ROOT, "docs/man", page)) as file:
                section = re.search(r"^\.S[Hh] EXIT STATUS\n(.*?)^\.S[Hh] ", file.read(), re.M | re.S)[1]
            listed = [int(number) for number in re.findall(r"^\.(?:It|B) (\d+)$", section, re.M)]
            # It takes a second user: Tests/System/scenarios.py.
            listed = [number for number in listed if number != 77]
            self.checks.equal(f"docs/man/{page} lists each exit status", listed, sorted(commands.values()))
            for command, status in commands.items():
                done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=WAITS_S,
                                      env={**os.environ, "PATH": BINARIES + ":" + os.environ["PATH"]})
                self.checks.check(f"docs/man/{page}: {command[:60]} ends with {status}", done.returncode == status,
                                  f"{done.returncode} {done.stderr[-300:]}")

    def close(self, keep=False):
        super().close(keep)
        if hasattr(self, "image"):
            self.image.close()
