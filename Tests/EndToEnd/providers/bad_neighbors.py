"""One client, directory or user that a provider refuses, or does not answer, beside healthy ones of every kind.

The healthy ones are erased while the others wait, by as many revocations, and no provider is called broken.
Judged by the sandbox's log of calls and its table of live tokens.
"""

import base64
import collections
import copy
import itertools
import json
import os
import ssl
import threading
import time
import urllib.parse
import uuid

from canaries import canary
from checks import HANG_S, HOLDS_BARS, comes_true
from families import GONE_CLIENTS, NO_CONSENT, OTHERS, SILENT, WITHOUT_CONSENT
from long_outages import KINDS
from proxies import Proxy
from scenario import scenario
from stage import Stage
from store_servers import keep_secret, make_certificate

# A run takes about as long on an idle machine; below it everything is noise.
ALONE_S_MIN = 1.0
REFUSED = (400, {"error": "invalid_request"})


class Sieve(Proxy):
    """Answers by itself each call that has one of its words anywhere, and passes on all others."""

    def __init__(self, stage, name):
        place = stage.path(f"app/{name}")
        os.makedirs(place)
        self.words, self.lock, self.over = {}, threading.Lock(), threading.Event()
        self.caught = collections.Counter()
        certificate, key = make_certificate(place)
        self.certificate = certificate
        sandbox = stage.sandbox
        super().__init__(int(sandbox.endpoint.rpartition(":")[2]),
                         ssl.create_default_context(cafile=sandbox.path("ca.pem")), certificate, key)

    @property
    def endpoint(self):
        return f"https://localhost:{self.port}"

    def answer(self, method, path, body, headers):
        said = urllib.parse.unquote(f"{path} {body.decode(errors='replace')} {authorization(headers)}")
        word = next((word for word in self.words if word in said), None)
        if word is None:
            # OAuth 1.0a signs the host, too (RFC 5849 §3.4.1.2).
            return self.pass_on(method, path, body, headers | {"Host": f"localhost:{self.port}"})
        with self.lock:
            self.caught[word] += 1
        if word == SILENT:
            self.over.wait(HANG_S)
        status, answer = self.words[word]
        if word == WITHOUT_CONSENT and path.endswith("/token"):
            status, answer = 200, {"access_token": f"of-{word}", "token_type": "Bearer", "expires_in": 3599}
        return status, [("Content-Type", "application/json")], json.dumps(answer).encode()

    def close(self):
        self.over.set()
        super().close()


def authorization(headers):
    """What the header says, with the client of Basic in the clear."""
    text = next((value for name, value in headers.items() if name.lower() == "authorization"), "")
    kind, _, value = text.partition(" ")
    return base64.b64decode(value).decode(errors="replace") if kind.lower() == "basic" else text


class Section:
    """One family behind a proxy of its own, and who is bad there: (provider, subject, client, secret kind, secret)."""

    def __init__(self, stage, kind, bad):
        self.stage, self.made, self.bad, self.waiting = stage, copy.copy(kind), [], []
        # By the request of the one whose token is refused: the user at the provider.
        self.refused = {}
        self.made.keys = dict(kind.keys)
        self.sieve = Sieve(stage, kind.name)
        self.made.name = self.name = f"{kind.name}-beside"
        self.texts, self.runs = [], itertools.count(1)
        client, *self.refusal = GONE_CLIENTS[kind.name]
        self._gone(kind, client, bad)
        if "graph_tenants" in self.made.keys:
            self._directories(bad)
        # Where a user without proof is given up at once, the one who is refused has a section that waits.
        self.patient = copy.copy(self.made)
        self.patient.keys = {key: value for key, value in self.made.keys.items() if key != "revocation_deadline"}
        if self.patient.keys != self.made.keys:
            self.patient.name = f"{self.name}-patient"
            self.texts.append(self.patient.section(self.sieve.endpoint, self.sieve.certificate))
        self.texts.append(self.made.section(self.sieve.endpoint, self.sieve.certificate))

    def _gone(self, kind, client, bad):
        """A second client, or a provider of its own where a section has one client."""
        name, good, keys = self.name, kind.keys["client"], self.made.keys
        if kind.stand_in in ("apple", "google", "oauth2"):
            keys["client_ids"] = json.dumps([good, client])
            if secret := keys.pop("client_secret_credential", None):
                keys["client_secret_credentials"] = f'{{ "{good}" = {secret}, "{client}" = {secret} }}'
        else:
            gone = copy.copy(kind)
            gone.name = name = f"{kind.name}-gone"
            # There nobody is to be given up.
            gone.keys = {key: value for key, value in kind.keys.items() if key != "revocation_deadline"} | {
                "client_ids": json.dumps([client]), "client": client}
            self.wall = Sieve(self.stage, name)
            self.wall.words["/"] = tuple(self.refusal)
            self.texts.append(gone.section(self.wall.endpoint, self.wall.certificate))
        self.sieve.words[client] = tuple(self.refusal)
        for _ in range(bad):
            secret = subject = canary(self.stage.random)
            if "graph_tenants" in keys:
                subject = self._subject(json.loads(keys["graph_tenants"])[0])
            self.sieve.words[secret] = tuple(self.refusal)
            if kind.realm == "oauth1":
                secret += f":{secret[::-1]}"
            self.bad.append((name, subject, client, kind.kinds[0], secret))

    def _subject(self, tenant):
        return f"{uuid.UUID(int=self.stage.random.getrandbits(128))}.{tenant}"

    def _directories(self, bad):
        tenants = json.loads(self.made.keys["graph_tenants"])
        self.made.keys["graph_tenants"] = json.dumps([*tenants, WITHOUT_CONSENT, SILENT])
        self.sieve.words |= {WITHOUT_CONSENT: NO_CONSENT, SILENT: NO_CONSENT}
        for tenant in (WITHOUT_CONSENT, SILENT):
            for _ in range(bad):
                self.bad.append((self.name, self._subject(tenant), self.made.keys["client"], "refresh_token",
                                 canary(self.stage.random)))

    def sign_up(self, count, made=None):
        """Healthy users, each with (kind, secret) of all tokens."""
        made = made or self.made
        found, source = [], copy.copy(self.made)
        # Users of their own at the provider, each time.
        source.name = f"{self.name}-{next(self.runs)}"
        for user, token in zip(self.stage.new_users(count), source.tokens(self.stage.sandbox, count)):
            for kind, secret in token["credentials"]:
                store(self.stage, user, made.name, token["subject"], made.keys["client"], kind, secret)
            found.append((user, token))
        return found

    def go_bad(self):
        """Stores and deletes those that wait, and one user whose token is refused for ever."""
        for bad in self.bad:
            user = self.stage.new_users(1)[0]
            store(self.stage, user, *bad)
            self.waiting.append((user, self.stage.delete(user)[1]["id"]))
        (user, token), = self.sign_up(1, self.patient)
        # Facebook is asked about the user, a directory about its part of the subject, and the others about the token.
        is_directory = "graph_tenants" in self.made.keys
        for word in (token["subject"], *(secret for _, secret in token["credentials"])):
            word = word.partition("." if is_directory else ":")[0]
            self.sieve.words[word] = NO_CONSENT if is_directory else REFUSED
        self.waiting.append((user, self.stage.delete(user)[1]["id"]))
        self.refused[self.waiting[-1][1]] = token["log_subject"]

    def is_met(self):
        """Each of them has failed once, or its provider is paused for that."""
        shown = [request(self.stage, one) for _, one in self.waiting]
        return all(one["state"] == "parked" or any(step.get("last_error") for step in one["steps"]) for one in shown)

    def close(self):
        self.sieve.close()
        if hasattr(self, "wall"):
            self.wall.close()


def store(stage, user, provider, subject, client, kind, secret):
    stage.canaries.add(secret)
    status, answer = stage.http("PUT", f"/v1/users/{user}/identities/{provider}", {
        "kind": kind, "secret": secret, "subject": subject, "client_id": client})
    assert status in (200, 201, 202, 204), answer


def request(stage, one):
    return stage.http("GET", f"/v1/requests/{one}")[1]


@scenario(bars=True)
def bad_neighbors(checks, seed, healthy=10, bad=4):
    stage = Stage(checks, seed)
    sections = []
    try:
        for made in OTHERS:
            keep_secret(stage, f"{made.name}-secret", made.secret)
        for kind in KINDS:
            sections.append(Section(stage, kind, bad))
        with open(stage.path("expunged.toml"), "a") as file:
            file.write("".join(text for section in sections for text in section.texts))
        assert stage.starts(), stage.log()
        alone, before = erase(checks, stage, sections, healthy, "alone")
        for section in sections:
            section.go_bad()
            checks.check(f"{section.name}: {len(section.waiting)} are refused or not answered",
                         comes_true(section.is_met, pause=0.2), [request(stage, one) for _, one in section.waiting])
        together, later = erase(checks, stage, sections, healthy, "beside them")
        judge(checks, stage, sections, before, later)
        print(f"     {alone:.2f} s alone, {together:.2f} s beside them")
        if HOLDS_BARS:
            checks.check("     that takes at most twice as long", together <= 2 * max(alone, ALONE_S_MIN),
                         (alone, together))
        stage.scan({user for section in sections for user, _ in section.waiting})
    finally:
        for section in sections:
            section.close()
        stage.close(keep=bool(checks.failed))


def erase(checks, stage, sections, count, text):
    """How long it took to erase healthy users of all sections, and by how many revocations each was, by section."""
    signed = {section.name: section.sign_up(count) for section in sections}
    users = {name: [user for user, _ in found] for name, found in signed.items()}
    begun = time.monotonic()
    requests = {name: [stage.delete(user)[1]["id"] for user in found] for name, found in users.items()}
    for name, found in requests.items():
        checks.check(f"{name}: {count} users are erased {text}", comes_true(
            lambda: all(request(stage, one)["state"] == "completed" for one in found), pause=0.1),
            [request(stage, one) for one in found if request(stage, one)["state"] != "completed"][:2])
    took = time.monotonic() - begun
    calls = collections.Counter(call.get("subject") for call in stage.sandbox.calls() if call["outcome"] == "revoked")
    return took, {name: sorted(calls[token["log_subject"]] for _, token in found) for name, found in signed.items()}


def judge(checks, stage, sections, before, later):
    """All by order: who waits, waits still, and no healthy one took another number of revocations."""
    states = {one["name"]: one["state"] for one in stage.http("GET", "/v1/providers")[1]["items"]}
    for section in sections:
        name = section.name
        waiting = {one: request(stage, one)["state"] for _, one in section.waiting}
        print(f"     {name:16} {sum(later[name]):4} revocations beside {len(waiting):2} that wait;"
              f" {sum(section.sieve.caught.values()):4} calls for those")
        refused = {one: (waiting.pop(one), live_tokens(stage, section, subject))
                   for one, subject in section.refused.items()}
        checks.check(f"{name}: who has a dead client or directory still waits", "completed" not in waiting.values(),
                     waiting)
        checks.check("     and so does who has a live token that is refused",
                     not any(state == "completed" and live for state, live in refused.values()), refused)
        checks.equal("     the healthy took as many revocations as alone", later[name], before[name])
        checks.check("     each at least one", all(later[name]), later[name])
        checks.equal("     and the provider is ready", states[name], "ready")


def live_tokens(stage, section, subject):
    """By the provider's own table."""
    grants = stage.sandbox.ask("grants", "--provider", section.made.stand_in)["grants"]
    return sum(grant.get("live_tokens", 0) for grant in grants if grant["subject"] == subject)
