"""The installed service in the container, as an application and an operator meet it."""

import base64
import json
import os
import re
import secrets

from checks import HANG_S, wait_for

UNIT = "expunged.service"
# Where the programs are, below the source.
RELEASE_DIR = os.environ.get("RELEASE_DIR", ".build/release")
SPOOL = "/var/lib/expunged/spool/queue.db"
APP_DB = "/srv/app/app.db"
# The package of the node exporter makes it; root's, with mode 0755.
EXPORTER = "/var/lib/prometheus/node-exporter"
SETTLED = ("completed", "rejected", "cancelled", "parked")

USERS = """u app - "An application" /srv/app
m app expunged-submit
u opal - "An operator"
m opal expunged-operator
u vera - "A viewer"
m vera expunged-viewer
u stranger - "Somebody else"
u prometheus - "The node exporter"
m expunged app
"""

# How the guide of the sqlite store opens the application's database to the service.
DROP_IN = """[Service]
ReadWritePaths=/srv/app
"""

SCHEMA = """
CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT);
CREATE TABLE posts (id INTEGER PRIMARY KEY, author_id TEXT NOT NULL, body TEXT);
CREATE TABLE likes (id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, post INTEGER);
CREATE INDEX posts_author ON posts (author_id);
CREATE INDEX likes_user ON likes (user_id);
"""

CONFIGURATION = """
[requests]
deadline = "{deadline}"

[[provider]]
name = "apple"
kind = "apple"
team_id = "ABCDE12345"
key_id = "KEY1234567"
client_ids = ["com.example.app"]
private_key_credential = "apple-key.p8"
base_url = "{endpoint}"
ca_file = "/etc/expunged/ca.pem"

[[store]]
name = "app-db"
kind = "sqlite"
path = "/srv/app/app.db"
[[store.table]]
table = "likes"
column = "user_id"
action = "delete"
[[store.table]]
table = "posts"
column = "author_id"
action = "delete"
[[store.table]]
table = "users"
column = "id"
action = "delete"
"""


def new_user():
    """A user id that can be searched for in every log."""
    return f"user-{secrets.token_hex(12)}"


