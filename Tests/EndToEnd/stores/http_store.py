"""HTTP APIs as stores, by presets and by own steps: failing, hostile, slow, and killed in the middle.

Judged by what the stand-ins of Tests/HTTPVendors hold and were asked, and by the receipt.
"""

import http.client
import json
import os
import ssl
import subprocess
import sys

from rechecks import disclaimed, module, says
from checks import HANG_S, comes_true
from scenario import scenario
from stage import GONE, Stage
from store_servers import ROOT, keep_secret, make_certificate

SECRET = "canary-http-9c1d"
STORES = """
[[store]]
name = "documents"
kind = "http"
base_url = "{url}/example"
{reach}
[store.auth]
scheme = "bearer"
[[store.erase]]
name = "open"
method = "GET"
path = "/jobs"
items = "/jobs"
id = "/id"
match = {{ "/user" = "{{user_id}}" }}
[[store.erase]]
name = "job"
method = "POST"
path = "/jobs"
json = {{ user = "{{user_id}}" }}
id = "/job"
effect = "once"
unless = "open"
[[store.erase]]
name = "documents"
method = "GET"
path = "/jobs/{{id}}"
for_each = "job"
until = {{ "/status" = "done" }}
count = "/deleted"
every = "1s"
[[store.verify]]
name = "documents"
method = "POST"
path = "/count"
json = {{ term = {{ owner = "{{user_id}}" }} }}
count = "/count"

[[store]]
name = "payments"
kind = "http"
preset = "stripe"
base_url = "{url}/stripe"
{reach}

[[store]]
name = "metrics"
kind = "http"
preset = "amplitude"
base_url = "{url}/amplitude"
values = {{ api_key = "api-key" }}
backups_kept = "0s"
{reach}
"""
UNFILTERED = """
[[store]]
name = "everybody"
kind = "http"
base_url = "{url}/example"
{reach}
[store.auth]
scheme = "bearer"
[[store.erase]]
name = "documents"
method = "GET"
path = "/documents"
query = {{ who = "{{user_id}}" }}
items = "/data"
id = "/id"
[[store.erase]]
name = "document"
method = "DELETE"
path = "/documents/{{id}}"
for_each = "documents"
gone = [404]
[[store.verify]]
name = "documents"
method = "POST"
path = "/count"
json = {{ term = {{ owner = "{{user_id}}" }} }}
count = "/count"
"""
VENDORS = ("example", "stripe", "amplitude")


class Vendors:
    """The stand-ins, in a process of their own."""

    def __init__(self, directory):
        self.certificate, key = make_certificate(directory)
        program = os.path.join(ROOT, "Tests/HTTPVendors/serve.py")
        self.process = subprocess.Popen([sys.executable, "-B", program, self.certificate, key],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"https://localhost:{self.port}"
        self.reach = (f'ca_file = "{self.certificate}"\nallow_private_addresses = true\ntimeout = "30s"\n'
                      f'key_credential = "vendor-key"')

    def ask(self, path, body=None):
        context = ssl.create_default_context(cafile=self.certificate)
        connection = http.client.HTTPSConnection("localhost", self.port, context=context, timeout=HANG_S)
        connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def reset(self, user):
        for name in VENDORS:
            self.ask(f"/_reset/{name}", {"user": user})

    def fail(self, name, at, kind):
        self.ask(f"/_fault/{name}", {"at": at, "kind": kind})

    def hold(self, name, is_held):
        """Keeps the jobs of a stand-in running."""
        self.ask(f"/_hold/{name}", {"is_held": is_held})

    def states(self):
        return {name: self.ask(f"/_state/{name}") for name in VENDORS}

    def close(self):
        self.process.stdin.close()
        self.process.wait(HANG_S)


@scenario(gate={})
def http_store(checks, seed):
    killed(checks, seed)
    unfiltered(checks, seed)


def prepared(checks, seed, text):
    stage = Stage(checks, seed)
    vendors = Vendors(stage.path("app"))
    keep_secret(stage, "vendor-key", SECRET)
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(text.format(url=vendors.url, reach=vendors.reach))
    return stage, vendors


def killed(checks, seed):
    stage, vendors = prepared(checks, seed, STORES)
    try:
        stage.canaries.add(SECRET)
        stage.starts()
        for number, fault in enumerate(("500", "429", "cut", "lost", "html", "twice", "big", "401")):
            play(checks, stage, vendors, fault, at=1 + number % 4, kill=number % 2 == 0)
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))
        vendors.close()


def play(checks, stage, vendors, fault, at, kill):
    """One user whose erasure meets a fault at each API, and perhaps kill -9."""
    user = stage.new_users(1)[0]
    vendors.reset(user)
    before = vendors.states()
    for name in VENDORS:
        vendors.fail(name, at, fault)
    vendors.hold("example", kill)
    status, request = stage.delete(user)
    text = f"with {fault} at call {at}" + (", kill -9 while the job runs" if kill else "")
    checks.equal(f"{text}: the deletion is accepted", status, 202)
    if kill:
        def is_started():
            for store in stage.http("GET", "/v1/stores")[1]["items"]:
                # What a wrong answer has paused, an operator resumes.
                if store["state"] == "paused":
                    stage.http("POST", f"/v1/stores/{store['name']}/resume", {})
            return any("POST /jobs" in call for call in vendors.states()["example"]["calls"])

        checks.check(f"{text}: a job is started", comes_true(is_started, pause=0.1), vendors.states()["example"])
        stage.kill()
        # It runs at least until nobody looks after it.
        vendors.hold("example", False)
        stage.start()
        checks.check(f"{text}: the daemon starts again", stage.comes_up(), stage.log()[-2000:])

    def is_completed():
        try:
            for store in ("documents", "payments", "metrics"):
                stage.http("POST", f"/v1/stores/{store}/resume", {})
            return stage.http("GET", f"/v1/requests/{request['id']}")[1]["state"] == "completed"
        except GONE:
            return False

    checks.check(f"{text}: it comes to its end", comes_true(is_completed, pause=0.2),
                 stage.http("GET", f"/v1/requests/{request['id']}")[1])
    after = vendors.states()
    checks.equal(f"{text}: nothing is left, and nobody else has lost anything",
                 {name: (state["victim"], state["others"]) for name, state in after.items()},
                 {name: (0, state["others"]) for name, state in before.items()})
    started = sum(call.startswith("POST /jobs") for call in after["example"]["calls"])
    checks.check(f"{text}: one job was started", started == 1 or (started == 2 and fault in ("500", "cut", "429", "html", "twice", "big", "401")),
                 after["example"]["calls"])
    proves(checks, stage, request["id"], text)


def proves(checks, stage, request, text):
    receipt = stage.http("GET", f"/v1/requests/{request}/receipt")[1]
    stated = {store["store"]: (store["verified"], "accepted_until" in store) for store in receipt["stores"]
            if store["store"] != "app-db"}
    checks.equal(f"{text}: the receipt says verified, and of a promise accepted", stated,
                 {"documents": (True, False), "payments": (True, False), "metrics": (False, True)})
    metrics = next(store for store in receipt["stores"] if store["store"] == "metrics")
    checks.check(f"{text}: the promise bounds the erasure horizon, and the summary says ACCEPTED",
                 metrics.get("erasure_horizon", "") >= metrics["accepted_until"]
                 and "ACCEPTED, not verified: 'metrics'" in receipt["summary"], receipt)
    verifier = module()

    def is_proven():
        # The checkpoint comes behind the commit.
        now = stage.http("GET", f"/v1/requests/{request}/receipt")[1]
        said = says(verifier, now["ledger"]["key"], json.dumps(now))
        return said is not None and not disclaimed(said) & {"stores"}

    checks.check(f"{text}: the ledger proves it", comes_true(is_proven, pause=0.2), receipt)


def unfiltered(checks, seed):
    """A search that ignores what it does not know finds everybody: the store never begins."""
    stage, vendors = prepared(checks, seed, UNFILTERED)
    try:
        user = stage.new_users(1)[0]
        vendors.reset(user)
        before = vendors.states()["example"]
        stage.starts()
        request = stage.delete(user)[1]["id"]

        def is_paused():
            stores = stage.http("GET", "/v1/stores")[1]["items"]
            return any(store["name"] == "everybody" and store["state"] == "paused" for store in stores)

        checks.check("a store whose search finds everybody is paused", comes_true(is_paused, pause=0.1),
                     stage.http("GET", "/v1/stores")[1])
        state = stage.http("GET", f"/v1/requests/{request}")[1]["state"]
        after = vendors.states()["example"]
        checks.check("and nothing was erased", state != "completed" and after["others"] == before["others"]
                     and after["victim"] == before["victim"], (state, after["calls"]))
        checks.check("no document was deleted", not any(call.startswith("DELETE") for call in after["calls"]))
    finally:
        stage.close(keep=bool(checks.failed))
        vendors.close()
