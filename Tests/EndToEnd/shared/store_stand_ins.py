"""Stores that are ours: the application's database, the sandbox's Google Cloud, a program, a web service."""

import contextlib
import hashlib
import http.server
import json
import os
import random
import socket
import sqlite3
import sys
import threading
import time
import urllib.parse

from checks import HANG_S
from store_servers import SOURCE, keep_secret, serve_over_tls


class Database:
    """The application's SQLite database that every stage has."""

    def __init__(self, stage):
        self.stage = stage

    def prepare(self, users):
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            app.executemany("INSERT INTO posts (author_id, body) VALUES (?, 'of ' || ?)",
                            [(user, user) for user in users for _ in range(30)])

    @contextlib.contextmanager
    def frozen(self, user):
        """Nobody else writes meanwhile."""
        app = sqlite3.connect(self.stage.app, timeout=HANG_S, isolation_level=None)
        try:
            app.execute("BEGIN IMMEDIATE")
            yield
        finally:
            app.close()

    def items(self):
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            return {f"{number} of {user}": body for number, user, body in app.execute(
                "SELECT id, author_id, body FROM posts")}


class Cloud:
    """One of the stores in the sandbox's Google Cloud, which fails every tenth call.

    `held` answers what a user has: {name: content}, or the links of the account.
    """

    CONTENTS = {"documents": "fields", "values": "numbers"}

    def __init__(self, sandbox, member, held, section):
        self.sandbox, self.member, self.held, self.text = sandbox, member, held, section

    def prepare(self, users):
        path = self.sandbox.path("add.json")
        # A quarter of a megabyte is the most that the sandbox takes at once, and users have nearly the same.
        count = 200_000 // len(json.dumps(self._contents(users[-1:])))
        for start in range(0, len(users), count):
            with open(path, "w") as file:
                json.dump(self._contents(users[start:start + count]), file)
            self.sandbox.ask("cloud", "--add", path)

    def _contents(self, users):
        if self.member == "accounts":
            return {"accounts": [{"user": user, "links": self.held(user)} for user in users]}
        held = {name: content for user in users for name, content in self.held(user).items()}
        # Of objects there are names only.
        contents = self.CONTENTS.get(self.member)
        return {self.member: list(held)} | ({contents: held} if contents else {})

    def items(self):
        found = self.sandbox.ask("cloud")
        if self.member == "accounts":
            return {f"account of {item['user']}": checksum(item["links"]) for item in found["accounts"]}
        contents = found.get(self.CONTENTS.get(self.member), {})
        return {name: checksum(contents.get(name)) for name in found[self.member]}

    def frozen(self, user):
        return self.sandbox.holds_data()

    def section(self, stage):
        keep_secret(stage, "service-account.json", json.dumps(self.sandbox.ask("service-account")))
        return (self.text.replace("{endpoint}", self.sandbox.endpoint) + 'key_credential = "service-account.json"\n'
                f'ca_file = "{self.sandbox.path("ca.pem")}"\n'
                'timeout_connect = "20s"\ntimeout_total = "60s"\n')


def checksum(content):
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def number(name):
    """One of its own for each value."""
    return int(checksum(name)[:8], 16)


def cloud_stores(sandbox):
    return {
        "firestore": Cloud(
            sandbox, "documents",
            lambda user: {name: {"text": f"{name} of {user}"} for name in [
                f"users/{user}", *(f"users/{user}/posts/{n}/likes/{n}" for n in range(8))]},
            'kind = "firestore"\nproject = "example-project"\ndocuments = ["users/{user_id}"]\n'
            'base_url = "{endpoint}/cloud/firestore"\n'),
        "realtime-database": Cloud(
            sandbox, "values", lambda user: {name: number(name) for name in [
                *(f"users/{user}/{n}/text" for n in range(10)), f"online/{user}"]},
            'kind = "realtime-database"\nurl = "https://example-project-default-rtdb.firebaseio.com"\n'
            'paths = ["users/{user_id}", "online/{user_id}"]\nbase_url = "{endpoint}/cloud/database"\n'),
        "firebase-auth": Cloud(
            sandbox, "accounts", lambda user: {"password": user},
            'kind = "firebase-auth"\nproject = "example-project"\n'
            'base_url = "{endpoint}/cloud/identitytoolkit"\n'),
    }


