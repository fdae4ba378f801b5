"""Two OAuth servers that others wrote, by configuration alone; judged by their own stores."""

import os

from checks import comes_true
from oauth_server import OAuthServer
from scenario import scenario
from stage import Stage

CLIENTS = {"web": "secret-of-the-web-client-0001", "ios": "secret-of-the-ios-client-0001"}
PROVIDER = """
[[provider]]
name = "{name}"
kind = "oauth2"
issuer = "{issuer}"
client_ids = ["{client}"]
client_secret_credential = "{client}-secret"
check = "{check}"
revocation_deadline = "0s"
ca_file = "{ca}"
timeout_connect = "20s"
timeout_total = "60s"
"""
USERS = ["anna", "bert", "cleo", "dora", "emil", "fred", "gerd"]


@scenario(gate={}, long=True)
def oauth_servers(checks, seed):
    servers = []
    try:
        # Authlib's library: introspects both kinds of token, and gives out new refresh tokens.
        canaille = OAuthServer(
            "canaille_server.py", CLIENTS, USERS, "/oauth/authorize", "openid profile")
        servers.append(canaille)
        # OAuthLib: introspects access tokens only; a refresh token that comes twice ends them all.
        toolkit = OAuthServer("django_server.py", CLIENTS, USERS, "/authorize/", "read")
        servers.append(toolkit)
        stage = Stage(checks, seed)
        try:
            play(checks, stage, canaille, toolkit)
            stage.scan()
        finally:
            stage.close()
    finally:
        for server in servers:
            server.close()


def play(checks, stage, canaille, toolkit):
    providers = [Provider(checks, stage, "canaille", canaille, "web", "introspection"),
                 Provider(checks, stage, "toolkit", toolkit, "web", "refresh"),
                 Provider(checks, stage, "toolkit-ios", toolkit, "ios", "introspection")]
    # A refresh proves nothing of the access token that came with a code.
    providers[1].verdict_of_code = "accepted"
    stage.starts()
    for provider in providers:
        provider.can_be_reached()
    for provider in providers[:2]:
        provider.code("anna")
        provider.refresh_token("bert")
        provider.two_sign_ins("cleo")
        provider.revoked_before("dora")
        provider.stale_code("emil")
    providers[0].access_token("fred")
    providers[2].access_token("fred")
    # "Inactive" is all that this server says of any refresh token, so nothing may follow from it.
    providers[2].unanswerable_refresh_token("gerd")
    calls_were_made(checks, "canaille", canaille, [
        "GET /.well-known/openid-configuration 200", "POST /oauth/token 200",
        "POST /oauth/introspect 200", "POST /oauth/revoke 200"])
    calls_were_made(checks, "toolkit", toolkit, [
        "GET /.well-known/oauth-authorization-server 200", "POST /token/ 200",
        "POST /introspect/ 200", "POST /revoke_token/ 200"])


def calls_were_made(checks, name, server, expected):
    calls = server.calls()
    missing = [call for call in expected if call not in calls]
    checks.equal(f"{name}: discovery, exchange, refresh, introspection, revocation were called",
                 missing, [])


