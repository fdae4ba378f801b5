"""Objects under lock in a bucket: left, on the receipt with their dates, and erased by a request when they are free.

moto refuses to delete what is under a lock, but answers no questions about retention: a proxy before it answers them as
S3 documents (docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectRetention.html), from what moto says of the object.
"""

import datetime
import urllib.parse

from checks import HANG_S, comes_true
from proxies import Proxy
from scenario import scenario
from stage import Stage
from store_servers import S3, make_certificate

BUCKET = "uploads"
LATER, LATEST = "2035-06-07T08:09:10Z", "2040-01-02T03:04:05Z"
SOON_S = HANG_S
HELD = "object versions under {} lock in bucket 'uploads'"


@scenario()
def retention(checks, seed):
    stage = Stage(checks, seed)
    certificate, key = make_certificate(stage.path("app"))
    store = S3(stage.path("s3"), certificate, key)
    proxy = Retention(store, certificate, key)
    try:
        with open(stage.path("expunged.toml"), "a") as file:
            section = store.section(stage).replace(f":{store.relay.port}", f":{proxy.port}")
            file.write(f'\n[[store]]\nname = "s3"\n{section}')
        play(checks, stage, store, proxy)
        stage.scan()
    finally:
        proxy.close()
        store.close()
        stage.close(keep=bool(checks.failed))


def play(checks, stage, store, proxy):
    users = [f"user-{number}-{stage.random.getrandbits(80):020x}" for number in range(5)]
    stage.canaries.add(*users)
    locked, free, soon, denied, neighbour = users
    proxy.ask("PUT", f"/{BUCKET}", headers={"x-amz-bucket-object-lock-enabled": "true"})
    for user in users:
        for version in ("old", "new"):
            proxy.put(user, "plain", version)
    for user in (locked, neighbour):
        proxy.put(user, "compliance", retain=("COMPLIANCE", LATEST))
        proxy.put(user, "governance", retain=("GOVERNANCE", LATER))
        proxy.put(user, "held", hold="ON")
    proxy.put(denied, "compliance", retain=("COMPLIANCE", LATEST))
    before = keys(store, neighbour)
    stage.starts()

    receipt = erase(checks, stage, locked, "a user with objects under lock comes to an end")
    checks.equal("what no lock protects is gone", keys(store, locked), ["compliance", "governance", "held"])
    checks.equal("the receipt names each kind of lock, with its date", residual_copies(receipt), [
        (HELD.format("compliance"), LATEST.replace("Z", ".000Z")),
        (HELD.format("governance"), LATER.replace("Z", ".000Z")), (HELD.format("legal hold"), None)])
    page = stage.run("expungectl", "receipt", receipt["request_id"], "--html").stdout
    checks.check("and so does the page to print", all(text in page for text in ("2040-01-02", "2035-06-07", "legal hold")),
                 page[:2000])
    receipt = erase(checks, stage, free, "a user without locks")
    checks.equal("leaves nothing, and nothing on the receipt", (keys(store, free), residual_copies(receipt)), ([], []))

    unreadable(checks, stage, store, proxy, denied)
    freed(checks, stage, store, proxy, (locked, soon))
    checks.equal("a neighbour's objects are all there", keys(store, neighbour), before)


def unreadable(checks, stage, store, proxy, user):
    """Without an answer nobody knows what protects an object: the request waits."""
    proxy.refusal = (403, "AccessDenied")
    request = stage.delete(user)[1]["id"]
    checks.check("where retention may not be asked for the store pauses, and nothing is completed", comes_true(
        lambda: show(stage, request).get("detail") == "store_paused", pause=0.1), show(stage, request))
    proxy.refusal = (503, "SlowDown")
    stage.run("expungectl", "stores", "resume", "s3")
    checks.check("where the server asks for a pause it is tried again", comes_true(
        lambda: any(step.get("last_error") == "throttled" for step in show(stage, request)["steps"]), pause=0.1),
        show(stage, request))
    checks.check("and still not completed", show(stage, request)["state"] == "purging")
    proxy.refusal = None
    checks.check("it ends by itself when there is an answer", ends(stage, request), show(stage, request))
    checks.equal("with the object left, and said", (keys(store, user), residual_copies(receipt_of(stage, request))),
                 (["compliance"], [(HELD.format("compliance"), LATEST.replace("Z", ".000Z"))]))


