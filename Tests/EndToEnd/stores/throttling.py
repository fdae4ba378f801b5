"""S3, Cloud Storage and Firestore ask for a pause in the middle of purges, for a call or for single objects of it.

Each purge is tried again, not before the server wants it, and goes on with what is left. What was answered is in the
proxies' own notes, what is there is reported by the stores' own clients.
"""

import json
import re
import ssl
import threading
import time
import urllib.parse

from checks import comes_true
from proxies import Proxy
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, Stage
from store_servers import S3, make_certificate
from store_stand_ins import Cloud

ERASED, KEPT = 8, 4
END_S_MAX = 600
# Longer than any look at the requests takes.
PAUSE_S = 10
# Of each user, in all tries together: a client that does not wait makes hundreds.
CALLS_MAX = 150
USER = re.compile(r"(?:user|kept)-\d+-[0-9a-f]{20}")
GOOGLE = "Content-Type", "application/json; charset=UTF-8"


@scenario()
def throttling(checks, seed):
    # Nothing is revoked here: no user has a link.
    sandbox = Sandbox(BINARIES)
    stage = Stage(checks, seed, sandbox)
    stores = {}
    try:
        certificate, key = make_certificate(stage.path("app"))
        stores["s3"] = ThrottledS3(stage.path("s3"), certificate, key)
        context = ssl.create_default_context(cafile=sandbox.path("ca.pem"))
        port = urllib.parse.urlsplit(sandbox.endpoint).port
        for name, make in (("cloud-storage", cloud_storage), ("firestore", firestore)):
            stores[name] = make(sandbox, port, context, certificate, key)
        with open(stage.path("expunged.toml"), "a") as file:
            for name, store in stores.items():
                file.write(f'\n[[store]]\nname = "{name}"\n{store.section(stage)}')
        play(checks, stage, stores)
        stage.scan()
    finally:
        for store in stores.values():
            store.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def play(checks, stage, stores):
    users = [f"user-{number}-{stage.random.getrandbits(80):020x}" for number in range(ERASED)]
    kept = [f"kept-{number}-{stage.random.getrandbits(80):020x}" for number in range(KEPT)]
    stage.canaries.add(*users)
    for store in stores.values():
        store.prepare(users + kept)
    before = {name: store.items() for name, store in stores.items()}
    assert stage.starts()
    for user in users:
        stage.delete(user)
    seen = set()
    ended = comes_true(lambda: all_ended(stage, users, seen), END_S_MAX, 0.1)
    checks.check(f"{ERASED} requests are completed", ended, stage.http("GET", "/v1/status"))
    checks.check("in between they show that they wait for the server", "throttled" in seen, seen)
    for name, store in stores.items():
        after, proxy = store.items(), store.proxy
        checks.equal(f"{name}: of the erased nothing is left, of others everything",
                     after, {item: content for item, content in before[name].items()
                             if USER.search(item)[0] in kept})
        checks.check(f"{name}: it said " + ", ".join(f"{count} x {word}" for word, count in proxy.said.items()),
                     not proxy.due and set(proxy.said) == proxy.words, (proxy.due, proxy.words))
        checks.check(f"{name}: users had lost a part then, {proxy.halves} times", proxy.halves > 0)
        checks.equal(f"{name}: nobody was tried before the server wanted it", proxy.early, [])
        checks.check(f"{name}: at most {max(proxy.calls.values())} calls for a user",
                     max(proxy.calls.values()) <= CALLS_MAX, proxy.calls)


def all_ended(stage, users, seen):
    try:
        for item in stage.http("GET", "/v1/requests?state=purging&limit=20")[1]["items"]:
            steps = stage.http("GET", f"/v1/requests/{item['id']}")[1]["steps"]
            seen |= {step["last_error"] for step in steps if step.get("last_error")}
        return stage.http("GET", "/v1/status")[1]["requests"].get("completed") == len(users)
    except GONE:
        return False


class Throttle(Proxy):
    """Fails every third call as long as there is something due, and some objects of the deletions between."""

    PERIOD = 3

    def __init__(self, port, context, certificate, key, due, parts=()):
        super().__init__(port, context, certificate, key)
        self.lock, self.due, self.parts = threading.Lock(), list(due), list(parts)
        self.words = {word for _, word, _ in self.due} | set(map(str, self.parts))
        self.said, self.calls, self.not_before, self.early = {}, {}, {}, []
        self.begun, self.halves, self.count = set(), 0, 0

    def answer(self, method, path, body, headers):
        text = urllib.parse.unquote(path) + urllib.parse.unquote(body.decode())
        user = USER.search(text)
        if user is None:
            return self.pass_on(method, path, body, headers)
        user, now = user[0], time.monotonic()
        with self.lock:
            self.calls[user] = self.calls.get(user, 0) + 1
            if now < self.not_before.get(user, 0) and self.may_begin(method):
                self.early.append((user, self.not_before[user] - now))
            self.count += 1
            if self.due and self.count % self.PERIOD == 0:
                status, word, pause_s = self.due.pop(0)
                self.note(word)
                self.halves += user in self.begun
                self.not_before[user] = now + pause_s
                return self.refusal(status, word, pause_s)
            part = None
            if self.is_deletion(method, path):
                self.begun.add(user)
                part = self.parts.pop(0) if self.parts else None
        if part is None:
            return self.pass_on(method, path, body, headers)
        self.note(str(part))
        return self.delete_part(part, method, path, body, headers)

    def may_begin(self, method):
        """Whether a try may begin with it."""
        return True

    def note(self, word):
        self.said[word] = self.said.get(word, 0) + 1


