"""One daemon with directories of its own, the application beside it, and the search for canaries."""

import hashlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile

import store_servers
from canaries import Canaries, canary
from checks import HANG_S, comes_true
from judge import Judge
from sandbox import CLIENT, Sandbox

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
# The daemon takes each EXPUNGED_ variable for a setting, so it is not handed on.
BINARIES = os.environ.pop("EXPUNGED_BIN", os.path.join(ROOT, ".build/debug"))
ROWS_EACH = 5
# Until there is an answer, and until a daemon has stopped that was asked to.
ANSWERED_S = STOPPED_S = HANG_S
OPEN = ("accepted", "scheduled", "revoking", "purging", "verifying", "parked")
GONE = (OSError, http.client.HTTPException, ValueError)

# The application's own judge: it notes when a user's rows went.
SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE posts (id INTEGER PRIMARY KEY, author_id TEXT NOT NULL, body TEXT);
CREATE INDEX posts_author ON posts (author_id);
CREATE TABLE erased (user TEXT NOT NULL, at_unix_ms INTEGER NOT NULL);
CREATE TRIGGER judge AFTER DELETE ON posts BEGIN
  INSERT INTO erased VALUES
    (old.author_id, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER));
END;
"""

# A call of the provider that a slow machine answers late has not failed.
CONFIGURATION = """
[requests]
max_deletions_per_hour = 100000
grace_period = "{grace}"
[[provider]]
name = "apple"
kind = "apple"
team_id = "ABCDE12345"
key_id = "KEY1234567"
client_ids = ["{client}"]
private_key_credential = "apple-key.p8"
base_url = "{endpoint}"
ca_file = "{ca}"
timeout_connect = "20s"
timeout_total = "60s"
[[store]]
name = "app-db"
kind = "sqlite"
path = "{app}"
[[store.table]]
table = "posts"
column = "author_id"
action = "delete"
"""


class Stage:
    """Everything lives in one temporary directory; `finish` ends and judges what was left behind."""

    def __init__(self, checks, seed, sandbox=None, grace="0s", state=os.environ.get("E2E_STATE")):
        self.checks = checks
        self.random = random.Random(seed)
        store_servers.SOURCE.seed(f"stores {seed}")
        self.directory = tempfile.mkdtemp(prefix="expunged-e2e-")
        for name in ("state", "runtime", "credentials", "app"):
            os.makedirs(self.path(name), mode=0o700)
        self.spool, self.app = self.path("state/spool/queue.db"), self.path("app/app.db")
        self.owns_sandbox = sandbox is None
        self.sandbox = sandbox or Sandbox(BINARIES)
        self.daemon = None
        # Arguments of the daemon, behind those that it always has.
        self.options = []
        self.canaries = Canaries()
        # What the daemon answers to others than the user's own application: status, metrics, errors.
        self.said = bytearray()
        self.users = []
        self.judge = Judge(self)
        # Why the judge has nothing to say here.
        self.unjudged = None
        self.state_server = None
        self._configure(grace, state)

    def path(self, name):
        return os.path.join(self.directory, name)

    def _configure(self, grace, state):
        with sqlite3.connect(self.app) as app:
            app.executescript(SCHEMA)
        for name in ("apple-key.p8", "vault-key"):
            path = self.path(f"credentials/{name}")
            if name == "vault-key":
                assert self.run("expunged", "--generate-vault-key", path).returncode == 0
            else:
                shutil.copy(self.sandbox.path(name), path)
                os.chmod(path, 0o600)
            with open(path) as file:
                self.canaries.add(*(line for line in file.read().split("\n")
                                    if len(line) >= 32 and "-----" not in line))
        with open(self.path("expunged.toml"), "w") as file:
            file.write(CONFIGURATION.format(
                grace=grace, client=CLIENT, endpoint=self.sandbox.endpoint,
                ca=self.sandbox.path("ca.pem"), app=self.app))
        if state == "postgresql":
            self._put_state_into_server()
        self.initialize()

    def hasten(self):
        """Calls of the provider end after seconds, where a scenario makes them hang."""
        with open(self.path("expunged.toml")) as file:
            text = file.read()
        slow = 'timeout_connect = "20s"\ntimeout_total = "60s"'
        assert slow in text, text
        with open(self.path("expunged.toml"), "w") as file:
            file.write(text.replace(slow, 'timeout_connect = "1s"\ntimeout_total = "3s"', 1))

    def _put_state_into_server(self):
        self.state_server = store_servers.PostgreSQL(self.path("state-server"), is_durable=True)
        self.share_state(self.state_server, "one")
        done = self.run("expunged", "state", "init", "--config", self.path("expunged.toml"),
                        "--credentials-directory", self.path("credentials"), "--state-directory", self.path("state"))
        assert done.returncode == 0, done.stderr

    def share_state(self, server, host):
        """Works on a state in a server, under that name."""
        with open(self.path("credentials/state-conninfo"), "w") as file:
            file.write(f"host={server.directory} user=owner dbname=postgres")
        os.chmod(self.path("credentials/state-conninfo"), 0o600)
        with open(self.path("expunged.toml"), "a") as file:
            file.write(f'[state]\nkind = "postgresql"\nconninfo_credential = "state-conninfo"\nhost = "{host}"\n')

    def initialize(self):
        done = self.run("expunged", "--init-spool", "--state-directory", self.path("state"))
        assert done.returncode == 0, done.stderr

    # The daemon

    def run(self, program, *arguments, before=None, timeout=HANG_S, **environment):
        """One of our programs, to its end; what it says is searched for canaries."""
        done = subprocess.run(
            [os.path.join(BINARIES, program), *arguments], capture_output=True, text=True,
            preexec_fn=before, timeout=timeout,
            env=dict(os.environ, EXPUNGED_SOCKET=self.path("runtime/control.sock"), **environment))
        self.said += done.stderr.encode()
        return done

    def arguments(self):
        return [os.path.join(BINARIES, "expunged"), "--config", self.path("expunged.toml"),
                "--state-directory", self.path("state"), "--runtime-directory",
                self.path("runtime"), "--credentials-directory", self.path("credentials"), *self.options]

    def start(self, *wrapper, **environment):
        with open(self.path("daemon.log"), "ab") as output:
            self.daemon = subprocess.Popen(
                [*wrapper, *self.arguments()], stdout=output, stderr=output,
                env=dict(os.environ, **environment))

    def is_up(self):
        try:
            return self.http("GET", "/v1/status")[0] == 200
        except GONE:
            return False

    def comes_up(self):
        return comes_true(lambda: self.is_up() or self.daemon.poll() is not None) and self.daemon.poll() is None

    def comes_up_as(self, process):
        """Takes a process that somebody else started for the daemon."""
        self.daemon = process
        return self.comes_up()

    def starts(self):
        self.start()
        return self.checks.check("the daemon starts", self.comes_up(), self.log()[-2000:])

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def stop(self):
        if self.daemon is None or self.daemon.poll() is not None:
            return
        self.daemon.terminate()
        try:
            self.daemon.wait(STOPPED_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def log(self):
        if not os.path.exists(self.path("daemon.log")):
            return ""
        with open(self.path("daemon.log"), errors="replace") as file:
            return file.read()

    def http(self, method, path, body=None, key=None, timeout=ANSWERED_S, role="control"):
        """(status, decoded body); raises one of GONE without an answer."""
        connection = http.client.HTTPConnection("localhost", timeout=timeout)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(timeout)
        try:
            connection.sock.connect(self.path(f"runtime/{role}.sock"))
            headers = {"Content-Type": "application/json"}
            if key:
                headers["Idempotency-Key"] = key
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status >= 400 or path in ("/metrics", "/v1/status"):
                self.said += text
            is_json = "json" in answer.getheader("Content-Type", "")
            decoded = json.loads(text) if is_json and text else text
            self.judge.saw_call(method, path, body, answer.status, decoded)
            return answer.status, decoded
        finally:
            connection.close()

    # The application

    def new_users(self, count):
        """Users with rows in the application's database."""
        users = [f"user-{canary(self.random)}" for _ in range(count)]
        self.users += users
        self.canaries.add(*users)
        with sqlite3.connect(self.app, timeout=HANG_S) as app:
            app.executemany("INSERT INTO posts (author_id, body) VALUES (?, 'post ' || ?)",
                            [(user, number) for user in users for number in range(ROWS_EACH)])
        return users

    def new_tokens(self, count):
        tokens = self.sandbox.refresh_tokens(count)
        self.canaries.add(*(token["refresh_token"] for token in tokens))
        return tokens

    def store(self, user, token, timeout=ANSWERED_S):
        return self.http("PUT", f"/v1/users/{user}/identities/apple", {
            "kind": "refresh_token", "secret": token["refresh_token"], "client_id": CLIENT},
            timeout=timeout)

    def delete(self, user, key=None, timeout=ANSWERED_S):
        return self.http("POST", "/v1/requests", {"kind": "delete_account", "user_id": user},
                         key or f"key-{user}", timeout)

    def spool_do(self, *statements, **values):
        """One transaction of the application; answers the last row's id."""
        database = sqlite3.connect(self.spool, timeout=HANG_S)
        try:
            with database:
                for statement in statements:
                    row = database.execute(statement, values).lastrowid
            self.judge.saw_rows(statements, values, row)
            return row
        finally:
            database.close()

    def spool_delete(self, user):
        return self.spool_do(
            "INSERT INTO requests (kind, user_id) VALUES ('delete_account', :user)", user=user)

    def spool_rows(self, statement, **values):
        database = sqlite3.connect(self.spool, timeout=HANG_S)
        try:
            return database.execute(statement, values).fetchall()
        finally:
            database.close()

    def rows_left(self):
        """How many rows each user still has, of the users that have any."""
        with sqlite3.connect(self.app, timeout=HANG_S) as app:
            return dict(app.execute("SELECT author_id, count(*) FROM posts GROUP BY author_id"))

    def checksum(self, but):
        """Of all rows in the application's database that are not of these users, whatever their columns."""
        with sqlite3.connect(self.app, timeout=HANG_S) as app:
            rows = [row for row in app.execute("SELECT author_id, * FROM posts ORDER BY id") if row[0] not in but]
        return hashlib.sha256(repr(rows).encode()).hexdigest()

    def erased_at(self):
        """When the first row of each user went, by the application's own trigger."""
        with sqlite3.connect(self.app, timeout=HANG_S) as app:
            return dict(app.execute("SELECT user, min(at_unix_ms) FROM erased GROUP BY user"))

    def open_count(self):
        status, body = self.http("GET", "/v1/status")
        if status != 200:
            raise ConnectionError(f"no status: {status}")
        counts = body["requests"]
        return sum(counts.get(state, 0) for state in OPEN)

    # The end

    def leaks(self, open_users=()):
        """Where canaries are, in files of ours and in what was said."""
        log = self.path("daemon.log")
        hits = self.canaries.found_in_files([self.path("state"), self.path("runtime")], open_users)
        hits += self.canaries.found_in_files([log])
        return hits + [("answer or stderr", hit[:6]) for hit in self.canaries.found(bytes(self.said))]

    def scan(self, open_users=()):
        """Judges what is left behind; only open requests may still know their own user."""
        if self.is_up():
            self.http("GET", "/metrics")
        # Our own files are scrubbed in groups, shortly after the end.
        comes_true(lambda: not self.leaks(open_users), pause=0.5)
        hits = self.leaks(open_users)
        self.checks.check(
            f"none of {len(self.canaries)} canaries is in a file of ours, the log, metrics, status"
            " or an error", not hits, hits[:20])
        self.checks.check("the search finds each form of a planted one", self.canaries.finds_planted())

    def asks_the_judge(self):
        """What the other side says; the daemon is started for it where it does not run."""
        if self.unjudged or not self.judge.deletions:
            return
        if not self.is_up():
            self.stop()
            self.start()
        if self.checks.check("the daemon is up for the judge", self.comes_up(), self.log()[-2000:]):
            self.judge.judge()

    def close(self, keep=False):
        try:
            self.asks_the_judge()
        except Exception as error:  # What is left must go also where it cannot be judged.
            self.checks.check("the judge comes to its end", False, repr(error))
        self.stop()
        if self.owns_sandbox:
            self.sandbox.close()
        if self.state_server:
            self.state_server.close()
        if keep:
            print(f"     kept {self.directory}")
        else:
            shutil.rmtree(self.directory, ignore_errors=True)
