"""An outage that answers politely gives nobody up and is seen; a client id that is refused keeps only its own waiting.

Judged by the provider's own grants, and by what an operator is shown.
"""

import json
import re

from checks import comes_true
from sandbox import CLIENT
from scenario import scenario
from stage import Stage

USERS, BAD = 4, "com.example.bad"


@scenario(gate={})
def outages(checks, seed):
    stage = Stage(checks, seed)
    try:
        configure(stage, CLIENT, BAD)
        assert stage.starts(), stage.log()
        one_client(checks, stage)
        stage.sandbox.ask("register-client", "--client-id", BAD, "--team-id", "ABCDE12345", "--key-id", "KEY1234567",
                          "--key-file", stage.sandbox.path("apple-key.p8"))
        ends(checks, stage, "the user of the client that is taken again")
        removed_client(checks, stage)
        everybody(checks, stage, "forbidden", "refuses_all: 403")
        everybody(checks, stage, "html", "")
        everybody(checks, stage, "server_error", "")
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))


def configure(stage, *clients):
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(re.sub(r"client_ids = \[.*\]", f"client_ids = {json.dumps(clients)}", text, count=1))


def reload(stage, *clients):
    configure(stage, *clients)
    done = stage.run("expungectl", "reload")
    assert done.returncode == 0, done


def removed_client(checks, stage):
    """An operator takes a client id out of the configuration that stored tokens name."""
    waiting, other = stage.new_users(2)
    token, its = stage.new_tokens(2)
    token["client"] = BAD
    status, answer = store(stage, waiting, token)
    assert status in (200, 201, 202, 204), answer
    reload(stage, CLIENT)
    request = stage.delete(waiting)[1]["id"]
    checks.check("a client id that is configured no more is named", comes_true(
        lambda: BAD in findings(stage) and "client_ids" in findings(stage)), findings(stage))
    shown = stage.run("expungectl", "show", request)
    checks.check("     and so by show", "client_not_configured" in shown.stdout, shown)
    for _ in range(2):
        done = stage.run("expungectl", "providers", "check", "apple")
        checks.check("     a check fails, and says how many wait",
                     done.returncode == 1 and BAD in done.stdout and "(1)" in done.stdout, done)
        alarms = stage.http("GET", "/v1/status")[1]["alarms"]
        checks.check("     and the alarm stays", "provider_broken" in alarms, alarms)
    stage.store(other, its)
    served(checks, stage, other, "     while users of the other client id are served", its["user"])
    ended = f"outage of '{BAD}' at provider apple ended"
    before = stage.log().count(ended)
    checks.equal("     there is one entry", stage.log().count("users of provider apple are not served: client_not_configured"), 1)
    reload(stage, CLIENT, BAD)
    checks.check("     and the reload brings its end", comes_true(
        lambda: stage.log().count(ended) == before + 1), stage.log()[-1500:])
    ends(checks, stage, "the user of the client that is configured again")


def one_client(checks, stage):
    """The sandbox does not know the client."""
    waiting, = stage.new_users(1)
    token, = stage.new_tokens(1)
    token["client"] = BAD
    status, answer = store(stage, waiting, token)
    assert status in (200, 201, 202, 204), answer
    stage.delete(waiting)
    checks.check("a client id that the provider does not know is named",
                 comes_true(lambda: BAD in findings(stage)), findings(stage))
    checks.check("     with the vendor's code", "invalid_client" in findings(stage), findings(stage))
    done = stage.run("expungectl", "providers", "check", "apple")
    checks.check("     by the check, which fails", done.returncode != 0 and BAD in done.stdout + done.stderr, done)
    now, later = stage.new_users(2)
    for user in (now, later):
        signed_in = stage.sandbox.sign_in(user)
        stage.canaries.add(signed_in["code"])
        stage.http("PUT", f"/v1/users/{user}/identities/apple", {
            "kind": "authorization_code", "secret": signed_in["code"], "client_id": CLIENT})
    served(checks, stage, now, "     while users of the other client id are served")
    checks.check("     a code of theirs is exchanged", comes_true(lambda: stage.sandbox.ask(
        "grants", "--user", later)["grants"][0]["live_tokens"] > 0))
    stage.kill()
    assert stage.starts(), stage.log()
    served(checks, stage, later, "     also after a restart")


def served(checks, stage, user, what, owner=None):
    request = stage.delete(user)[1]["id"]
    checks.check(what, comes_true(
        lambda: stage.http("GET", f"/v1/requests/{request}")[1]["state"] == "completed"), stage.log()[-1500:])
    grants = stage.sandbox.ask("grants", "--user", owner or user)["grants"]
    checks.equal("     and have no grant left", [grant["state"] for grant in grants], ["revoked"])


def everybody(checks, stage, kind, answer):
    """Each call of each user meets the same for a while."""
    users, tokens = stage.new_users(USERS), stage.new_tokens(USERS)
    stage.sandbox.ask("fault", "--fault-rate", "1", "--fault-kinds", kind, "--fault-providers", "apple")
    requests = []
    for user, token in zip(users, tokens):
        stage.store(user, token)
        requests.append(stage.delete(user)[1]["id"])
    if answer:
        checks.check(f"{kind}: the alarm is raised", comes_true(
            lambda: "provider_broken" in stage.http("GET", "/v1/status")[1]["alarms"]), stage.http("GET", "/v1/status")[1])
        checks.check("     with the answer, since when, and how many wait", comes_true(
            lambda: all(text in findings(stage) for text in (answer, "since", f'"waiting": {USERS}'))), findings(stage))
        shown = comes_true(lambda: answer in stage.run("expungectl", "show", requests[0]).stdout)
        checks.check("     show says what the identity met", shown, stage.run("expungectl", "show", requests[0]).stdout)
        checks.check("     in the provider's words", "Forbidden" in stage.run("expungectl", "show", requests[0]).stdout)
    done = stage.run("expungectl", "providers", "check", "apple")
    checks.check(f"{kind}: the check fails", done.returncode != 0, done)
    states = [stage.http("GET", f"/v1/requests/{request}")[1] for request in requests]
    checks.check("     no user is given up", {one["state"] for one in states} <= {"accepted", "revoking"}, states)
    stage.sandbox.fault(0)
    ends(checks, stage, f"{kind}: all users")
    alarms = comes_true(lambda: stage.http("GET", "/v1/status")[1]["alarms"] == [])
    checks.check("     and no alarm is left", alarms, stage.http("GET", "/v1/status")[1]["alarms"])


def store(stage, user, token):
    stage.canaries.add(token["refresh_token"])
    return stage.http("PUT", f"/v1/users/{user}/identities/apple", {
        "kind": "refresh_token", "secret": token["refresh_token"], "subject": token["subject"],
        "client_id": token["client"]})


def findings(stage):
    provider, = [one for one in stage.http("GET", "/v1/providers")[1]["items"] if one["name"] == "apple"]
    return json.dumps(provider)


def ends(checks, stage, who):
    checks.check(f"{who} are erased once it is over", comes_true(lambda: stage.open_count() == 0), stage.log()[-1500:])
