"""An outage of half an hour in each of six forms, at each kind of provider and at a directory: nobody is given up,
there is one entry for it within five minutes, and it heals by itself.

Judged by the provider's own table of live tokens, and by the service's own times of its entries.
"""

import copy
import json
import os
import ssl
import sys
import time

from canaries import canary
from checks import HOLDS_BARS, comes_true
from families import BOTH, DIRECTORY, OTHERS, PROGRAM, PROVIDER, Family
from proxies import Proxy
from sandbox import CLIENT
from scenario import scenario
from stage import Stage
from store_servers import keep_secret, make_certificate
from store_stand_ins import set_fault_rate

PAGE = ("text/html", b"<html><title>Sorry</title></html>")
# Status, content type and body of each answer; none for a certificate that nobody trusts.
FORMS = {
    "json-403": (403, "application/json", b'{"message":"Forbidden"}'),
    "page-403": (403, *PAGE),
    "page-200": (200, *PAGE),
    "limit-429": (429, "application/json", b'{"message":"Too many requests"}'),
    "error-500": (500, "text/plain", b""),
    "tls": None,
}
# The same as a program says it.
SAYINGS = {
    "json-403": "print(json.dumps({'outcome': 'unknown'})); sys.exit()",
    "page-403": "sys.exit(1)",
    "page-200": "print('<html><title>Sorry</title></html>'); sys.exit()",
    "limit-429": "print(json.dumps({'outcome': 'throttled', 'retry_after_s': 60})); sys.exit()",
    "error-500": "os.kill(os.getpid(), 9)",
    "tls": "sys.exit(69)",
}
# From the first call that is refused, as all are, to the alarm.
ALARM_S = 300
# Five refusals (Limits.refusalsMax) that are 225 s apart (Limits.refusalSpacing) take 15 minutes.
MINUTES_MIN = 16
# Long enough for the longest pause of a breaker, and for all who wait behind its probe.
HEALED_S = 1200
APPLE = Family("apple", "apple", "apple.com", {
    "kind": '"apple"', "team_id": '"ABCDE12345"', "key_id": '"KEY1234567"', "client": CLIENT,
    "client_ids": f'["{CLIENT}"]', "private_key_credential": '"apple-key.p8"', "base_url": '"{endpoint}"'},
    ("refresh_token",))


def oauth(name, **more):
    """Every URL is given, since discovery would lead past the outage."""
    return Family(name, "oauth2", None, {
        "kind": '"oauth2"', "client": "app", "client_ids": '["app"]', "client_secret_credential": '"sso-secret"',
        "token_url": '"{endpoint}/oauth2/token"', "revocation_url": '"{endpoint}/oauth2/revoke"', **more}, BOTH)


# Who asks about no token waits for nothing more after a success.
KINDS = [APPLE, *(made for made in OTHERS if made.stand_in != "oauth2"),
         oauth("plain", on_unrevocable='"proceed"', revocation_deadline='"0s"'),
         oauth("introspected", check='"introspection"', introspection_url='"{endpoint}/oauth2/introspect"')]


class Outage(Proxy):
    """Lets all calls through before and after."""

    def __init__(self, form, stage):
        self.form, self.is_on, self.calls = FORMS[form], False, 0
        self.trusted = make_certificate(directory(stage, form))
        self.foreign = make_certificate(directory(stage, f"{form}-foreign"))
        super().__init__(int(stage.sandbox.endpoint.rpartition(":")[2]), trusting(stage), *self.trusted)

    def turn(self, is_on):
        self.is_on = is_on
        if self.form is None:
            self.server.socket.context.load_cert_chain(*(self.foreign if is_on else self.trusted))

    def answer(self, method, path, body, headers):
        if not self.is_on:
            # OAuth 1.0a signs the host, too (RFC 5849 §3.4.1.2).
            return self.pass_on(method, path, body, headers | {"Host": f"localhost:{self.port}"})
        self.calls += 1
        if self.form is None:
            raise ConnectionResetError("a connection of before")
        status, kind, text = self.form
        return status, [("Content-Type", kind)], text


def directory(stage, name):
    path = stage.path(f"app/{name}")
    os.makedirs(path)
    return path


def trusting(stage):
    return ssl.create_default_context(cafile=stage.sandbox.path("ca.pem"))


