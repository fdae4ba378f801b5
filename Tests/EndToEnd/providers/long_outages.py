"""An outage of half an hour in each of six forms, at each vendor and at OAuth 2: nobody is given up, there is one entry
for it, and it heals by itself.

Judged by the provider's own table of live tokens.
"""

import copy
import os
import ssl
import time

from checks import comes_true
from families import BOTH, OTHERS, Family
from proxies import Proxy
from sandbox import CLIENT
from scenario import scenario
from stage import Stage
from store_servers import keep_secret, make_certificate

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


@scenario()
def long_outages(checks, seed, minutes=30.0, users=3):
    stage = Stage(checks, seed)
    outages = {form: Outage(form, stage) for form in FORMS}
    try:
        for made in OTHERS:
            keep_secret(stage, f"{made.name}-secret", made.secret)
        sections = {}
        for form, outage in outages.items():
            for kind in KINDS:
                made = copy.copy(kind)
                made.name = f"{kind.name}-{form}"
                sections[made.name] = (made, form)
                with open(stage.path("expunged.toml"), "a") as file:
                    file.write(made.section(f"https://localhost:{outage.port}", outage.trusted[0]))
        assert stage.starts(), stage.log()
        signed_up = {name: sign_up(stage, made, 1 + users) for name, (made, _) in sections.items()}
        before = {name: found[:1] for name, found in signed_up.items()}
        during = {name: found[1:] for name, found in signed_up.items()}
        begin(stage, before)
        served = comes_true(lambda: stage.open_count() == 0)
        checks.check("every provider serves a user before", served, unserved(stage, before))
        if not served:
            return
        for outage in outages.values():
            outage.turn(True)
        begin(stage, during)
        time.sleep(minutes * 60)
        states = {name: [stage.http("GET", f"/v1/requests/{user['request']}")[1] for user in found]
                  for name, found in during.items()}
        log, alarms = stage.log(), stage.http("GET", "/v1/status")[1]["alarms"]
        for outage in outages.values():
            outage.turn(False)
        healed = time.monotonic()
        comes_true(lambda: stage.open_count() == 0, HEALED_S)
        healed = time.monotonic() - healed
        later = stage.log()
        print(f"{'provider':14} {'form':10} {'given up':>8} {'entries':>7} {'ended':>5} {'open':>4} {'live':>4}")
        for name, (made, form) in sections.items():
            given_up = sum(any(step.get("verdict") for step in one["steps"] if step["kind"] == "revoke")
                           or one["state"] not in ("accepted", "revoking") for one in states[name])
            began = log.count(f"users of provider {name} are not served")
            ended = later.count(f"provider {name} answers again")
            left = sum(stage.http("GET", f"/v1/requests/{user['request']}")[1]["state"] != "completed"
                       for user in before[name] + during[name])
            live = live_tokens(stage, made, before[name] + during[name])
            print(f"{name.removesuffix('-' + form):14} {form:10} {given_up:8} {began:7} {ended:5} {left:4} {live:4}")
            checks.equal(f"{name}: nobody is given up, one entry begins and one ends, nobody and nothing is left",
                         (given_up, began, ended, left, live), (0, 1, 1, 0, 0))
        checks.check("the alarm was there", "provider_broken" in alarms, alarms)
        checks.check("     and is gone", comes_true(
            lambda: "provider_broken" not in stage.http("GET", "/v1/status")[1]["alarms"]))
        print(f"healed after {healed:.0f} s; calls during the outage: "
              f"{ {form: outage.calls for form, outage in outages.items()} }")
        stage.scan()
    finally:
        for outage in outages.values():
            outage.close()
        stage.close(keep=bool(checks.failed))


def sign_up(stage, made, count):
    """Users who hold tokens of one provider."""
    found = []
    for user, token in zip(stage.new_users(count), made.tokens(stage.sandbox, count)):
        for kind, secret in token["credentials"]:
            stage.canaries.add(secret)
            status, answer = stage.http("PUT", f"/v1/users/{user}/identities/{made.name}", {
                "kind": kind, "secret": secret, "subject": token["subject"], "client_id": made.keys["client"]})
            assert status in (200, 201, 202, 204), answer
        found.append({"user": user, "subject": token["log_subject"]})
    return found


def begin(stage, users):
    for user in (one for found in users.values() for one in found):
        status, answer = stage.delete(user["user"])
        assert status == 202, answer
        user["request"] = answer["id"]


def unserved(stage, users):
    """What each provider lacks."""
    found = {name: stage.http("GET", f"/v1/requests/{one['request']}")[1] for name, (one, *_) in users.items()}
    return "\n".join(f"{name}: {one['state']} {[step.get('last_error') for step in one['steps']]}"
                     for name, one in found.items() if one["state"] != "completed")


def live_tokens(stage, made, users):
    """By the provider's own table."""
    subjects = {user["subject"] for user in users}
    return sum(grant.get("live_tokens", 0) for grant in stage.sandbox.ask("grants", "--provider", made.stand_in)["grants"]
               if grant["subject"] in subjects)