def ask(process, statement):
    """Runs a statement that returns one line in a process that goes on."""
    process.stdin.write(statement + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


class Service:
    def __init__(self, machine, provider, source):
        self.machine = machine
        self.provider = provider
        self.source = source
        self.users = []

    # Installing

    def configure(self, deadline="30d", extra=""):
        text = CONFIGURATION.format(deadline=deadline, endpoint=self.provider.endpoint)
        self.machine.write("/etc/expunged/expunged.toml", text + extra)

    def install(self):
        """`make install` inside, as an operator would, then all that follows."""
        self.make_install()
        self.prepare()

    def make_install(self):
        return self.machine.run("make", "-s", "-C", "/src", "-f", "systemd/install.mk", f"RELEASE_DIR={RELEASE_DIR}",
                                "install", timeout=120)

    def prepare(self):
        """Users, keys, the application and the configuration of an installed service."""
        self.machine.write("/etc/sysusers.d/test.conf", USERS)
        self.machine.run("systemd-sysusers", "/etc/sysusers.d/test.conf")
        self.machine.run("install", "-d", "-o", "app", "-g", "app", "-m", "2770", "/srv/app")
        self.sql(APP_DB, SCHEMA)
        self.machine.run("chmod", "0660", APP_DB)
        self.machine.write(f"/etc/systemd/system/{UNIT}.d/app.conf", DROP_IN)
        self.machine.write("/etc/expunged/ca.pem", self.provider.text("ca.pem"))
        credentials = "/etc/expunged/credentials"
        self.machine.write(f"{credentials}/apple-key.p8", self.provider.text("apple-key.p8"), 0o600)
        key = base64.b64encode(os.urandom(32)).decode()
        self.machine.write(f"{credentials}/vault-key", key + "\n", 0o600)
        self.provider.secrets.append(key)
        self.configure()
        self.machine.systemctl("daemon-reload")

    # The application

    def sql(self, database, text, user="app"):
        return self.machine.run(
            "sqlite3", "-bail", "-cmd", f".timeout {HANG_S * 1000}", database, text, user=user).stdout.strip()

    def add_user(self):
        """A user with rows in three tables of the application, signed in at the provider."""
        user = new_user()
        self.users.append(user)
        self.sql(APP_DB, f"""
            BEGIN; INSERT INTO users VALUES ('{user}', 'x@example.com');
            INSERT INTO posts (author_id, body) VALUES ('{user}', 'a'), ('{user}', 'b');
            INSERT INTO likes (user_id, post) VALUES ('{user}', 1), ('{user}', 2);
            COMMIT;""")
        return user

    def rows(self, user):
        return int(self.sql(APP_DB, f"""
            SELECT (SELECT count(*) FROM users WHERE id = '{user}')
                + (SELECT count(*) FROM posts WHERE author_id = '{user}')
                + (SELECT count(*) FROM likes WHERE user_id = '{user}')"""))

    def spool_sign_in(self, user):
        """Stores a fresh authorization code through the spool."""
        code = self.provider.sign_in(user)
        return self.sql(SPOOL, f"""
            INSERT INTO credentials (user_id, provider, client_id, kind, secret)
            VALUES ('{user}', 'apple', 'com.example.app', 'authorization_code', '{code}')
            RETURNING id""")

    def spool_delete(self, user):
        """Asks for a deletion through the spool and answers the row's id."""
        return self.sql(SPOOL, f"""
            INSERT INTO requests (kind, user_id) VALUES ('delete_account', '{user}')
            RETURNING id""")

    def spool_row(self, row):
        """(state, detail, request_id) of a row of the spool."""
        return self.sql(SPOOL, f"""
            SELECT state || '|' || coalesce(detail, '') || '|' || coalesce(request_id, '')
            FROM requests WHERE id = {row}""").split("|")

    def spool_end(self, row):
        """Waits until a row has a state that lasts."""
        def settled():
            found = self.spool_row(row)
            return found if found[0] in SETTLED else None
        return wait_for(f"row {row} to settle", settled, pause=0.1)

    def http(self, method, path, body=None, user="app", socket="submit", key=None, timeout=HANG_S):
        """(status, body) of one call with curl over a socket; status 0 when it got no answer."""
        words = ["curl", "-sS", "--max-time", str(timeout), "-X", method, "-w", "\n%{http_code}",
                 "--unix-socket", f"/run/expunged/{socket}.sock"]
        if body is not None:
            words += ["-H", "Content-Type: application/json", "-d", "@-"]
        if key is not None:
            words += ["-H", f"Idempotency-Key: {key}"]
        answer = self.machine.run(
            *words, f"http://expunged{path}", user=user, check=False,
            input=None if body is None else json.dumps(body), timeout=timeout + 10)
        text, _, status = answer.stdout.rpartition("\n")
        try:
            return int(status or 0), json.loads(text) if text else {}
        except ValueError:
            return int(status or 0), {"text": text, "error": answer.stderr}

    def http_sign_in(self, user):
        return self.http("PUT", f"/v1/users/{user}/identities/apple", {
            "kind": "authorization_code", "secret": self.provider.sign_in(user),
            "client_id": "com.example.app"})

    def http_delete(self, user, key=None):
        return self.http(
            "POST", "/v1/requests", {"kind": "delete_account", "user_id": user}, key=key)

    def http_end(self, request):
        """Waits until a request has a state that lasts."""
        def settled():
            status, body = self.http("GET", f"/v1/requests/{request}")
            return body if status == 200 and body["state"] in SETTLED else None
        return wait_for(f"request {request} to settle", settled, pause=0.1)

    # The operator

    def expungectl(self, *arguments, user="opal", timeout=HANG_S):
        return self.machine.run("expungectl", *arguments, user=user, check=False, timeout=timeout)

    @property
    def pid(self):
        return int(self.machine.show(UNIT, "MainPID"))

    @property
    def restarts(self):
        return int(self.machine.show(UNIT, "NRestarts"))

    def is_active(self):
        return self.machine.show(UNIT, "ActiveState") == "active"

    def message_id(self, subject):
        """The catalog's id of the entry whose subject begins so."""
        with open(os.path.join(self.source, "systemd", "expunged.catalog")) as file:
            found = re.search(rf"^-- ([0-9a-f]{{32}})\nSubject: {subject}", file.read(), re.M)
        return found.group(1)

    def events(self, subject, *matches):
        return self.machine.journal(f"MESSAGE_ID={self.message_id(subject)}", *matches)