def freed(checks, stage, store, proxy, users):
    """Retention that ends by time, and locks that somebody lifts."""
    locked, soon = users
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=SOON_S)
    text = until.strftime("%Y-%m-%dT%H:%M:%SZ")
    proxy.put(soon, "brief", retain=("COMPLIANCE", text))
    receipt = erase(checks, stage, soon, f"retention that lasts {SOON_S} s longer")
    checks.equal("is on the receipt", residual_copies(receipt), [(HELD.format("compliance"), text.replace("Z", ".000Z"))])
    proxy.put(locked, "held", hold="OFF", is_new=False)
    for name in ("compliance", "governance"):
        proxy.put(locked, name, retain=("GOVERNANCE", "2020-01-01T00:00:00Z"), is_new=False)
    assert comes_true(lambda: datetime.datetime.now(datetime.timezone.utc) > until, 2 * SOON_S, 0.2), "the clock stands still"
    for user in users:
        receipt = erase(checks, stage, user, "when the locks are over another request")
        checks.equal("erases the rest", (keys(store, user), residual_copies(receipt)), ([], []))
    checks.check(f"the proxy was asked for retention {proxy.asked} times", proxy.asked > 0)


def erase(checks, stage, user, text):
    request = stage.delete(user, key=f"{user}-{stage.random.random()}")[1]["id"]
    checks.check(text, ends(stage, request), show(stage, request))
    return receipt_of(stage, request)


def ends(stage, request):
    return comes_true(lambda: show(stage, request)["state"] == "completed", pause=0.1)


def show(stage, request):
    return stage.http("GET", f"/v1/requests/{request}")[1]


def receipt_of(stage, request):
    return stage.http("GET", f"/v1/requests/{request}/receipt")[1]


def residual_copies(receipt):
    store = next(store for store in receipt["stores"] if store["store"] == "s3")
    return sorted((copy["what"], copy.get("until")) for copy in store.get("residual_copies", []))


def keys(store, user):
    """The last names of all versions and delete markers of a user."""
    return sorted(name.split(" ")[0].rsplit("/", 1)[1] for name in store.items() if f"/{user}/" in name)


class Retention(Proxy):
    """Passes everything on to moto, and answers about retention itself."""

    def __init__(self, store, certificate, key):
        super().__init__(store.port, store.context, certificate, key)
        self.asked, self.refusal = 0, None

    def answer(self, method, path, body, headers):
        place, _, query = path.partition("?")
        asked = urllib.parse.parse_qs(query, keep_blank_values=True)
        if method == "GET" and "retention" in asked:
            return self.retention(place, asked["versionId"][0])
        return self.pass_on(method, path, body, headers)

    def pass_on(self, method, path, body=b"", headers=None):
        return super().pass_on(method, path, body, {"Authorization": S3.CREDENTIAL, **(headers or {})})

    def ask(self, method, path, body=b"", headers=None):
        status, _, text = self.pass_on(method, path, body, headers)
        assert status < 300, (method, path, status, text[:300])

    def put(self, user, name, text="x", retain=None, hold=None, is_new=True):
        path = f"/{BUCKET}/users/{user}/{name}"
        if is_new:
            self.ask("PUT", path, text.encode())
        if retain:
            mode, until = retain
            self.ask("PUT", f"{path}?retention", f"<Retention><Mode>{mode}</Mode>"
                     f"<RetainUntilDate>{until}</RetainUntilDate></Retention>".encode())
        if hold:
            self.ask("PUT", f"{path}?legal-hold", f"<LegalHold><Status>{hold}</Status></LegalHold>".encode())

    def retention(self, path, version):
        self.asked += 1
        if self.refusal:
            return self.error(*self.refusal)
        status, headers, _ = self.pass_on("HEAD", f"{path}?versionId={urllib.parse.quote(version)}")
        if status != 200:
            # Of a delete marker.
            return self.error(405, "MethodNotAllowed")
        found = {name.lower(): value for name, value in headers}
        if "x-amz-object-lock-mode" not in found:
            return self.error(404, "NoSuchObjectLockConfiguration")
        until = found["x-amz-object-lock-retain-until-date"].replace("Z", ".000Z")
        return 200, [("Content-Type", "application/xml")], (
            '<?xml version="1.0" encoding="UTF-8"?>\n<Retention xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Mode>{found['x-amz-object-lock-mode']}</Mode><RetainUntilDate>{until}</RetainUntilDate></Retention>"
        ).encode()

    @staticmethod
    def error(status, code):
        return status, [("Content-Type", "application/xml")], (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>no</Message></Error>').encode()
