"""One run of the daemon and its application, with every change of their disk written down.

Deletions over both channels, with a token or without, in a store with a rollback journal and one with a WAL; a
rotation of the vault key; an old copy of both stores that comes back, and a replay. What a client was answered, a
commit promised or the provider did stands as a mark between the changes.
"""

import ctypes
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time

from checks import HANG_S, comes_true
from control import Control
from disk import records, snapshot
from store_servers import make_certificate
from token_server import TokenServer

HERE = os.path.dirname(os.path.abspath(__file__))
STORES = {"app-db": "app.db", "old-db": "old.db"}
ROWS_EACH = 4
STAYING = 5
GROUP = 8
PATIENCE_S = 600

SCHEMA = """
PRAGMA journal_mode = {mode};
CREATE TABLE posts (id INTEGER PRIMARY KEY, author_id TEXT NOT NULL, body TEXT);
CREATE INDEX posts_author ON posts (author_id);
CREATE TABLE erased (user TEXT NOT NULL, at_unix_ms INTEGER NOT NULL);
CREATE TRIGGER judge AFTER DELETE ON posts BEGIN
  INSERT INTO erased VALUES
    (old.author_id, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER));
END;
"""

CONFIGURATION = """
[requests]
max_deletions_per_hour = 100000
[vault]
{vault}
[[provider]]
name = "sso"
kind = "oauth2"
revocation_url = "{revoke}"
introspection_url = "{introspect}"
check = "introspection"
client_ids = ["app"]
client_secret_credential = "sso-secret"
ca_file = "{ca}"
timeout_connect = "20s"
timeout_total = "60s"
"""
SECTION = """
[[store]]
name = "{name}"
kind = "sqlite"
path = "{path}"
[[store.table]]
table = "posts"
column = "author_id"
action = "delete"
"""
KEYS = ('key_credential = "vault-key"',
        'key_credential = "vault-key-2"\nretired_key_credentials = ["vault-key"]')


class Environment:
    """What a power cut leaves alone: keys, the program, the provider, and the users' memory."""

    def __init__(self, place, binaries, random):
        self.place, self.binaries = place, binaries
        self.library = self.path("record.so")
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", self.library,
                        os.path.join(HERE, "record.c")], check=True)
        os.makedirs(self.path("credentials"), 0o700)
        for name in ("vault-key", "vault-key-2"):
            subprocess.run([os.path.join(binaries, "expunged"), "--generate-vault-key",
                            self.path(f"credentials/{name}")], check=True, capture_output=True)
        with open(self.path("credentials/sso-secret"), "w") as file:
            file.write("a-secret-of-the-client-0123456789")
        os.chmod(self.path("credentials/sso-secret"), 0o600)
        self.certificate, key = make_certificate(place)
        self.server = TokenServer(self.certificate, key, self._revoked)
        self.on_revoked = None
        names = [f"user-{number}-{random.getrandbits(64):016x}" for number in range(3 * GROUP + 2 * STAYING)]
        self.groups = [names[start:start + GROUP] for start in range(0, 3 * GROUP, GROUP)]
        self.silent, self.others = names[3 * GROUP:-STAYING], names[-STAYING:]
        # A quarter of those who leave has no token.
        self.tokens = {user: f"token-{random.getrandbits(96):024x}" for number, user in enumerate(names)
                       if number % 4 != 3 and user not in self.others}
        self.leaving = [user for group in self.groups for user in group]

    def path(self, name):
        return os.path.join(self.place, name)

    def is_spool_user(self, user):
        return self.leaving.index(user) // 2 % 2 == 1

    def _revoked(self, world, token):
        if self.on_revoked and world == "recorded":
            self.on_revoked(token)

    def command(self, place, disk, world, keys):
        """Writes a configuration to `place` and answers the daemon's command line."""
        runtime, configuration = os.path.join(place, "run"), os.path.join(place, "expunged.toml")
        os.makedirs(runtime, 0o700, exist_ok=True)
        with open(configuration, "w") as file:
            file.write(CONFIGURATION.format(
                vault=KEYS[keys], ca=self.certificate, revoke=self.server.url(world, "revoke"),
                introspect=self.server.url(world, "introspect")))
            for name, store in STORES.items():
                file.write(SECTION.format(name=name, path=os.path.join(disk, "app", store)))
        return [os.path.join(self.binaries, "expunged"), "--config", configuration,
                "--state-directory", os.path.join(disk, "state"), "--runtime-directory", runtime,
                "--credentials-directory", self.path("credentials")]

    def close(self):
        self.server.close()