class S3Throttle(Throttle):
    """docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html; a part of DeleteObjects may fail by itself."""

    def refusal(self, status, word, pause_s):
        head = [("Content-Type", "application/xml")] + ([("Retry-After", str(pause_s))] if pause_s else [])
        return status, head, (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{word}</Code>'
                              "<Message>Reduce your request rate.</Message></Error>").encode()

    def is_deletion(self, method, path):
        return method == "POST" and path.endswith("?delete=")

    def delete_part(self, word, method, path, body, headers):
        objects = re.findall(r"<Object>.*?</Object>", body.decode())
        done = objects[:len(objects) // 2]
        if done:
            rest = re.sub(r"(<Object>.*</Object>)", "".join(done), body.decode())
            status, _, text = self.pass_on(method, path, rest.encode(), {
                name: value for name, value in headers.items() if name.lower() != "content-md5"})
            assert status == 200, text
        failed = "".join(re.sub("Object>", "Error>", item).replace("</Error>", f"<Code>{word}</Code></Error>")
                         for item in objects[len(done):])
        return 200, [("Content-Type", "application/xml")], (
            '<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"{failed}</DeleteResult>").encode()


class GoogleThrottle(Throttle):
    """cloud.google.com/storage/docs/json_api/v1/status-codes; cloud.google.com/apis/design/errors."""

    def refusal(self, status, word, pause_s):
        head = [GOOGLE] + ([("Retry-After", str(pause_s))] if pause_s else [])
        return status, head, json.dumps({"error": {
            "code": status, "status": word, "message": word, "errors": [{"reason": word}]}}).encode()


class CloudStorageThrottle(GoogleThrottle):
    # About one in each try of a purge: its objects go eight at once, and report of several pauses only one.
    PERIOD = 30

    def may_begin(self, method):
        return method == "GET"

    def is_deletion(self, method, path):
        return method == "DELETE"

    def delete_part(self, *call):
        raise AssertionError("each object has a call of its own")


class FirestoreThrottle(GoogleThrottle):
    def is_deletion(self, method, path):
        return path.endswith(":batchWrite")

    def delete_part(self, code, method, path, body, headers):
        """firestore.proto, BatchWriteResponse: the call succeeds, each write has a status."""
        writes = json.loads(body)["writes"]
        done = writes[:len(writes) // 2] if code != 4 else []
        if done:
            status, _, text = self.pass_on(method, path, json.dumps({"writes": done}).encode(), headers)
            assert status == 200, text
        statuses = json.loads(text)["status"] if done else []
        statuses += [{"code": code} for _ in writes[len(done):]]
        return 200, [GOOGLE], json.dumps({"writeResults": [{} for _ in writes], "status": statuses}).encode()


class ThrottledS3(S3):
    CUT_RATE = 0

    def __init__(self, directory, certificate, key):
        super().__init__(directory, certificate, key)
        self.proxy = S3Throttle(
            self.port, self.context, certificate, key,
            [(503, "SlowDown", 0), (500, "InternalError", 0), (503, "SlowDown", PAUSE_S), (503, "ServiceUnavailable", 0)] * 2,
            ["SlowDown", "InternalError"] * 3)

    def section(self, stage):
        return super().section(stage).replace(f":{self.relay.port}", f":{self.proxy.port}")

    def close(self):
        self.proxy.close()
        super().close()


class ThrottledCloud(Cloud):
    """One of the sandbox's stores behind a proxy; it takes the emulators' token."""

    def __init__(self, sandbox, member, held, section, proxy, certificate):
        super().__init__(sandbox, member, held, section)
        self.proxy, self.certificate = proxy, certificate

    def section(self, stage):
        return (self.text.replace("{endpoint}", f"https://localhost:{self.proxy.port}") + "emulator = true\n"
                f'ca_file = "{self.certificate}"\n')

    def close(self):
        self.proxy.close()


def cloud_storage(sandbox, port, context, certificate, key):
    return ThrottledCloud(
        sandbox, "objects", lambda user: dict.fromkeys(f"users/{user}/{n}" for n in range(30)),
        'kind = "google-cloud-storage"\nbucket = "example-bucket"\nprefixes = ["users/{user_id}/"]\n'
        'base_url = "{endpoint}/cloud/storage"\n',
        CloudStorageThrottle(port, context, certificate, key, [
            (429, "rateLimitExceeded", 2), (503, "backendError", 1), (429, "rateLimitExceeded", 0),
            (500, "internalError", 0)] * 2), certificate)


def firestore(sandbox, port, context, certificate, key):
    """DEADLINE_EXCEEDED is 4, RESOURCE_EXHAUSTED 8, ABORTED 10 (google/rpc/code.proto)."""
    return ThrottledCloud(
        sandbox, "documents", lambda user: {f"users/{user}/posts/{n}": {"text": f"{n} of {user}"} for n in range(50)},
        'kind = "firestore"\nproject = "example-project"\ndocuments = ["users/{user_id}"]\n'
        'base_url = "{endpoint}/cloud/firestore"\n',
        FirestoreThrottle(port, context, certificate, key, [
            (429, "RESOURCE_EXHAUSTED", 2), (409, "ABORTED", 0), (503, "UNAVAILABLE", 0)] * 2,
            # The last ones are more than one try of a purge bears.
            [8, 10] * 4 + [4] * 8), certificate)
