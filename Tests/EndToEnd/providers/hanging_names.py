"""Providers whose names never resolve keep their own users waiting, and take nothing from a provider that answers."""

import tempfile

from checks import comes_true
from preload import preload
from sandbox import CLIENT
from scenario import scenario
from stage import Stage

# More names than event loops that providers could share.
LOOPS, NAMES, WAITING, SERVED = "2", 8, 2, 6
PROVIDER = """
[[provider]]
name = "{name}"
kind = "apple"
team_id = "ABCDE12345"
key_id = "KEY1234567"
client_ids = ["{client}"]
private_key_credential = "apple-key.p8"
base_url = "https://{name}.invalid"
timeout_connect = "1s"
timeout_total = "3s"
"""


@scenario(gate={})
def hanging_names(checks, seed):
    with tempfile.TemporaryDirectory() as place:
        stage = Stage(checks, seed)
        stage.unjudged = "requests wait for providers that are never reached"
        names = [f"hangs-{number}" for number in range(NAMES)]
        with open(stage.path("expunged.toml"), "a") as file:
            file.writelines(PROVIDER.format(name=name, client=CLIENT) for name in names)
        stage.start(LD_PRELOAD=preload("names", place), NIO_SINGLETON_GROUP_LOOP_COUNT=LOOPS)
        if checks.check("the daemon starts", stage.comes_up(), stage.log()[-2000:]):
            play(checks, stage, names)
        stage.close()


def play(checks, stage, names):
    for name in names:
        for user, token in zip(stage.new_users(WAITING), stage.new_tokens(WAITING)):
            stored = stage.http("PUT", f"/v1/users/{user}/identities/{name}", {
                "kind": "refresh_token", "secret": token["refresh_token"], "client_id": CLIENT})
            assert stored[0] == 202, stored
            stage.delete(user)
    checks.check(f"{len(names)} providers whose names hang are unreachable",
                 comes_true(lambda: errors(stage, names) == {"unreachable"}), stage.log()[-2000:])
    requests = []
    for user, token in zip(stage.new_users(SERVED), stage.new_tokens(SERVED)):
        stage.store(user, token)
        requests.append(stage.delete(user)[1]["id"])
    checks.check("     users of a provider that answers are served", comes_true(
        lambda: all(stage.http("GET", f"/v1/requests/{one}")[1]["state"] == "completed" for one in requests)),
        stage.log()[-2000:])
    checks.equal("     and it never was unreachable", errors(stage, ["apple"]), {None})


def errors(stage, names):
    """The last errors of these providers."""
    items = stage.http("GET", "/v1/providers")[1]["items"]
    return {item.get("last_error") for item in items if item["name"] in names}
