"""One provider of every family at the stand-in, a program of our own, and a directory before them all."""

import base64
import json
import os
import sqlite3
import sys

from canaries import canary
from checks import HANG_S
from sandbox import Sandbox
from stage import BINARIES
from store_servers import keep_secret
from store_stand_ins import set_fault_rate

# A provider of kind `command`: a token is a file, and one call in five fails in one of four ways.
PROGRAM = """#!{python}
import json, os, random, sys
HOME = {home!r}
ask = json.load(sys.stdin)
with open(HOME + ".calls", "ab", buffering=0) as file:
    file.write(b".")
    source = random.Random(f"{seed} {{os.lseek(file.fileno(), 0, os.SEEK_CUR)}}")
with open(HOME + ".rate") as file:
    rate = float(file.read())
fault = source.choice(["die", "unreachable", "unknown", "lost"]) if source.random() < rate else ""
if fault == "die":
    os.kill(os.getpid(), 9)
if fault in ("unreachable", "unknown"):
    print(json.dumps({{"outcome": fault}}))
    sys.exit()
token = os.path.join(HOME, ask.get("secret", "-"))
if ask["operation"] == "check":
    outcome = "live" if os.path.exists(token) else "dead"
elif ask["operation"] == "revoke":
    try:
        os.rename(token, token + ".revoked")
        os.utime(token + ".revoked")
        outcome = "revoked"
    except FileNotFoundError:
        outcome = "already_invalid"
else:
    outcome = "ok"
if fault == "lost":
    sys.exit(1)
print(json.dumps({{"outcome": outcome}}))
"""

DIRECTORY = """
[[directory]]
name = "firebase"
kind = "firebase"
project = "example-project"
key_credential = "service-account.json"
base_url = "{endpoint}/cloud/identitytoolkit"
ca_file = "{ca}"
timeout_connect = "1s"
timeout_total = "3s"
[directory.providers]
{words}
"""

PROVIDER = """
[[provider]]
name = "{name}"
{keys}
timeout_connect = "1s"
timeout_total = "3s"
"""

REMOTE = """ca_file = "{ca}"
{keys}"""


class Family:
    """How one provider is configured, and what its users hold."""

    def __init__(self, name, stand_in, word, keys, kinds, realm=None):
        self.name, self.stand_in, self.word = name, stand_in, word
        self.keys, self.kinds, self.realm = keys, kinds, realm

    def tokens(self, sandbox, count):
        """A list of {subject, credentials: [(kind, secret)]}."""
        more = ["--realm", self.realm] if self.realm else []
        if self.stand_in != "apple":
            more += ["--provider", self.stand_in]
        if "client" in self.keys:
            more += ["--client-id", self.keys["client"]]
        made = sandbox.ask("tokens", "--count", str(count), "--user-prefix", f"{self.name}-", *more)
        return [dict(subject=self._subject(sandbox, token), log_subject=token["subject"], credentials=[
            (kind, self._secret(token, kind)) for kind in self.kinds]) for token in made["tokens"]]

    def _subject(self, sandbox, token):
        """Graph knows users by their object id, which is in the id token."""
        if self.stand_in != "microsoft":
            return token["subject"]
        made = sandbox.ask("sign-in", "--provider", self.stand_in, "--user", token["user"])
        claims = made["id_token"].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        return f"{claims['oid']}.{claims['tid']}"

    def _secret(self, token, kind):
        secret = token[kind]
        return f"{secret}:{token['token_secret']}" if "token_secret" in token else secret

    def section(self, endpoint, ca):
        lines = [f"{key} = {value}" for key, value in self.keys.items() if key != "client"]
        lines = "\n".join(lines).replace("{endpoint}", endpoint)
        return PROVIDER.format(name=self.name, keys=REMOTE.format(ca=ca, keys=lines))


def family(name, stand_in, word, client, secret, kinds, realm=None, **keys):
    keys = {"kind": f'"{stand_in}"', "client_ids": f'["{client}"]', "client": client,
            "client_secret_credential": f'"{name}-secret"', **keys}
    made = Family(name, stand_in, word, keys, kinds, realm)
    made.secret = secret
    return made


BOTH = ("refresh_token", "access_token")
APPLE = Family("apple", "apple", "apple.com", {}, ("refresh_token",))
# Rotation at a refresh loses tokens to lost answers, truly: here nobody refreshes.
OTHERS = [
    family("google", "google", "google.com", "1234567890-web.apps.googleusercontent.com",
           "google-secret", ("refresh_token",), base_url='"{endpoint}/google"'),
    family("facebook", "facebook", "facebook.com", "1234567890123456", "facebook-app-secret",
           ("access_token",), base_url='"{endpoint}/facebook"',
           limited_login_url='"{endpoint}/facebook"', uninstall_url='"{endpoint}/facebook"'),
    family("microsoft", "microsoft", "microsoft.com", "11111111-2222-4333-8444-555555555555",
           "microsoft-secret", ("refresh_token",), base_url='"{endpoint}/microsoft"', graph_url='"{endpoint}/microsoft"',
           graph_tenants='["c0c0c0c0-0000-4000-8000-000000000001"]'),
    family("github", "github", "github.com", "Ov23liSandboxOAuthApp", "github-secret",
           ("access_token",), base_url='"{endpoint}/github"', login_url='"{endpoint}/github"'),
    # X says of every token that it is revoked, so one that an application stored stays unconfirmed.
    family("x", "x", "twitter.com", "x-client", "x-secret", BOTH, base_url='"{endpoint}/x"', revocation_deadline='"0s"'),
    family("x-legacy", "x", "oidc.x-legacy", "x-consumer", "x-consumer-secret", ("access_token",),
           "oauth1", authorization='"oauth1a"', base_url='"{endpoint}/x"'),
    family("sso", "oauth2", "oidc.sso", "app", "app-secret", BOTH, issuer='"{endpoint}/oauth2"',
           check='"introspection"'),
    family("okta", "oauth2", "oidc.okta", "preset-app", "preset-secret", ("refresh_token",),
           preset='"okta"', issuer='"{endpoint}/oauth2"'),
]

# A client of each family that is no more, and what its calls are answered: id, status and body.
GONE_CLIENTS = {
    "apple": ("com.example.gone", 400, {"error": "invalid_client"}),
    "google": ("1234567890-gone.apps.googleusercontent.com", 401, {"error": "deleted_client"}),
    "facebook": ("1234567890129999", 400, {"error": {
        "message": "Error validating application.", "type": "OAuthException", "code": 101}}),
    "microsoft": ("11111111-2222-4333-8444-999999999999", 401, {
        "error": "invalid_client", "error_codes": [7000222]}),
    "github": ("Ov23liGoneOAuthApp00", 401, {"message": "Bad credentials"}),
    "x": ("x-gone", 401, {"error": "unauthorized_client"}),
    "x-legacy": ("x-gone-consumer", 403, {"errors": [{"code": 416, "message": "suspended application"}]}),
    "plain": ("gone-app", 401, {"error": "invalid_client"}),
    "introspected": ("gone-app", 401, {"error": "invalid_client"}),
}
# Further directories of the family that has some: one without consent, and one that answers nothing.
WITHOUT_CONSENT, SILENT = "c0c0c0c0-0000-4000-8000-000000000403", "c0c0c0c0-0000-4000-8000-000000000504"
NO_CONSENT = (403, {"error": {
    "code": "Authorization_RequestDenied",
    "message": "Insufficient privileges to complete the operation."}})


class Families:
    """Every family of providers in the configuration of one stage."""

    def __init__(self, stage, fault_rate, *fault_options):
        self.stage, self.sandbox = stage, stage.sandbox
        # One revocation at Graph is six calls: with a stand-in of its own an attempt there fails as
        # often as one elsewhere, and not three times out of four.
        self.graph = Sandbox(BINARIES, *fault_options, "--fault-rate", str(fault_rate / 5))
        self.program, self.vault = stage.path("provider.py"), stage.path("provider")
        os.makedirs(self.vault)
        with open(self.program, "w") as file:
            file.write(PROGRAM.format(
                python=sys.executable, home=self.vault, seed=stage.random.getrandbits(64)))
        os.chmod(self.program, 0o755)
        set_fault_rate(self.vault, fault_rate)
        self.all = [APPLE, *OTHERS]
        self.names = [made.name for made in self.all] + ["command"]
        self.sandbox.ask("register-client", "--provider", "oauth2", "--client-id", "preset-app",
                         "--client-secret", "preset-secret")
        self._configure()

    def _configure(self):
        stage, sandbox = self.stage, self.sandbox
        keep_secret(stage, "service-account.json", json.dumps(sandbox.ask("service-account")))
        for made in OTHERS:
            keep_secret(stage, f"{made.name}-secret", made.secret)
        words = [f'"{made.word}" = "{made.name}"' for made in self.all]
        text = DIRECTORY.format(endpoint=sandbox.endpoint, ca=sandbox.path("ca.pem"),
                                words="\n".join([*words, '"oidc.command" = "command"']))
        for made in OTHERS:
            place = self._place(made)
            text += made.section(place.endpoint, place.path("ca.pem"))
        text += PROVIDER.format(name="command", keys="\n".join([
            'kind = "command"', f'program = "{self.program}"', 'client_ids = ["app"]',
            "can_check = true", 'user_action_url = "https://sso.example.com/apps"',
            'user_action_text = "Open the page and remove the app."']))
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(text)

    def _place(self, made):
        return self.graph if made.stand_in == "microsoft" else self.sandbox

    def sign_up(self, users):
        """Each user signs in at one provider, in turn, and has an account at the directory."""
        rows, accounts, self.homes = [], [], {}
        for place, name in enumerate(self.names):
            mine = users[place::len(self.names)]
            for user, token in zip(mine, self._tokens(place, len(mine))):
                subject = token["subject"]
                self.homes[user] = (name, token.get("log_subject", subject))
                for kind, secret in token["credentials"]:
                    self.stage.canaries.add(secret)
                    rows.append((user, name, subject, kind, secret))
                # Firebase names a user of Microsoft by the object id alone.
                raw_id = subject.partition(".")[0] if self._word(place) == "microsoft.com" else subject
                links = {self._word(place): raw_id}
                if len(accounts) % 2:
                    links["password"] = user
                if len(accounts) % 5 == 0:
                    links["yahoo.com"] = canary(self.stage.random)
                    self.stage.canaries.add(links["yahoo.com"])
                accounts.append({"user": user, "links": links})
        self.accounts = accounts
        self._add(accounts)
        database = sqlite3.connect(self.stage.spool, timeout=HANG_S)
        with database:
            database.executemany("INSERT INTO credentials (user_id, provider, subject, kind, secret)"
                                 " VALUES (?, ?, ?, ?, ?)", rows)
        database.close()
        return len(rows)

    def _word(self, place):
        return self.all[place].word if place < len(self.all) else "oidc.command"

    def _tokens(self, place, count):
        if place < len(self.all):
            return self.all[place].tokens(self._place(self.all[place]), count)
        made = [canary(self.stage.random) for _ in range(count)]
        for token in made:
            open(os.path.join(self.vault, token), "w").close()
        return [dict(subject=token, credentials=[("refresh_token", token)]) for token in made]

    def _add(self, accounts):
        path = self.stage.path("accounts.json")
        with open(path, "w") as file:
            json.dump({"accounts": accounts}, file)
        self.sandbox.ask("cloud", "--add", path)

    # What happened, by those to whom it happened

    def revoked_at(self):
        """When the last token of each user was revoked, by the log of the provider."""
        first = {}
        for call in self.sandbox.calls() + self.graph.calls():
            if call["endpoint"] == "revoke" and call["outcome"] == "revoked" and "subject" in call:
                first.setdefault((call["subject"], call.get("token_sha256_prefix")), call["time_unix_ms"])
        last = {}
        for (subject, _), at in first.items():
            last[subject] = max(at, last.get(subject, 0))
        for user, (name, subject) in self.homes.items():
            path = os.path.join(self.vault, f"{subject}.revoked")
            if name == "command" and os.path.exists(path):
                last[subject] = os.stat(path).st_mtime_ns / 1e6
        return {user: last[subject] for user, (_, subject) in self.homes.items() if subject in last}

    def looked_up_at(self):
        """When the directory was first asked about each user, and answered."""
        first = {}
        for call in self.sandbox.calls():
            if call["provider"] == "cloud" and call["outcome"] == "checked":
                first.setdefault(call.get("subject"), call["time_unix_ms"])
        return first

    def calm(self):
        """From now on nothing fails."""
        self.sandbox.fault(0)
        self.graph.fault(0)
        set_fault_rate(self.vault, 0)

    def close(self):
        self.graph.close()
