"""What the service must do on a real systemd, one scenario per method."""

import base64
import datetime
import os
import subprocess
import sys
import tempfile
import time

from canaries import Canaries
from checks import HANG_S, HOLDS_BARS, comes_true, wait_for
from damage import damage
from provider import Provider
from service import APP_DB, EXPORTER, RELEASE_DIR, SPOOL, UNIT, Service, ask, new_user
from static import EXPOSURE_MAX, exposure

INSERT = "INSERT INTO requests (kind, user_id) VALUES ('delete_account', '{user}') RETURNING id;"

# How an application waits for the replay of a restored store (docs/guides/replay.md).
WAITS = """[Unit]
Requires=expunged-replayed.target
After=expunged-replayed.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
"""

# More than a replay purges in one call, so that some are erased while others wait.
RESTORED = 200

# A watchdog period, and how often systemd hears that the service lives: twice in each. In fast motion as often as in an
# hour of the unit's 30 s, where nothing else keeps the service from it.
PERIOD, FEEDS = ("1s", 240) if HOLDS_BARS else ("60s", 4)


class Scenarios:
    """Runs in order: the later ones use what the first installs."""

    def __init__(self, checks, machine, source):
        self.checks = checks
        self.machine = machine
        self.source = source
        self.service = None

    def run(self, only):
        provider = Provider(os.path.join(self.source, RELEASE_DIR, "expunged-sandbox"))
        self.provider = provider
        self.service = Service(self.machine, provider, self.source)
        try:
            failed = self.checks.failed
            self.checks.scenario("installation", self.installation)
            if self.checks.failed > failed:
                return
            for name in (
                "socket_activation", "permissions", "spool", "socket", "journal", "ledger", "reload",
                "doctor", "damage", "down", "kill", "exposure", "metrics", "backups",
                "replay", "replay_kill", "outage", "idle", "stuck_writer", "secrecy", "uninstall",
            ):
                if only in name:
                    self.checks.scenario(name.replace("_", " "), getattr(self, name))
                    provider.fail(rate=0)
        finally:
            if self.checks.failed:
                print(self.machine.run(
                    "journalctl", "-u", UNIT, "-n", "60", "--no-pager", check=False).stdout)
            provider.stop()

    def installation(self):
        self.service.install()
        stat = self.machine.run(
            "stat", "-c", "%n %a %U %G", "/etc/expunged/credentials", "/etc/expunged/expunged.toml",
            "/var/lib/expunged", "/var/lib/expunged/spool", SPOOL).stdout.splitlines()
        self.checks.equal("files have the owners and modes of the design", stat, [
            "/etc/expunged/credentials 700 root root",
            "/etc/expunged/expunged.toml 644 root root",
            "/var/lib/expunged 711 expunged expunged",
            "/var/lib/expunged/spool 2770 expunged expunged-submit",
            f"{SPOOL} 660 expunged expunged-submit",
        ])
        verify = self.machine.run(
            "systemd-analyze", "verify", "--man=no", UNIT, "expunged-control.socket",
            "expunged-submit.socket", "expunged-viewer.socket", check=False)
        self.checks.equal("systemd-analyze verify of the installed units", verify.stderr, "")
        again = self.service.make_install()
        self.checks.equal("installing again succeeds", again.returncode, 0)
        kept = self.machine.run("grep", "-c", "app-db", "/etc/expunged/expunged.toml").stdout
        self.checks.equal("installing again keeps the configuration", kept.strip(), "1")

    def socket_activation(self):
        self.machine.systemctl("enable", UNIT)
        wanted = self.machine.systemctl("is-enabled", "expunged-control.socket").stdout.strip()
        self.checks.equal("enabling the service enables its sockets", wanted, "enabled")
        self.machine.systemctl("start", "expunged-control.socket", "expunged-submit.socket", "expunged-viewer.socket")
        self.checks.equal(
            "the service waits for a connection", self.machine.show(UNIT, "ActiveState"),
            "inactive")
        status, body = self.service.http("GET", "/v1/status")
        self.checks.equal("the first call starts the service and is answered", status, 200)
        self.checks.check("the service is active", self.service.is_active(), body)
        self.checks.check(
            "it says how it is", self.machine.show(UNIT, "StatusText") != "",
            self.machine.show(UNIT, "StatusText"))
        self.checks.equal(
            "it says that it started", len(self.service.events("Service started")), 1)
        answer = self.service.expungectl("status")
        self.checks.check(
            "an operator asks for the status", answer.returncode == 0,
            answer.stdout + answer.stderr)
        noise = [
            entry["MESSAGE"] for entry in self.machine.journal(f"_SYSTEMD_UNIT={UNIT}")
            if "thread priority" in str(entry["MESSAGE"])
        ]
        self.checks.equal("the sandbox causes no complaint in the journal", noise, [])

    def permissions(self):
        for user, socket, may in (
            ("app", "submit", True), ("app", "control", False), ("opal", "control", True),
            ("opal", "submit", False), ("stranger", "submit", False),
            ("stranger", "control", False), ("vera", "viewer", True), ("vera", "control", False),
            ("vera", "submit", False), ("app", "viewer", False), ("stranger", "viewer", False),
        ):
            status, _ = self.service.http("GET", "/v1/status", user=user, socket=socket)
            self.checks.equal(
                f"{user} {'may' if may else 'may not'} use {socket}.sock", status == 200, may)
        for path in ("/var/lib/expunged/state.db", SPOOL):
            answer = self.machine.run("cat", path, user="stranger", check=False)
            self.checks.check(f"a stranger cannot read {path}", answer.returncode != 0)
        answer = self.machine.run("cat", "/var/lib/expunged/state.db", user="app", check=False)
        self.checks.check("an application cannot read the state", answer.returncode != 0)

        sockets = self.machine.run(
            "stat", "-c", "%n %a %U %G", "/run/expunged", "/run/expunged/control.sock",
            "/run/expunged/submit.sock", "/run/expunged/viewer.sock").stdout.splitlines()
        self.checks.equal("the sockets belong to their groups, in a directory of root", sockets, [
            "/run/expunged 755 root root", "/run/expunged/control.sock 660 root expunged-operator",
            "/run/expunged/submit.sock 660 root expunged-submit",
            "/run/expunged/viewer.sock 660 root expunged-viewer",
        ])
        status, body = self.service.http("POST", "/v1/intake/pause", {}, user="vera", socket="viewer")
        self.checks.check("a viewer changes nothing", status == 403 and "only reads" in body.get("detail", ""), (status, body))
        answer = self.machine.run("expungectl", "status", user="vera", check=False)
        self.checks.check("expungectl finds the socket of a viewer", answer.returncode == 0, answer.stderr)

    def spool(self):
        user = self.service.add_user()
        credential = self.service.spool_sign_in(user)
        scrubbed = wait_for("the code to be sealed", lambda: self.service.sql(SPOOL, f"""
            SELECT state FROM credentials
            WHERE id = {credential} AND state <> 'submitted' AND secret IS NULL"""))
        self.checks.equal("a code in the spool is sealed and scrubbed", scrubbed, "sealed")
        row = self.service.spool_delete(user)
        state, detail, self.request = self.service.spool_end(row)
        self.checks.equal("a row in the spool is carried out", (state, detail), ("completed", ""))
        self.checks.equal("the user's rows are gone", self.service.rows(user), 0)
        named = self.service.sql(SPOOL, f"SELECT user_id FROM requests WHERE id = {row}")
        self.checks.equal(
            "the spool forgets the user", named, f"erased:{self.request}")
        self.checks.equal("the provider revoked", self.revocations(user), 1)

    def socket(self):
        user = self.service.add_user()
        status, body = self.service.http_sign_in(user)
        self.checks.equal("a code is stored over the socket", status, 202)
        status, body = self.service.http_delete(user, key=f"key-{user}")
        self.checks.equal("a deletion is accepted over the socket", status, 202)
        status, again = self.service.http_delete(user, key=f"key-{user}")
        self.checks.equal("the same key is the same request", again.get("id"), body.get("id"))
        body = self.service.http_end(body["id"])
        verdicts = [identity["verdict"] for identity in body["identities"]]
        self.checks.equal("it ends completed", body["state"], "completed")
        self.checks.check(
            "its identity has a verdict of success", verdicts in (["proven"], ["accepted"]), body)
        self.checks.equal("the user's rows are gone", self.service.rows(user), 0)

    def journal(self):
        entries = self.machine.journal(f"EXPUNGED_REQUEST_ID={self.request}")
        ends = [
            entry for entry in entries
            if entry.get("MESSAGE_ID") == self.service.message_id("Request completed")
        ]
        self.checks.equal("the outcome is found by the request's id", len(ends), 1)
        self.checks.equal(
            "with its identifier and priority",
            [(entry["SYSLOG_IDENTIFIER"], entry["PRIORITY"]) for entry in ends],
            [("expunged", "5")])
        verdicts = {entry.get("EXPUNGED_VERDICT") for entry in entries} - {None}
        self.checks.check("the verdict is a field", verdicts <= {"proven", "accepted"} and verdicts,
                          entries)
        text = self.machine.run(
            "journalctl", "-x", "--no-pager", f"EXPUNGED_REQUEST_ID={self.request}").stdout
        self.checks.check(
            "journalctl -x shows the catalog's text",
            f"Subject: Request completed ({self.request})" in text and "What to do:" in text, text)
        self.checks.check(
            "each message is a sentence about the request", all(
                entry.get("EXPUNGED_EVENT") == "operator_action"
                or self.request[:13] in entry["MESSAGE"] for entry in entries),
            [entry["MESSAGE"] for entry in entries])

    def ledger(self):
        """Whoever has a copy of the journal has every checkpoint, byte for byte as it is in the file."""
        key = self.service.http("GET", "/v1/ledger", user="opal", socket="control")[1]["key"]
        # Everything is signed before the export begins.
        entries = self.service.expungectl("ledger", "export").stdout
        with open(f"{self.machine.root}/var/log/expunged/checkpoints", newline="") as file:
            in_file = checkpoints(file.read(), key)

        def reported():
            return [checkpoint(key, *entry["EXPUNGED_DETAIL"].split(" "))
                    for entry in self.service.events("Ledger checkpoint")]

        comes_true(lambda: len(reported()) >= len(in_file))
        in_journal = reported()
        self.checks.check(
            f"the {len(in_journal)} checkpoints in the journal are those of the file, byte for byte",
            in_journal == in_file and len(in_file) > 1, f"{in_journal[-1:]}\n{in_file[-1:]}")
        self.checks.equal("the last one covers all entries of an export",
                          int(in_journal[-1].split("\n")[1]), len(entries.splitlines()))
        forged = in_journal[-1].replace("\ntime 2", "\ntime 3")
        for what, notes, status in (
            ("verifies the ledger by the journal alone", in_journal, 0),
            ("notices another time in the journal's last one", [*in_journal[:-1], forged], 1),
        ):
            done = self.verify(key, entries, notes)
            self.checks.equal(f"verify-ledger.py {what}", done.returncode, status)

    def verify(self, key, entries, notes):
        """The independent verifier over an export and these checkpoints."""
        with tempfile.TemporaryDirectory() as place:
            paths = [os.path.join(place, name) for name in ("entries", "notes")]
            for path, text in zip(paths, (entries, "".join(note + "\n" for note in notes))):
                with open(path, "w", newline="") as file:
                    file.write(text)
            return subprocess.run(
                [sys.executable, "-B", os.path.join(self.source, "docs/verify-ledger.py"), key,
                 "--ledger", *paths], capture_output=True, text=True)

    def reload(self):
        pid = self.service.pid
        self.service.configure(deadline="20d")
        answer = self.machine.systemctl("reload", UNIT, check=False)
        self.checks.equal("a good configuration is reloaded", answer.returncode, 0)
        wait_for("the event", lambda: self.service.events("Configuration reloaded"), 10)
        self.service.configure(extra="\n[nonsense]\nkey = 1\n")
        answer = self.machine.systemctl("reload", UNIT, check=False)
        self.checks.check("a bad configuration is refused", answer.returncode != 0)
        said = self.machine.run("journalctl", "-u", UNIT, "-n", "20", "--no-pager").stdout
        self.checks.check("the journal names the key", "nonsense" in said, said)
        self.checks.equal("the same process goes on", self.service.pid, pid)
        status, _ = self.service.http("GET", "/v1/status")
        self.checks.equal("it still answers", status, 200)
        status = self.machine.run("expungectl", "status").stdout
        self.checks.check(
            "the status shows the refused reload", "configuration_refused" in status and "nonsense" in status, status)
        self.service.configure()
        self.machine.systemctl("reload", UNIT)
        status = self.machine.run("expungectl", "status").stdout
        self.checks.check("a good reload ends that", "configuration_refused" not in status, status)

    def doctor(self):
        """The check sees what the service sees: its user, its sandbox, its drop-ins."""
        done = self.machine.run("expungectl", "doctor", check=False)
        self.checks.equal("the doctor finds nothing to mend", (done.returncode, "error: " in done.stdout), (0, False))
        done = self.machine.run("expungectl", "doctor", user="opal", check=False)
        self.checks.check("for an operator it says what it could not examine, and how to run it",
                          done.returncode == 77 and "error: " not in done.stdout
                          and "not examined: " in done.stdout and "sudo expungectl doctor" in done.stdout, done.stdout)
        self.machine.run("chmod", "0600", APP_DB)
        done = self.machine.run("expungectl", "doctor", check=False)
        self.machine.run("chmod", "0660", APP_DB)
        self.checks.check(
            "it finds a store that only the service's user cannot open",
            done.returncode == 1 and APP_DB in done.stdout and "hint: " in done.stdout, done.stdout + done.stderr)

    def damage(self):
        damage(self.checks, self.service)

    def down(self):
        """A service that cannot start: its sockets still accept connections."""
        self.service.configure(extra="\n[nonsense]\nkey = 1\n")
        self.machine.systemctl("restart", UNIT, check=False)
        begun = time.monotonic()
        done = self.machine.run("expungectl", "status", check=False)
        took_s = time.monotonic() - begun
        self.checks.check(
            f"expungectl ends with 5 and the reason after {took_s:.1f} s",
            done.returncode == 5 and "nonsense" in done.stderr, done.stderr)
        if HOLDS_BARS:
            self.checks.check("     that is less than 1.5 s", took_s < 1.5, took_s)
        self.service.configure()
        self.machine.systemctl("restart", UNIT)

    def kill(self):
        users = [self.service.add_user() for _ in range(12)]
        for user in users:
            self.service.http_sign_in(user)
        # The provider answers nothing until the service is dead.
        self.provider.fail(rate=1, kinds=["delay"], endpoints=["revoke"], delay_ms=HANG_S * 1000)
        waiting = self.machine.start(
            "expungectl", "delete-account", users[0], "--wait", user="opal",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # An application that keeps its connection to the spool open all the time.
        held = self.machine.start("sqlite3", "-cmd", f".timeout {HANG_S * 1000}", SPOOL, user="app",
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        rows = [ask(held, INSERT.format(user=users[1]))]
        rows += [self.service.spool_delete(user) for user in users[2:-1]]
        wait_for("work in the middle", lambda: "revoking" in {
            self.service.spool_row(row)[0] for row in rows})
        restarts, pid = self.service.restarts, self.service.pid
        place = f"/proc/{self.machine.host_pid(pid)}"
        self.machine.run("kill", "-KILL", str(pid))
        wait_for("the process to end", lambda: not os.path.exists(place))
        self.provider.fail(rate=0)
        status, _ = self.service.http("GET", "/v1/status")
        self.checks.equal("a client that comes while nobody runs is answered", status, 200)
        rows.append(ask(held, INSERT.format(user=users[-1])))
        self.checks.check("an application's connection survives the restart", rows[-1])
        states = [self.service.spool_end(row)[0] for row in rows]
        self.checks.equal("every request is finished after the restart", set(states), {"completed"})
        self.checks.equal("systemd restarted it once", self.service.restarts, restarts + 1)
        output, _ = waiting.communicate(timeout=HANG_S)
        self.checks.check(
            "expungectl --wait survives the restart", waiting.returncode == 0, output)
        held.communicate(timeout=HANG_S)
        self.checks.equal(
            "no row is left", sum(self.service.rows(user) for user in users), 0)
        self.checks.check(
            "every grant was revoked",
            all(self.revocations(user) >= 1 for user in users),
            [self.revocations(user) for user in users])
        self.checks.check(
            "the unclean stop is reported", self.service.events("Recovered from an unclean stop"))

    def exposure(self):
        text = self.machine.run(
            "systemd-analyze", "security", "--no-pager", UNIT, check=False).stdout
        score = exposure(text)
        self.checks.check(
            f"exposure of the running unit is {score}, at most {EXPOSURE_MAX}",
            score is not None and score <= EXPOSURE_MAX, text)
        status = open(f"/proc/{self.machine.host_pid(self.service.pid)}/status").read()
        for line in ("NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000"):
            self.checks.check(f"the process has {' '.join(line.split())}", line in status, status)
        maps = open(f"/proc/{self.machine.host_pid(self.service.pid)}/maps").read()
        self.checks.check("the process allocates with jemalloc", "/libjemalloc.so" in maps, maps)

    def replay(self):
        """An application that must not start before a restored store was replayed."""
        file = "/etc/expunged/replay-since"
        self.machine.write("/etc/systemd/system/waits.service", WAITS)
        self.machine.systemctl("daemon-reload")
        self.machine.systemctl("start", "waits.service")
        self.checks.equal("nothing restored, nothing to wait for", self.waits(), "active")
        self.forget_replay()
        began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        user = self.service.add_user()
        backup = f"/srv/app/backup-{user[-8:]}.db"
        self.service.sql(APP_DB, f"VACUUM INTO '{backup}'")
        other = self.service.add_user()
        self.service.http_sign_in(user)
        status, body = self.service.http_delete(user)
        self.service.http_end(body["id"])
        self.service.sql(APP_DB, f"""
            ATTACH '{backup}' AS old;
            INSERT INTO users SELECT * FROM old.users WHERE id = '{user}';
            INSERT INTO posts SELECT * FROM old.posts WHERE author_id = '{user}';
            INSERT INTO likes SELECT * FROM old.likes WHERE user_id = '{user}';""")
        self.checks.equal("a backup brings an erased user back", self.service.rows(user), 5)

        self.machine.write(file, f"{began} no-such-store\n")
        answer = self.machine.systemctl("start", "waits.service", check=False)
        self.checks.check("a replay that is not done keeps the application down",
                          answer.returncode != 0 and self.waits() != "active", self.waits())
        said = self.machine.run(
            "journalctl", "-u", "expunged-replay.service", "--no-pager").stdout
        self.checks.check("the journal says why", "unknown_store" in said, said)
        self.forget_replay()
        self.machine.write(file, f"{began} app-db\n")
        answer = self.machine.systemctl("start", "waits.service", check=False)
        self.checks.check("rows without a date wait for the word that they were restored",
                          answer.returncode != 0 and self.waits() != "active"
                          and self.service.rows(user) == 5, self.waits())
        self.forget_replay()
        # To the millisecond: the whole second began before the deletion ended.
        restored = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        self.machine.write(file, f"# last night's copy\n{began} app-db {restored}\n")
        self.machine.systemctl("start", "waits.service")
        self.checks.equal("after the replay the application starts", self.waits(), "active")
        self.checks.equal("the user is erased again", self.service.rows(user), 0)
        self.checks.equal("nobody else is", self.service.rows(other), 5)
        found = self.machine.run("ls", file, f"{file}.done", check=False).stdout.split()
        self.checks.equal("the next start does not repeat it", found, [f"{file}.done"])
        self.machine.run("rm", backup)

    def replay_kill(self):
        """The service is killed in the middle of a replay: what waits for it waits until the end."""
        file = "/etc/expunged/replay-since"
        self.machine.write("/etc/systemd/system/waits.service", WAITS)
        self.machine.systemctl("daemon-reload")
        self.machine.systemctl("start", UNIT)
        self.forget_replay()
        other, users = self.service.add_user(), [new_user() for _ in range(RESTORED)]
        names = ", ".join(f"('{user}')" for user in users)
        self.service.sql(APP_DB, f"""
            INSERT INTO users (id) VALUES {names};
            INSERT INTO posts (author_id) SELECT column1 FROM (VALUES {names});
            VACUUM INTO '/srv/app/backup.db';""")
        began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        last = self.service.sql(SPOOL, f"""
            SELECT max(id) FROM requests;
            INSERT INTO requests (kind, user_id) SELECT 'delete_account', column1
            FROM (VALUES {names});""") or 0
        wait_for("the deletions", lambda: self.service.sql(SPOOL, f"""
            SELECT count(*) FROM requests WHERE id > {last} AND state = 'completed'"""
            ) == str(RESTORED), 120, 0.5)
        self.checks.equal("all are erased", self.left(), 0)
        self.service.sql(APP_DB, """
            ATTACH '/srv/app/backup.db' AS old;
            INSERT INTO users SELECT * FROM old.users WHERE email IS NULL;
            INSERT OR IGNORE INTO posts SELECT * FROM old.posts WHERE body IS NULL;""")
        self.checks.equal("a backup brings all back", self.left(), RESTORED)
        restored = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        self.machine.write(file, f"{began} app-db {restored}\n")

        recorded, restarts = self.replayed(), self.service.restarts
        pid = self.machine.host_pid(self.service.pid)
        # Every commit takes seconds, so there is time to look in.
        strace = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=fdatasync,fsync", "-e",
             "inject=fdatasync,fsync:delay_enter=3000000", "-p", str(pid)])
        try:
            wait_for("strace to hold every thread", lambda: is_traced(pid), 30)
            self.machine.systemctl("start", "--no-block", "waits.service")
            wait_for("the middle of the replay", lambda: 0 < self.left() < RESTORED, 2 * HANG_S)
            self.machine.systemctl("kill", "-s", "KILL", UNIT)
        finally:
            # A traced process cannot die before its tracer lets go.
            strace.kill()
            strace.wait(HANG_S)
        left = self.left()
        self.checks.check(f"of {RESTORED} users {left} are left when the service is killed", 0 < left < RESTORED)
        self.checks.check("the application waits", self.waits() != "active" and self.machine.show(
            "expunged-replayed.target", "ActiveState") != "active", self.waits())
        wait_for("the replay to go on by itself", lambda: self.waits() in ("active", "failed"), 120)
        self.checks.equal("when the application starts nobody is left", (self.waits(), self.left()), ("active", 0))
        self.checks.equal("systemd restarted the service once", self.service.restarts, restarts + 1)
        self.checks.equal("nobody else is erased", self.service.rows(other), 5)
        found = self.machine.run("ls", file, f"{file}.done", check=False).stdout.split()
        self.checks.equal("the next start does not repeat it", found, [f"{file}.done"])
        self.checks.equal("each is recorded as replayed, once", self.replayed() - recorded, RESTORED)
        self.machine.run("rm", "/srv/app/backup.db")

    def replayed(self):
        return self.service.expungectl("ledger", "export").stdout.count('"event":"replayed"')

    def left(self):
        """How many users that a backup brought back have something, in a look that takes no time."""
        return int(self.service.sql(APP_DB, """
            SELECT count(*) FROM (SELECT id FROM users WHERE email IS NULL
                UNION SELECT author_id FROM posts WHERE body IS NULL)"""))

    def metrics(self):
        self.machine.run("mkdir", "-p", EXPORTER)
        self.machine.systemctl("stop", UNIT)
        done = self.machine.systemctl("start", "expunged-metrics.service", check=False)
        self.checks.check("asking for metrics does not start a service that was stopped",
                          done.returncode != 0 and not self.service.is_active(), done)
        self.machine.systemctl("start", UNIT)
        self.machine.systemctl("start", "expunged-metrics.timer")
        self.machine.systemctl("start", "expunged-metrics.service")
        # As the user of Debian's node exporter: root may read everything.
        read = self.machine.run("cat", f"{EXPORTER}/expunged.prom", user="prometheus", check=False)
        lines = read.stdout.splitlines()
        self.checks.check("the metrics are written for the node exporter", any(
            line.startswith("expunged_ledger_sound ") for line in lines) and lines[-1].startswith(
            "expunged_metrics_written_seconds "), read.stderr or lines[-3:])
        self.checks.check("in a form that its collector reads", all(
            line.startswith(("# HELP ", "# TYPE ")) or len(line.rsplit(" ", 1)) == 2 for line in lines), lines)
        self.machine.systemctl("stop", "expunged-metrics.timer")

    def backups(self):
        """The unit of the timer, which runs as the service's user: one more backup, and the oldest go."""
        folder, drop_in = "/var/lib/expunged-backups", "/etc/systemd/system/expunged-backup.service.d/keep.conf"
        self.machine.write(drop_in, "[Service]\nEnvironment=KEEP=2\n")
        self.machine.systemctl("daemon-reload")
        self.machine.run("install", "-d", "-o", "expunged", "-g", "expunged", "-m", "0700", folder)
        old = [f"{folder}/expunged-{number:06}-2020-01-01T000000Z.tar" for number in (1, 2)]
        self.machine.run("touch", *old, user="expunged")
        done = self.machine.systemctl("start", "expunged-backup.service", check=False)
        self.checks.equal("the timer's unit backs up", done.returncode, 0)
        left = self.machine.run("sh", "-c", f"stat -c '%n %a %U' {folder}/*").stdout.splitlines()
        self.checks.check("the new backup, which only the service may read, and one old one are left",
                          len(left) == 2 and left[0].startswith(old[1]) and left[1].endswith(".tar 600 expunged"), left)
        self.checks.equal("the timer is not enabled", self.machine.systemctl(
            "is-enabled", "expunged-backup.timer", check=False).stdout.strip(), "disabled")
        self.machine.run("rm", "-r", drop_in, folder)

    def waits(self):
        return self.machine.show("waits.service", "ActiveState")

    def forget_replay(self):
        """Stops what waits, so that it waits again at its next start."""
        units = ("waits.service", "expunged-replayed.target", "expunged-replay.service")
        self.machine.systemctl("stop", *units)
        self.machine.systemctl("reset-failed", check=False)

    def watch(self, period):
        """Sets another watchdog period; the service is restarted for it."""
        text = f"[Service]\nWatchdogSec={period}\n" if period else ""
        self.machine.write(f"/etc/systemd/system/{UNIT}.d/watchdog.conf", text)
        self.machine.systemctl("daemon-reload")
        self.machine.systemctl("restart", UNIT)

    def outage(self):
        user = self.service.add_user()
        self.service.http_sign_in(user)
        self.watch(PERIOD)
        self.provider.fail(rate=1, kinds=["unavailable", "reset", "timeout"])
        restarts, pid = self.service.restarts, self.service.pid
        row = self.service.spool_delete(user)
        # With work that cannot go on.
        self.is_fed(FEEDS // 2)
        self.checks.equal(
            "an outage of the provider triggers no watchdog", (self.service.restarts,
                                                              self.service.pid), (restarts, pid))
        self.checks.check(
            "nothing was purged meanwhile", self.service.rows(user) == 5, self.service.rows(user))
        self.provider.fail(rate=0)
        state = self.service.spool_end(row)[0]
        self.checks.equal("the request ends when the provider is back", state, "completed")

    def idle(self):
        self.watch(PERIOD)
        restarts, pid = self.service.restarts, self.service.pid
        self.is_fed(FEEDS)
        self.checks.equal(
            f"{FEEDS // 2} idle watchdog periods of {PERIOD} trigger nothing",
            (self.service.restarts, self.service.pid), (restarts, pid))
        self.watch(None)

    def is_fed(self, times):
        """Waits until systemd has heard so often that the service lives."""
        for _ in range(times):
            last = self.fed_at()
            wait_for("the watchdog to be fed", lambda: self.fed_at() != last)

    def fed_at(self):
        return self.machine.show(UNIT, "WatchdogTimestampMonotonic")

    def watchdog_acted(self):
        said = self.machine.run("journalctl", "-u", UNIT, "--no-pager", "-g", "Watchdog", check=False)
        return "Watchdog timeout" in said.stdout

    def stuck_writer(self):
        user = self.service.add_user()
        self.service.http_sign_in(user)
        # Half of it is enough for a busy machine to hold every thread.
        self.watch("20s")
        restarts = self.service.restarts
        pid = self.machine.host_pid(self.service.pid)
        with tempfile.NamedTemporaryFile("r") as log:
            # Only the writer calls fdatasync; everything else goes on at its own speed.
            strace = subprocess.Popen(
                ["strace", "-f", "-qq", "-o", log.name, "-e", "trace=fdatasync", "-e",
                 "inject=fdatasync:delay_enter=120000000", "-p", str(pid)])
            try:
                wait_for("strace to hold every thread", lambda: is_traced(pid), 30)
                status, _ = self.service.http(
                    "POST", "/v1/requests", {"kind": "delete_account", "user_id": user},
                    key=f"stuck-{user}", timeout=5)
                self.checks.equal("nothing is acknowledged before it is durable", status, 0)
                wait_for("the watchdog", self.watchdog_acted)
            finally:
                # A traced process cannot die before its tracer lets go.
                strace.kill()
                strace.wait(HANG_S)
        wait_for("the restart", lambda: self.service.restarts > restarts and self.service.is_active(), 90)
        self.checks.check("the watchdog ends a process whose writer is stuck", True)
        said = self.machine.run("journalctl", "-u", UNIT, "--no-pager", "-g", "Watchdog").stdout
        self.checks.check("systemd says so", "Watchdog timeout" in said, said)
        status, body = self.service.http_delete(user, key=f"stuck-{user}")
        self.checks.equal("after the restart the same submission is taken", status, 202)
        self.checks.equal(
            "and carried out", self.service.http_end(body["id"])["state"], "completed")
        self.watch(None)

    def secrecy(self):
        """Everything of ours and the whole journal, whoever wrote it, in every encoding."""
        canaries = Canaries()
        canaries.add(*self.service.users, *self.provider.secrets)
        lines = self.provider.text("apple-key.p8").splitlines()
        canaries.add(*(line for line in lines if len(line) >= 32 and "-----" not in line))
        said = ""
        for path in ("/metrics", "/v1/status", "/v1/providers", "/v1/stores"):
            status, body = self.service.http("GET", path, user="opal", socket="control")
            self.checks.equal(f"{path} is answered", status, 200)
            said += str(body)
        places = [self.machine.root + path for path in (
            "/var/lib/expunged", "/run/expunged", "/var/log", "/etc/expunged/expunged.toml")]
        export = self.machine.root + "/var/tmp/journal.export"

        def leaks():
            self.machine.run("sh", "-c", "journalctl -o export --no-pager >/var/tmp/journal.export")
            return canaries.found_in_files([*places, export])

        # Our own files are scrubbed in groups, shortly after the end.
        comes_true(lambda: not leaks(), pause=1)
        with open(export, "rb") as file:
            self.checks.check("the journal is not empty", b"EXPUNGED_REQUEST_ID=" in file.read())
        entries = self.machine.journal(
            "SYSLOG_IDENTIFIER=expunged", "PRIORITY=4", "PRIORITY=3", "PRIORITY=2")
        self.checks.check("every warning and error has an id and a full sentence", entries and all(
            "MESSAGE_ID" in entry and " ?" not in entry["MESSAGE"] for entry in entries), entries)
        text = self.machine.run(
            "journalctl", "-x", "--no-pager", "SYSLOG_IDENTIFIER=expunged").stdout
        # journalctl prints the name of a field whose value is longer than 256 bytes: long errors.
        self.checks.equal("the catalog's texts have their values", [
            line for line in text.replace("EXPUNGED_ERROR", "").splitlines()
            if "EXPUNGED_" in line], [])
        hits = leaks() + canaries.found(said.encode())
        self.checks.check(
            f"none of {len(canaries)} user ids, codes and keys is in the whole journal, in the"
            " metrics, the status or a file of ours", not hits, "\n".join(map(str, hits[:20])))
        planted = base64.b64encode(f"so {self.service.users[0]} it is".encode()).decode()
        self.machine.run("logger", planted)
        self.checks.check("the search finds a planted one", [
            name for name, _ in leaks()] == ["journal.export"] and canaries.finds_planted())

    def uninstall(self):
        self.machine.run("make", "-s", "-C", "/src", "-f", "systemd/install.mk", "uninstall")
        for path in ("/usr/sbin/expunged", "/usr/lib/systemd/system/expunged.service", f"{EXPORTER}/expunged.prom"):
            self.checks.check(
                f"{path} is gone", not os.path.exists(self.machine.root + path))
        for path in ("/var/lib/expunged/state.db", "/etc/expunged/expunged.toml", APP_DB):
            self.checks.check(f"{path} is kept", os.path.exists(self.machine.root + path))

    def revocations(self, user):
        """How many revocations of this user the provider carried out, by its own books."""
        return sum(grant["state"] == "revoked" for grant in self.provider.grants(user))


def checkpoints(text, key):
    """The checkpoints among the notes of the file, each as it is there."""
    parts = text.split("\n\n")
    notes = [f"{text}\n\n{signature}\n" for text, signature in zip(parts[::2], parts[1::2])]
    return [note for note in notes if note.split("\n")[0] == key.split("+")[0]]


def checkpoint(key, size, root, time, signature):
    """The note of which the journal reports these facts (docs/guides/ledger.md)."""
    name = key.split("+")[0]
    return f"{name}\n{size}\n{root}\ntime {time}\n\n\u2014 {name} {signature}\n"


def is_traced(pid):
    """Whether every thread of a process has a tracer."""
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/status") as file:
                if "TracerPid:\t0\n" in file.read():
                    return False
        except (FileNotFoundError, ProcessLookupError):
            continue  # It has ended meanwhile.
    return True