class Provider:
    """One configured provider, and what is tried at it."""

    def __init__(self, checks, stage, name, server, client, check):
        self.checks, self.stage, self.name = checks, stage, name
        self.server, self.client = server, client
        self.verdict_of_code = "proven"
        secret = stage.path(f"credentials/{client}-secret")
        with open(secret, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(CLIENTS[client])
        stage.canaries.add(CLIENTS[client])
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(PROVIDER.format(name=name, issuer=server.issuer, client=client, check=check,
                                       ca=server.path("ca.pem")))

    def can_be_reached(self):
        status, body = self.stage.http("POST", f"/v1/providers/{self.name}/check", {})
        self.checks.check(f"{self.name}: its own check finds nothing wrong",
                          status == 200 and not body["findings"], body)

    # What an application hands in

    def sign_in(self, account):
        signed_in = self.server.sign_in(account, self.client)
        self.stage.canaries.add(signed_in["code"], signed_in["code_verifier"])
        return signed_in

    def tokens(self, account):
        tokens = self.server.exchange(self.sign_in(account), self.client)
        self.stage.canaries.add(tokens["refresh_token"], tokens["access_token"])
        return tokens

    def store(self, user, **credential):
        return self.stage.http("PUT", f"/v1/users/{user}/identities/{self.name}",
                               dict(credential, client_id=self.client))

    def store_code(self, user, account):
        signed_in = self.sign_in(account)
        secret = signed_in.pop("code")
        return self.store(user, kind="authorization_code", secret=secret, **signed_in)

    def settled(self, user):
        """The state of the one identity at this provider, once its code was exchanged or refused."""
        def state():
            items = self.stage.http("GET", f"/v1/users/{user}/identities")[1]["items"]
            return [item["state"] for item in items]

        comes_true(lambda: "pending" not in state())
        return state()

    # What is judged

    def live(self, account):
        known = self.server.tokens(account, self.client)
        self.stage.canaries.add(*(token["token"] for token in known))
        return [token["kind"] for token in known if token["live"]]

    def is_live(self, what, account):
        self.checks.check(f"{self.name}: {what}: the server has a live token", self.live(account))

    def ends(self, what, user, account, verdict):
        """Deletes the user and compares the verdict with what the server's store says."""
        status, body = self.stage.delete(user)
        self.checks.check(f"{self.name}: {what}: the deletion is taken", status in (200, 201, 202), body)

        def answer():
            return self.stage.http("GET", f"/v1/requests/{body['id']}")[1]

        done = comes_true(lambda: answer()["state"] == "completed", pause=0.1)
        last = answer()
        self.checks.check(f"{self.name}: {what}: it is completed", done, (last, self.stage.log()[-2000:]))
        self.checks.equal(f"{self.name}: {what}: the verdict is {verdict}",
                          [identity.get("verdict") for identity in last["identities"]], [verdict])
        self.checks.equal(f"{self.name}: {what}: the server has no live token", self.live(account), [])
        refresh = [token["token"] for token in self.server.tokens(account, self.client)
                   if token["kind"] == "refresh_token"]
        self.checks.check(f"{self.name}: {what}: the server refuses every refresh token",
                          all(self.server.refuses(token, self.client) for token in refresh))
        self.checks.check(f"{self.name}: {what}: the user's rows are erased",
                          user not in self.stage.rows_left())

    # The cases

    def code(self, account):
        user, = self.stage.new_users(1)
        status, body = self.store_code(user, account)
        self.checks.check(f"{self.name}: a code: it is taken", status in (200, 201, 202), body)
        self.checks.equal(f"{self.name}: a code: it is exchanged", self.settled(user), ["live"])
        self.is_live("a code", account)
        self.ends("a code", user, account, self.verdict_of_code)

    def refresh_token(self, account):
        user, = self.stage.new_users(1)
        self.store(user, kind="refresh_token", secret=self.tokens(account)["refresh_token"])
        self.is_live("a refresh token", account)
        self.ends("a refresh token", user, account, "proven")

    def access_token(self, account):
        user, = self.stage.new_users(1)
        self.store(user, kind="access_token", secret=self.tokens(account)["access_token"])
        self.is_live("an access token", account)
        self.ends("an access token", user, account, "proven")

    def two_sign_ins(self, account):
        user, = self.stage.new_users(1)
        for _ in range(2):
            self.store_code(user, account)
            self.settled(user)
        self.is_live("two sign-ins", account)
        self.ends("two sign-ins", user, account, self.verdict_of_code)

    def revoked_before(self, account):
        user, = self.stage.new_users(1)
        tokens = self.tokens(account)
        self.store(user, kind="refresh_token", secret=tokens["refresh_token"])
        self.server.revoke(tokens["refresh_token"], self.client)
        self.checks.equal(f"{self.name}: revoked before: the server has no live token",
                          self.live(account), [])
        self.ends("revoked before", user, account, "token_dead")

    def stale_code(self, account):
        """A code that somebody has used is refused, and nothing is stored for it."""
        user, = self.stage.new_users(1)
        signed_in = self.sign_in(account)
        tokens = self.server.exchange(signed_in, self.client)
        secret = signed_in.pop("code")
        self.store(user, kind="authorization_code", secret=secret, **signed_in)
        self.checks.equal(f"{self.name}: a used code: it is refused", self.settled(user), ["dead"])
        self.server.revoke(tokens["refresh_token"], self.client)

    def unanswerable_refresh_token(self, account):
        user, = self.stage.new_users(1)
        self.store(user, kind="refresh_token", secret=self.tokens(account)["refresh_token"])
        self.is_live("a refresh token that it does not introspect", account)
        # It answers success for any token, and nobody saw this one live.
        self.ends("a refresh token that it does not introspect", user, account, "unconfirmed")