PROGRAM = """#!{python}
import json, os, random, sys, time
ask = json.load(sys.stdin)
place = os.path.join({home!r}, ask.get("user_id", "-"))
with open({home!r} + ".rate") as file:
    rate = float(file.read())
with open({home!r} + ".calls", "ab", buffering=0) as file:
    file.write(b".")
    source = random.Random(f"{seed} {{os.lseek(file.fileno(), 0, os.SEEK_CUR)}}")
while os.path.exists({home!r} + ".held"):
    time.sleep(0.01)
fault = source.choice(["die", "unreachable", "unknown", "half"]) if source.random() < rate else ""
if fault in ("unreachable", "unknown"):
    print(json.dumps({{"outcome": fault}}))
    sys.exit()
names = sorted(os.listdir(place)) if os.path.isdir(place) else []
if fault == "die":
    os.kill(os.getpid(), 9)
if ask["operation"] == "purge":
    for done, name in enumerate(names):
        if fault == "half" and done > 2:
            sys.exit(1)
        os.remove(os.path.join(place, name))
        time.sleep(0.002)
    print(json.dumps({{"outcome": "purged", "entries": [{{"name": "rows", "count": len(names)}}]}}))
elif ask["operation"] == "verify":
    print(json.dumps({{"outcome": "remaining", "count": len(names)}} if names else {{"outcome": "clean"}}))
elif ask["operation"] == "plan":
    print(json.dumps({{"outcome": "planned", "entries": [{{"name": "rows", "count": len(names)}}]}}))
else:
    print(json.dumps({{"outcome": "ok"}}))
"""


class Command:
    """A program whose store is a folder; it dies, or stops half-way, every now and then."""

    def __init__(self, directory):
        self.home, self.program = os.path.join(directory, "rows"), os.path.join(directory, "purge.py")
        os.makedirs(self.home)
        with open(self.program, "w") as file:
            file.write(PROGRAM.format(python=sys.executable, home=self.home, seed=SOURCE.getrandbits(64)))
        os.chmod(self.program, 0o755)
        self.fail(0.25)

    def fail(self, rate):
        """From now on so many of its calls fail."""
        set_fault_rate(self.home, rate)

    @contextlib.contextmanager
    def frozen(self, user):
        """It answers nothing meanwhile."""
        with open(f"{self.home}.held", "w"):
            pass
        try:
            yield
        finally:
            os.remove(f"{self.home}.held")

    def prepare(self, users):
        for user in users:
            os.makedirs(os.path.join(self.home, user))
            for number in range(8):
                with open(os.path.join(self.home, user, str(number)), "w") as file:
                    file.write(user)

    def items(self):
        found = {}
        for user in os.listdir(self.home):
            for name in os.listdir(os.path.join(self.home, user)):
                with open(os.path.join(self.home, user, name)) as file:
                    found[f"{user}/{name}"] = file.read()
        return found

    def section(self, stage):
        return f'kind = "command"\nprogram = "{self.program}"\ntimeout = "30s"\n'


def set_fault_rate(home, rate):
    """From now on so many calls of the program with that home fail."""
    with open(f"{home}.rate.new", "w") as file:
        file.write(str(rate))
    os.replace(f"{home}.rate.new", f"{home}.rate")


class WebService:
    """Fails every fourth call in one of four ways; a subclass answers the others."""

    def __init__(self, certificate, key):
        self.rows, self.lock, self.random, self.is_faulty = {}, threading.Lock(), random.Random(SOURCE.getrandbits(64)), True
        self.gate = threading.Event()
        self.gate.set()
        service = self

        class Receiver(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def serve(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                service.gate.wait()
                fault = service.random.choice(["cut", "html", "busy", "early"]) \
                    if service.is_faulty and service.random.random() < 0.25 else None
                if fault == "early":
                    return self.cut()
                if not service.lets_in(self.headers):
                    return self.say(401, b"{}")
                status, answer = service.called(self.command, self.path, body, is_half=fault == "cut")
                if fault == "cut":
                    return self.cut()
                if fault == "busy":
                    return self.say(503, b"{}", (("Retry-After", "1"),))
                self.say(status, b"<html>" if fault == "html" else json.dumps(answer).encode())

            do_GET = do_POST = do_DELETE = serve

            def cut(self):
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

            def say(self, status, data, headers=()):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

        self.certificate = certificate
        self.server = serve_over_tls(Receiver, certificate, key)

    @contextlib.contextmanager
    def frozen(self, user):
        """It answers nothing meanwhile."""
        self.gate.clear()
        try:
            yield
        finally:
            self.gate.set()

    def lets_in(self, headers):
        """Whether the caller may ask anything."""
        return True

    def called(self, method, path, body, is_half):
        """(status, answer), with the work done; half of it where the connection is cut then."""
        raise NotImplementedError

    def close(self):
        self.server.shutdown()


class API(WebService):
    """An HTTP API whose search finds more than it is asked for, in pages."""

    SECRET = "canary-api-31f0c2d9"

    def lets_in(self, headers):
        return headers["X-API-Key"] == self.SECRET

    def called(self, method, path, body, is_half):
        return self.answer(method, urllib.parse.urlsplit(path))

    def answer(self, method, url):
        if method == "DELETE":
            time.sleep(0.01)
            with self.lock:
                found = self.rows.pop(url.path.rsplit("/", 1)[1], None)
            return (200, {"deleted": 1}) if found else (404, {"error": "absent"})
        query = dict(urllib.parse.parse_qsl(url.query))
        with self.lock:
            found = sorted(name for name, (owner, _) in self.rows.items() if query["owner"] in owner)
            page = [name for name in found if name > query.get("after", "")][:5]
            items = [{"id": name, "owner": self.rows[name][0]} for name in page]
        return 200, {"items": items, "next": page[-1] if page and page[-1] != found[-1] else None}

    def prepare(self, users):
        names = [(user, number) for user in users for number in range(8)]
        self.rows = {f"i{place:05}": name for place, name in enumerate(names)}

    def items(self):
        with self.lock:
            return {f"{user}/{number}": name for name, (user, number) in self.rows.items()}

    def section(self, stage):
        keep_secret(stage, "api-key", self.SECRET)
        stage.canaries.add(self.SECRET)
        search = """method = "GET"
path = "/items"
query = { owner = "{user_id}", after = "{cursor}" }
items = "/items"
id = "/id"
match = { "/owner" = "{user_id}" }
next = "/next"
"""
        return f"""kind = "http"
base_url = "https://localhost:{self.server.server_port}"
key_credential = "api-key"
ca_file = "{self.certificate}"
allow_private_addresses = true
timeout = "30s"
[store.auth]
scheme = "header"
header = "X-API-Key"
[[store.erase]]
name = "items"
{search}[[store.erase]]
name = "item"
method = "DELETE"
path = "/items/{{id}}"
for_each = "items"
count = "/deleted"
gone = [404]
gone_if = {{ "/error" = "absent" }}
[[store.verify]]
name = "items"
{search}"""


class Webhook(WebService):
    """A service of the webhook's protocol, which removes a few rows at a time."""

    def called(self, method, path, body, is_half):
        return self.answer(json.loads(body), is_half)

    def answer(self, question, is_half):
        user = question.get("user_id")
        if question["operation"] == "diagnose":
            return 200, {"outcome": "ok"}
        if question["operation"] == "verify":
            left = self.count(user)
            return 200, {"outcome": "remaining", "count": left} if left else {"outcome": "clean"}
        if question["operation"] == "plan":
            return 200, {"outcome": "planned", "entries": [{"name": "rows", "count": self.count(user)}]}
        if question["operation"] != "purge":
            return 200, {"outcome": "unsupported"}
        for _ in range(2 if is_half else self.count(user)):
            with self.lock:
                mine = [name for name in self.rows if name.startswith(f"{user}/")]
                if mine:
                    del self.rows[mine[0]]
            time.sleep(0.002)
        return 200, {"outcome": "purged", "entries": [{"name": "rows", "count": 8}]}

    def count(self, user):
        with self.lock:
            return sum(name.startswith(f"{user}/") for name in self.rows)

    def prepare(self, users):
        self.rows = {f"{user}/{number}": user for user in users for number in range(8)}

    def items(self):
        with self.lock:
            return dict(self.rows)

    def section(self, stage):
        keep_secret(stage, "crm-secret", "whsec_" + "c2VjcmV0LW9mLXRoZS1jcm0tb2YtdGhlLXRlc3Q=")
        return f"""kind = "webhook"
url = "https://localhost:{self.server.server_port}/erasure"
secret_credential = "crm-secret"
ca_file = "{self.certificate}"
allow_private_addresses = true
timeout = "30s"
"""
