"""A verdict claims what the provider's own table of grants and tokens bears out, and a receipt never changes.

One plain OAuth server, where each token stands alone, Apple, where a revocation ends the grant, and Google.
"""

import collections
import http.server
import json
import os
import sqlite3
import subprocess
import time

from canaries import canary
from checks import HANG_S, comes_true
from sandbox import CLIENT, Sandbox
from scenario import scenario
from stage import BINARIES, ROOT, Stage
from store_servers import make_certificate, serve_over_tls

PROVIDERS = """
[[provider]]
name = "plain"
kind = "oauth2"
issuer = "{endpoint}/oauth2"
revocation_url = "{endpoint}/oauth2/revoke"
token_url = "{endpoint}/oauth2/token"
client_ids = ["app"]
client_secret_credential = "plain-secret"
user_action_url = "https://sso.example.com/apps"
on_unrevocable = "proceed"
revocation_deadline = "0s"
ca_file = "{ca}"
timeout_connect = "20s"
timeout_total = "60s"
[[provider]]
name = "pair"
kind = "oauth2"
issuer = "{endpoint}/oauth2"
revocation_url = "{endpoint}/oauth2/revoke"
token_url = "{endpoint}/oauth2/token"
check = "refresh"
rotates_refresh_tokens = true
client_ids = ["app", "app2"]
client_secret_credentials = {{ app = "plain-secret", app2 = "plain-secret" }}
ca_file = "{ca}"
timeout_connect = "20s"
timeout_total = "60s"
[[provider]]
name = "slow"
kind = "oauth2"
issuer = "{slow}"
revocation_url = "{slow}/revoke"
introspection_url = "{slow}/introspect"
token_url = "{slow}/token"
check = "introspection"
client_ids = ["app"]
client_secret_credential = "plain-secret"
user_action_url = "https://sso.example.com/apps"
ca_file = "{slow_ca}"
timeout_connect = "20s"
timeout_total = "60s"
"""
# Only the path of the revocation endpoint is wrong.
WRONG = """
[[provider]]
name = "wrong"
kind = "oauth2"
issuer = "{endpoint}/oauth2"
revocation_url = "{endpoint}/oauth2/nowhere"
token_url = "{endpoint}/oauth2/token"
client_ids = ["app"]
client_secret_credential = "plain-secret"
on_unrevocable = "proceed"
revocation_deadline = "0s"
ca_file = "{ca}"
timeout_connect = "20s"
timeout_total = "60s"
"""
# A revoked token works on for so long here, and at least until it is revoked a second time: a slow machine may take
# longer than this for that.
LAG_S = 10
# The upper bounds of the pauses between revocations double from half a second. Without that there would be twenty.
REVOCATIONS_MAX = 10
# A pause that is drawn after LAG_S is longer than a minute once in a thousand times, and never as long as this.
LAG_WAIT_S = 300
# More than an identity could hold before, and more than one page of anything.
SIGN_INS = 40


@scenario(gate={})
def verdicts(checks, seed):
    sandbox = Sandbox(BINARIES)
    stage = Stage(checks, seed, sandbox)
    slow = SlowProvider(stage)
    try:
        with open(stage.path("credentials/plain-secret"), "w") as file:
            file.write("app-secret")
        os.chmod(stage.path("credentials/plain-secret"), 0o600)
        with open(stage.path("expunged.toml")) as file:
            text = file.read().replace('kind = "apple"', 'kind = "apple"\nrevocation_deadline = "0s"')
        with open(stage.path("expunged.toml"), "w") as file:
            file.write(text + (PROVIDERS + WRONG).format(
                endpoint=sandbox.endpoint, ca=sandbox.path("ca.pem"), slow=slow.url, slow_ca=slow.certificate))
        assert stage.starts()
        lost_code(checks, stage)
        many_sign_ins(checks, stage)
        many_sign_ins_at_apple(checks, stage)
        made_up_token(checks, stage)
        made_up_beside_a_real_one(checks, stage)
        wrong_client_id(checks, stage)
        cut_then_lost(checks, stage)
        refused_while_purging(checks, stage)
        unknown_names(checks, stage)
        wrong_url(checks, stage)
        late_effect(checks, stage, slow)
        late_notification(checks, stage)
        stage.scan()
    finally:
        slow.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