class Recording:
    """The run; afterwards `records` is what happened, and `first` the disk from before."""

    def __init__(self, environment):
        self.environment = environment
        self.disk, self.log = environment.path("disk"), environment.path("log")
        self._make_disk()
        self.first = snapshot(self.disk)
        self.library = ctypes.CDLL(environment.library)
        assert self.library.record_create(self.log.encode()) == 0, "no log"
        self.variables = dict(os.environ, LD_PRELOAD=environment.library, RECORD_ROOT=self.disk, RECORD_LOG=self.log)
        self.control = Control(environment.path("run/control.sock"))
        environment.server.open("recorded", environment.tokens.values(), set())
        environment.on_revoked = lambda token: self.mark(mark="revoked", token=token)

    def _make_disk(self):
        for name in ("state", "app"):
            os.makedirs(os.path.join(self.disk, name), 0o700)
        for name, mode in (("app.db", "WAL"), ("old.db", "DELETE")):
            database = sqlite3.connect(os.path.join(self.disk, "app", name))
            database.executescript(SCHEMA.format(mode=mode))
            with database:
                # Rows of those who stay lie between the rows of those who go.
                database.executemany(
                    "INSERT INTO posts (author_id, body) VALUES (?, ?)",
                    [(user, f"post {row}") for row in range(ROWS_EACH)
                     for user in self.environment.leaving + self.environment.silent + self.environment.others])
            database.close()

    def mark(self, **facts):
        text = json.dumps(facts).encode()
        self.library.record_mark(text, ctypes.c_size_t(len(text)))

    def run(self):
        """The whole story."""
        self._start(0)
        for user in self.environment.silent:
            if user in self.environment.tokens:
                self._store(user)
        self.application = self._start_application()
        begun = time.time() - 1
        self._submit(0)
        self._all_ended(1)
        self._stop()
        self._start(1)
        assert self.control.ask("POST", "/v1/vault/rotate", {})[0] in (200, 202)
        self._submit(1)
        self._all_ended(2)
        assert comes_true(lambda: self.control.ask("GET", "/v1/vault")[1]["rotation"]["state"] == "finished", 30)
        self.mark(mark="restore", since=begun)
        for store in STORES:
            self._order("restore", store, self.environment.groups[0], ROWS_EACH)
        replay = threading.Thread(target=self.control.replay, args=(STORES, begun, time.time()))
        replay.start()
        self._submit(2)
        replay.join()
        self._all_ended(3)
        self._order("close")
        self.application.stdin.close()
        self.application.wait(HANG_S)
        self._stop()
        self.records = list(records(self.log, self.library.record_head_size()))
        os.remove(self.log)

    def _start(self, keys):
        self.mark(mark="keys", number=keys)
        with open(self.environment.path("recorded.log"), "ab") as log:
            command = self.environment.command(self.environment.place, self.disk, "recorded", keys)
            self.daemon = subprocess.Popen(command, env=self.variables, stdout=log, stderr=log)
        assert comes_true(lambda: self.control.is_up() or self.daemon.poll() is not None, 30) \
            and self.daemon.poll() is None, "the recorded daemon does not start"

    def _stop(self):
        self.daemon.terminate()
        assert self.daemon.wait(HANG_S) == 0

    def _start_application(self):
        process = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, "application.py")], text=True,
                                   env=self.variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        places = {name: os.path.join(self.disk, "app", store) for name, store in STORES.items()}
        print(json.dumps([os.path.join(self.disk, "state/spool/queue.db"), places]), file=process.stdin, flush=True)
        return process

    def _order(self, *words):
        print(json.dumps(words), file=self.application.stdin, flush=True)
        assert self.application.stdout.readline() == "done\n", "the application ended"

    def _store(self, user):
        assert self.control.store(user, self.environment.tokens[user]) == 202
        self.mark(mark="stored", user=user)

    def _submit(self, number):
        """Half of the group by spool and half by socket, both at once, while somebody else writes."""
        users = self.environment.groups[number]
        socket = threading.Thread(target=self._submit_by_socket, args=(users,))
        socket.start()
        for index, user in enumerate(users):
            if self.environment.is_spool_user(user):
                self.mark(mark="begin", user=user)
                self._order("submit", user, self.environment.tokens.get(user))
            for store in STORES:
                self._order("post", store, self.environment.others[index % STAYING], f"group {number} post {index}")
        socket.join()

    def _submit_by_socket(self, users):
        for user in users:
            if not self.environment.is_spool_user(user):
                self.mark(mark="begin", user=user)
                if user in self.environment.tokens:
                    self._store(user)
                status, body = self.control.delete(user)
                assert status == 202, body
                self.mark(mark="accepted", user=user, id=body["id"])

    def _all_ended(self, groups):
        def is_so():
            return self.control.ask("GET", "/v1/status")[1]["requests"].get("completed") == groups * GROUP
        assert comes_true(is_so, PATIENCE_S), "the recorded run does not come to its end"