class Program(Family):
    """A program of the operator's own, whose tokens are files."""

    def __init__(self, stage, form):
        super().__init__(f"command-{form}", None, None, {
            "kind": '"command"', "client": "app", "client_ids": '["app"]', "can_check": "true",
            "user_action_url": '"https://sso.example.com/apps"', "user_action_text": '"Remove the app."'},
            ("refresh_token",))
        self.random, self.vault, program = stage.random, stage.path(self.name), stage.path(f"{self.name}.py")
        os.makedirs(self.vault)
        set_fault_rate(self.vault, 0)
        read = "ask = json.load(sys.stdin)\n"
        text = PROGRAM.format(python=sys.executable, home=self.vault, seed=0)
        assert read in text
        with open(program, "w") as file:
            file.write(text.replace(read, f"{read}if os.path.exists(HOME + '.outage'):\n    {SAYINGS[form]}\n"))
        os.chmod(program, 0o755)
        self.keys["program"] = f'"{program}"'

    def turn(self, is_on):
        if is_on:
            open(f"{self.vault}.outage", "w").close()
        else:
            os.remove(f"{self.vault}.outage")

    def tokens(self, sandbox, count):
        made = [canary(self.random) for _ in range(count)]
        for token in made:
            open(os.path.join(self.vault, token), "w").close()
        return [dict(subject=token, log_subject=token, credentials=[("refresh_token", token)]) for token in made]

    def section(self, endpoint, ca):
        return PROVIDER.format(name=self.name, keys="\n".join(
            f"{key} = {value}" for key, value in self.keys.items() if key != "client"))


class Trial:
    """The users of one provider or directory during one form of an outage; `provider` has their tokens."""

    def __init__(self, stage, name, made, form, provider=None):
        self.stage, self.name, self.made, self.form, self.provider = stage, name, made, form, provider or name
        self.users = []

    def sign_up(self, count):
        stage, made = self.stage, self.made
        for user, token in zip(stage.new_users(count), made.tokens(stage.sandbox, count)):
            for kind, secret in token["credentials"]:
                stage.canaries.add(secret)
                status, answer = stage.http("PUT", f"/v1/users/{user}/identities/{self.provider}", {
                    "kind": kind, "secret": secret, "subject": token["subject"], "client_id": made.keys["client"]})
                assert status in (200, 201, 202, 204), answer
            self.users.append({"user": user, "subject": token["log_subject"]})

    def delete(self, users):
        for user in users:
            status, answer = self.stage.delete(user["user"])
            assert status == 202, answer
            user["request"] = answer["id"]

    def shown(self):
        return [self.stage.http("GET", f"/v1/requests/{user['request']}")[1]
                for user in self.users if "request" in user]

    def left(self):
        return sum(one["state"] != "completed" for one in self.shown())

    def given_up(self):
        """How many requests went on without an answer, or ended a revocation at the provider that gives none."""
        return sum(one["state"] not in ("accepted", "revoking") or any(
            step.get("verdict") and step["kind"] == "revoke" and step.get("provider") == self.name
            for step in one["steps"]) for one in self.shown()[1:])

    def entries(self):
        """When users of it were accepted during the outage, and the entries that it begins and ends."""
        entries = list(journal(self.stage))
        requests = {f"request {user['request'][:18]} accepted" for user in self.users[1:]}
        return [[at for at, message in entries if is_one(message)] for is_one in (
            lambda message: message in requests,
            lambda message: message.startswith(f"users of provider {self.name} are not served"),
            lambda message: message == f"outage at provider {self.name} ended")]

    def live_tokens(self):
        """By the provider's own table."""
        subjects = {user["subject"] for user in self.users}
        if isinstance(self.made, Program):
            return sum(os.path.exists(os.path.join(self.made.vault, subject)) for subject in subjects)
        return sum(grant.get("live_tokens", 0) for grant in self.stage.sandbox.ask(
            "grants", "--provider", self.made.stand_in)["grants"] if grant["subject"] in subjects)


def journal(stage):
    """(seconds, message) of each entry, by the service's clock."""
    for line in stage.log().splitlines():
        if line.startswith("{") and line.endswith("}"):
            entry = json.loads(line)
            yield int(entry["__REALTIME_TIMESTAMP"]) / 1e6, entry["MESSAGE"]


def of_providers(stage, outages):
    """Every kind of provider in every form, at one daemon."""
    found = []
    for made in OTHERS:
        keep_secret(stage, f"{made.name}-secret", made.secret)
    for form, outage in outages.items():
        for kind in [*KINDS, Program(stage, form)]:
            made = copy.copy(kind)
            made.name = f"{kind.name.removesuffix('-' + form)}-{form}"
            found.append(Trial(stage, made.name, made, form))
            append(stage, made.section(f"https://localhost:{outage.port}", outage.trusted[0]))
    return found


def of_directory(stage, form, outage):
    """A directory of a daemon of its own: every deletion asks it."""
    sandbox, roots = stage.sandbox, stage.path("app/roots.pem")
    keep_secret(stage, "service-account.json", json.dumps(sandbox.ask("service-account")))
    # Its tokens come from the sandbox itself.
    with open(roots, "w") as file:
        for path in (sandbox.path("ca.pem"), outage.trusted[0]):
            with open(path) as root:
                file.write(root.read())
    append(stage, DIRECTORY.format(endpoint=f"https://localhost:{outage.port}", ca=roots,
                                   words='"apple.com" = "apple"'))
    made = copy.copy(APPLE)
    made.name = f"directory-{form}"
    return Trial(stage, "firebase", made, form, "apple")


def append(stage, text):
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(text)


def open_accounts(trials):
    """Those of a directory's users, each with a link to what the user has at Apple."""
    for trial in trials:
        path = trial.stage.path("accounts.json")
        with open(path, "w") as file:
            json.dump({"accounts": [{"user": user["user"], "links": {"apple.com": user["subject"]}}
                                    for user in trial.users]}, file)
        trial.stage.sandbox.ask("cloud", "--add", path)


@scenario(bars=True, least={"minutes": (MINUTES_MIN, "five refusals take 15 minutes, fewer show nothing of a token that is given up")})
def long_outages(checks, seed, minutes=30.0, users=3):
    stage = Stage(checks, seed)
    outages = {form: Outage(form, stage) for form in FORMS}
    stages = {form: Stage(checks, f"{seed} {form}", stage.sandbox) for form in FORMS}
    try:
        directories = [of_directory(stages[form], form, outage) for form, outage in outages.items()]
        trials = of_providers(stage, outages) + directories
        for one in (stage, *stages.values()):
            one.options = ["--log-format", "json"]
            assert one.starts(), one.log()
        for trial in trials:
            trial.sign_up(1 + users)
        open_accounts(directories)
        for trial in trials:
            trial.delete(trial.users[:1])
        served = comes_true(lambda: not any(trial.left() for trial in trials), 600, 1)
        if not checks.check("every provider serves a user before", served, unserved(trials)):
            return
        hold(checks, trials, outages, minutes)
        for one in (stage, *stages.values()):
            one.scan()
    finally:
        for outage in outages.values():
            outage.close()
        for one in (*stages.values(), stage):
            one.close(keep=bool(checks.failed))


def hold(checks, trials, outages, minutes):
    """The outage, its end, and what each provider shows of it."""
    switches = [*outages.values(), *(trial.made for trial in trials if isinstance(trial.made, Program))]
    for switch in switches:
        switch.turn(True)
    for trial in trials:
        trial.delete(trial.users[1:])
    time.sleep(minutes * 60)
    given_up = [trial.given_up() for trial in trials]
    stages = list(dict.fromkeys(trial.stage for trial in trials))
    checks.check("the alarm is there", all("provider_broken" in alarms(stage) for stage in stages),
                 [alarms(stage) for stage in stages])
    over = time.time()
    for switch in switches:
        switch.turn(False)
    healed = time.monotonic()
    comes_true(lambda: all(stage.open_count() == 0 for stage in stages), HEALED_S, 1)
    healed = time.monotonic() - healed
    print(f"{'provider':14} {'form':10} {'given up':>8} {'entries':>7} {'after':>6} {'ended':>5} {'open':>4} {'live':>4}")
    for trial, count in zip(trials, given_up):
        accepted, began, ended = trial.entries()
        after = min(began, default=float("inf")) - min(accepted)
        left, live = trial.left(), trial.live_tokens()
        name = f"{trial.name.removesuffix('-' + trial.form)}-{trial.form}"
        print(f"{name.removesuffix('-' + trial.form):14} {trial.form:10} {count:8} {len(began):7} {after:6.0f} {len(ended):5}"
              f" {left:4} {live:4}")
        checks.equal(f"{name}: nobody is given up, one entry begins and one ends, nobody and nothing is left",
                     (count, len(began), len(ended), left, live), (0, 1, 1, 0, 0))
        checks.check(f"{name}: the entry comes during the outage", min(accepted) <= min(began, default=over + 1) <= over,
                     (accepted, began, over))
        # No call is before its request, so this is no shorter than from the first call.
        if HOLDS_BARS:
            checks.check(f"{name}: the entry comes within {ALARM_S} s", after <= ALARM_S, after)
    checks.check("the alarm is gone", comes_true(
        lambda: not any("provider_broken" in alarms(stage) for stage in stages)))
    print(f"healed after {healed:.0f} s; calls during the outage: "
          f"{ {form: outage.calls for form, outage in outages.items()} }")


def alarms(stage):
    return stage.http("GET", "/v1/status")[1]["alarms"]


def unserved(trials):
    """What each provider lacks."""
    return "\n".join(f"{trial.name}: {one['state']} {[step.get('last_error') for step in one['steps']]}"
                     for trial in trials for one in trial.shown() if one["state"] != "completed")