class SlowProvider:
    """A revocation takes effect late here, as Google documents it for its own."""

    def __init__(self, stage):
        self.calls, self.revoked_at = [], None
        self.certificate, key = make_certificate(stage.path("app"))
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                body = json.dumps(provider.answer(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = serve_over_tls(Handler, self.certificate, key)
        self.url = f"https://localhost:{self.server.server_port}"

    def answer(self, path):
        self.calls.append(path)
        if path == "/introspect":
            return {"active": self.calls.count("/revoke") < 2 or time.monotonic() < self.revoked_at + LAG_S}
        self.revoked_at = self.revoked_at or time.monotonic()
        return {}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def put(stage, user, provider, kind, secret, **more):
    stage.canaries.add(secret)
    client = CLIENT if provider == "apple" else "app"
    return stage.http("PUT", f"/v1/users/{user}/identities/{provider}", {
        "kind": kind, "secret": secret, "client_id": client, **more})[0]


def sign_in(stage, user):
    proof = stage.sandbox.ask("sign-in", "--provider", "oauth2", "--user", user, "--client-id", "app",
                              "--redirect-uri", "https://app.example.com/callback")
    stage.canaries.add(proof["code"])
    return put(stage, user, "plain", "authorization_code", proof["code"],
               redirect_uri="https://app.example.com/callback")


def receipt_of(stage, user, seconds=HANG_S):
    """The receipt of a deletion, once there is one."""
    status, answer = stage.delete(user)
    assert status == 202, answer
    found = {}

    def is_there():
        status, body = stage.http("GET", f"/v1/requests/{answer['id']}/receipt")
        if status == 200:
            found.update(body)
        return status == 200
    if not comes_true(is_there, seconds):
        stage.checks.check(f"there is a receipt within {seconds} s", False, stage.http("GET", f"/v1/requests/{answer['id']}")[1])
    return found


def link_of(receipt, provider):
    return next((link for link in receipt.get("identities", []) if link["provider"] == provider), {})


def live_tokens(stage, user, provider="oauth2"):
    """By the provider's own table."""
    answer = stage.sandbox.ask("grants", "--provider", provider, "--user", user)
    return sum(grant.get("live_tokens", 0) for grant in answer["grants"])


def settled(stage, user):
    """Waits until the service has exchanged every code of a user, or has lost it."""
    def identities():
        return stage.http("GET", f"/v1/users/{user}/identities")[1]["items"]

    def is_settled():
        states = [identity["state"] for identity in identities()]
        return states and "pending" not in states
    if not comes_true(is_settled):
        stage.checks.check("no code of the user waits any longer", False, identities())


def lost_code(checks, stage):
    user, = stage.new_users(1)
    stage.sandbox.ask("fault", "--fault-rate", "1", "--fault-kinds", "response_lost", "--fault-endpoints", "token",
                      "--fault-providers", "oauth2", "--fault-limit", "1")
    sign_in(stage, user)
    settled(stage, user)
    stage.sandbox.fault(0)
    before = live_tokens(stage, user)
    sign_in(stage, user)
    settled(stage, user)
    receipt = receipt_of(stage, user)
    link, left = link_of(receipt, "plain"), live_tokens(stage, user)
    checks.check("the provider has issued a token for a code whose answer was lost, and it lives on",
                 before > 0 and left > 0, (before, left))
    checks.equal("     so the verdict is not proven, and the link is not called revoked",
                 (link.get("verdict"), link.get("revoked")), ("unconfirmed", False))
    checks.equal("     the receipt names the lost code", link.get("not_held"),
                 {"lost_codes": 1, "refused_credentials": 0})
    checks.check("     the summary and the user's link are there",
                 "NOT revoked: plain (unconfirmed)" in receipt.get("summary", "") and "user_action" in link, receipt)


def many_sign_ins(checks, stage):
    user, = stage.new_users(1)
    taken = collections.Counter()
    for _ in range(SIGN_INS):
        taken[sign_in(stage, user)] += 1
        settled(stage, user)
    live = live_tokens(stage, user)
    checks.check(f"{SIGN_INS} sign-ins of one user are all taken, {live} tokens live",
                 list(taken) == [202] and live >= SIGN_INS, (taken, live))
    link = link_of(receipt_of(stage, user), "plain")
    left = live_tokens(stage, user)
    checks.equal("     and after the deletion none of them lives, as the verdict says",
                 (left, link.get("verdict"), link.get("revoked")), (0, "accepted", True))


def many_sign_ins_at_apple(checks, stage):
    """One revocation ends the grant there, so the newest tokens are enough."""
    user, = stage.new_users(1)
    taken = collections.Counter()
    for _ in range(SIGN_INS):
        taken[put(stage, user, "apple", "authorization_code", stage.sandbox.sign_in(user)["code"])] += 1
        settled(stage, user)
    held = stage.http("GET", f"/v1/users/{user}/identities")[1]["items"][0]["credential_count"]
    checks.check(f"{SIGN_INS} sign-ins at Apple are all taken, and {held} tokens are kept",
                 list(taken) == [202] and 0 < held < SIGN_INS, (taken, held))
    link = link_of(receipt_of(stage, user), "apple")
    grants = stage.sandbox.ask("grants", "--user", user)["grants"]
    checks.equal("     after the deletion the grant is gone, as the verdict says",
                 ([grant["state"] for grant in grants], link.get("verdict")), (["revoked"], "proven"))


def made_up_token(checks, stage):
    for provider in ("apple", "plain"):
        user, = stage.new_users(1)
        put(stage, user, provider, "access_token", canary(stage.random))
        receipt = receipt_of(stage, user)
        link = link_of(receipt, provider)
        checks.equal(f"a made-up token at {provider} is not called revoked, although the provider answers success",
                     (link.get("verdict"), link.get("revoked"), "user_action" in link), ("unconfirmed", False, True))
        checks.check("     and the summary says so", f"NOT revoked: {provider}" in receipt.get("summary", "")
                     and "Every known link" not in receipt.get("summary", ""), receipt.get("summary"))


def unknown_names(checks, stage):
    """The spool brings tokens for a provider and a client id that nobody knows."""
    for provider, client, of in (("aple", None, "provider"), ("plain", "typo", "client id")):
        user, = stage.new_users(1)
        secret = canary(stage.random)
        stage.canaries.add(secret)
        stage.spool_do(
            "INSERT INTO credentials (user_id, provider, client_id, kind, secret)"
            " VALUES (:user, :provider, :client, 'refresh_token', :secret)",
            user=user, provider=provider, client=client, secret=secret)
        comes_true(lambda: not stage.spool_rows("SELECT 1 FROM credentials WHERE state = 'submitted'"))
        receipt = receipt_of(stage, user)
        link = link_of(receipt, provider)
        checks.equal(f"a token in the spool for an unknown {of} is on the user's receipt as not revoked",
                     (link.get("verdict"), link.get("revoked"), link.get("not_held", {}).get("refused_credentials")),
                     ("unrevoked", False, 1))
        checks.check("     and in the summary", f"NOT revoked: {provider}" in receipt.get("summary", ""),
                     receipt.get("summary"))


def wrong_url(checks, stage):
    """A revocation endpoint that is none is the operator's failure, and makes no user unrevocable."""
    users = stage.new_users(2)
    for user in users:
        put(stage, user, "wrong", "refresh_token", canary(stage.random))
    ids = [stage.delete(user)[1]["id"] for user in users]

    def health():
        return next(item for item in stage.http("GET", "/v1/providers")[1]["items"] if item["name"] == "wrong")
    checks.check("a wrong revocation URL opens the breaker although only two users need it",
                 comes_true(lambda: health()["state"] in ("broken", "probing")), health())
    found = stage.http("POST", "/v1/providers/wrong/check")[1]
    checks.check("     and the check names the endpoint, the answer and the setting",
                 any("/oauth2/nowhere" in text and "404" in text and "revocation_url" in text
                     for text in found.get("findings", [])), found)
    checks.check("     and nobody is erased", set(users) <= set(stage.rows_left()))
    for request in ids:
        stage.http("POST", f"/v1/requests/{request}/abandon", {"reason": "the URL is wrong"})
    checks.check("     and all is given up", comes_true(lambda: stage.open_count() == 0), stage.http("GET", "/v1/status")[1])


def made_up_beside_a_real_one(checks, stage):
    user, = stage.new_users(1)
    sign_in(stage, user)
    settled(stage, user)
    put(stage, user, "plain", "access_token", canary(stage.random))
    link = link_of(receipt_of(stage, user), "plain")
    checks.equal("a made-up token where each stands alone does not hide behind one that was revoked",
                 (live_tokens(stage, user), link.get("verdict"), link.get("revoked")), (0, "unconfirmed", False))


def wrong_client_id(checks, stage):
    """A server that rotates at each check, and a token that is stored under the other client's id."""
    stage.sandbox.ask("register-client", "--provider", "oauth2", "--client-id", "app2", "--client-secret", "app-secret")
    token, = stage.sandbox.ask("refresh-tokens", "--provider", "oauth2", "--client-id", "app2", "--count", "1")["tokens"]
    user, = stage.new_users(1)
    put(stage, user, "pair", "refresh_token", token["refresh_token"])
    before = live_tokens(stage, token["user"])
    link = link_of(receipt_of(stage, user), "pair")
    checks.check("a token under the wrong client id of a server that rotates is live before", before > 0, before)
    checks.equal("     and neither it nor its successor lives after proven",
                 (live_tokens(stage, token["user"]), link.get("verdict")), (0, "proven"))


def cut_then_lost(checks, stage):
    """A sign-in after a reported cut opens a new grant, also when the answer to its code is lost."""
    user, = stage.new_users(1)
    put(stage, user, "apple", "authorization_code", stage.sandbox.sign_in(user)["code"])
    settled(stage, user)
    notification = stage.sandbox.ask("withdraw-consent", "--user", user)
    stage.http("POST", "/v1/notifications/apple", {"payload": notification["payload"]})
    stage.sandbox.ask("fault", "--fault-rate", "1", "--fault-kinds", "response_lost", "--fault-endpoints", "token",
                      "--fault-providers", "apple", "--fault-limit", "1")
    put(stage, user, "apple", "authorization_code", stage.sandbox.sign_in(user)["code"])
    settled(stage, user)
    stage.sandbox.fault(0)
    link = link_of(receipt_of(stage, user), "apple")
    grants = stage.sandbox.ask("grants", "--user", user)["grants"]
    checks.equal("a code that is lost after a reported cut leaves a live grant, which nothing calls revoked",
                 ([grant["state"] for grant in grants], link.get("revoked"), link.get("not_held", {}).get("lost_codes")),
                 (["live"], False, 1))


def refused_while_purging(checks, stage):
    """A store keeps the deletion in `purging`; what is submitted then is refused, and the receipt says so."""
    user, = stage.new_users(1)
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("CREATE TRIGGER stop BEFORE DELETE ON posts WHEN old.author_id = '%s'"
                    " BEGIN SELECT RAISE(ABORT, 'no'); END" % user)
    request = stage.delete(user)[1]["id"]
    purges = comes_true(lambda: stage.http("GET", f"/v1/requests/{request}")[1]["state"] == "purging")
    checks.check("a store keeps a deletion in its purge", purges, stage.http("GET", f"/v1/requests/{request}")[1])
    status = put(stage, user, "plain", "refresh_token", canary(stage.random))
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("DROP TRIGGER stop")
    stage.http("POST", f"/v1/requests/{request}/retry", {})
    receipt = receipt_of(stage, user)
    checks.equal("a credential that comes while the stores are purged is refused", status, 409)
    checks.equal("     and is an addendum of the receipt",
                 [(item["provider"], item["event"], item["verdict"]) for item in receipt.get("addenda", [])],
                 [("plain", "credential_refused", "unconfirmed")])
    checks.check("     which the summary mentions, and the ledger proves",
                 "NOT revoked: plain (a credential was refused)" in receipt.get("summary", "")
                 and verify(stage, receipt["ledger"]["key"], receipt)[0] == 0, receipt)


def late_effect(checks, stage, slow):
    user, = stage.new_users(1)
    put(stage, user, "slow", "refresh_token", canary(stage.random))
    link = link_of(receipt_of(stage, user, LAG_WAIT_S), "slow")
    revocations = slow.calls.count("/revoke")
    checks.check(f"a token that works on for {LAG_S} s is revoked {revocations} times, with growing pauses",
                 link.get("verdict") == "proven" and 1 < revocations <= REVOCATIONS_MAX, (link, slow.calls))
    checks.check("     and the evidence says who refused it", "refused it after it" in link.get("evidence", ""), link)


def late_notification(checks, stage):
    """What Apple reports after the end is an addendum: the receipt of before and the one of after both verify."""
    user, = stage.new_users(1)
    token, = stage.new_tokens(1)
    put(stage, user, "apple", "refresh_token", token["refresh_token"], subject=token["subject"])
    before = receipt_of(stage, user)
    link = link_of(before, "apple")
    notification = stage.sandbox.ask("withdraw-consent", "--user", token["user"])
    status, answer = stage.http("POST", "/v1/notifications/apple", {"payload": notification["payload"]})
    checks.check("a notification after the end is taken as an echo", status == 200
                 and answer.get("effect") == "echo", (status, answer))
    after = stage.http("GET", f"/v1/requests/{before['request_id']}/receipt")[1]
    checks.equal("     the verdict on the receipt stays as it was signed",
                 (link_of(after, "apple"), after.get("stores")), (link, before.get("stores")))
    checks.equal("     what became known stands beside it",
                 [item["verdict"] for item in after.get("addenda", [])], ["proven"])
    key = after["ledger"]["key"]
    for what, receipt in (("of before", before), ("of after", after)):
        checks.equal(f"     the receipt {what} verifies", verify(stage, key, receipt)[0], 0)
    forged = json.loads(json.dumps(after))
    forged["addenda"][0]["verdict"] = "accepted"
    checks.check("     a forged addendum does not", verify(stage, key, forged)[0] != 0)
    forged["addenda"] = []
    checks.check("     nor does a receipt without it", verify(stage, key, forged)[0] != 0)


def verify(stage, key, receipt):
    path = stage.path("receipt.json")
    with open(path, "w") as file:
        json.dump(receipt, file)
    done = subprocess.run(["python3", os.path.join(ROOT, "docs/verify-ledger.py"), key, "--receipt", path],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr
