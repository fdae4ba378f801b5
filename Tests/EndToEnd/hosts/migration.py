"""A state moves from a file into PostgreSQL and back: nothing is forgotten, and both services go on with it.

Judged by the answers before and after, the ledger's own checkpoints, the provider's table and the application's rows.
"""

import json
import os

from checks import comes_true
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, Stage
from store_servers import PostgreSQL

USERS = 12


@scenario()
def migration(checks, seed):
    sandbox = Sandbox(BINARIES, "--refresh-limit", "off")
    stage = Stage(checks, seed, sandbox, state=None)
    server = None
    try:
        stage.starts()
        users = stage.new_users(USERS)
        for user, token in zip(users, stage.new_tokens(USERS)):
            assert stage.store(user, token)[0] == 202
        done, held = users[:USERS // 2], users[USERS // 2:]
        for user in done:
            stage.spool_delete(user)
        checks.check("half of the deletions end on a state in a file", comes_true(
            lambda: not set(done) & set(stage.rows_left()), 30))
        for user in held:
            assert stage.run("expungectl", "hold", "--user", user, "--reason", "law").returncode == 0
            stage.delete(user)
        comes_true(lambda: {one["state"] for one in requests(stage)} == {"completed", "parked"}, 20)
        before = known(stage)
        with open(stage.path("expunged.toml")) as file:
            text = file.read()
        server = PostgreSQL(stage.path("server"), is_durable=True)
        stage.share_state(server, "one")
        done = stage.run("expunged", "state", "init", *places(stage))
        assert done.returncode == 0, done.stderr
        busy = migrate(stage, "sqlite")
        checks.check("nothing moves while a service runs", busy.returncode == 74 and "in_use" in busy.stderr, busy.stderr)
        stage.stop()
        moved = migrate(stage, "sqlite")
        checks.check("the state moves to the server", moved.returncode == 0
                     and "moved to the server" in moved.stdout and not os.path.exists(stage.path("state/state.db")),
                     moved.stdout + moved.stderr)
        os.unlink(stage.path("state/state.db.moved"))
        stage.starts()
        checks.equal("     every request is there as it was", known(stage), before)
        checks.equal("     the ledger fits its checkpoints", stage.run("expungectl", "ledger", "verify").returncode, 0)
        for user in held[:3]:
            stage.run("expungectl", "release", "--user", user)
        checks.check("     what was held goes on", comes_true(lambda: not set(held[:3]) & set(stage.rows_left()), 30),
                     stage.rows_left())
        more = stage.new_users(2)
        for user in more:
            stage.spool_delete(user)
        checks.check("     the spool is read on", comes_true(lambda: not set(more) & set(stage.rows_left()), 30)
                     and comes_true(lambda: "pending" not in spool_states(stage), 10), spool_states(stage))
        comes_true(lambda: sum(one["state"] == "completed" for one in requests(stage)) == USERS // 2 + 5, 20)
        before = known(stage)
        stage.stop()
        moved = migrate(stage, "postgresql")
        checks.check("it moves back into a file", moved.returncode == 0 and os.path.exists(stage.path("state/state.db")),
                     moved.stdout + moved.stderr)
        with open(stage.path("expunged.toml"), "w") as file:
            file.write(text)
        stage.starts()
        checks.equal("     every request is there as it was", known(stage), before)
        checks.equal("     the ledger fits its checkpoints", stage.run("expungectl", "ledger", "verify").returncode, 0)
        for user in held[3:]:
            stage.run("expungectl", "release", "--user", user)
        checks.check("     what was held goes on", comes_true(lambda: not stage.rows_left(), 30), stage.rows_left())
    finally:
        if server:
            server.close()
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def places(stage):
    return ("--config", stage.path("expunged.toml"), "--credentials-directory", stage.path("credentials"),
            "--state-directory", stage.path("state"))


def migrate(stage, kind):
    return stage.run("expunged", "state", "migrate", "--from", kind, *places(stage))


def requests(stage):
    return stage.http("GET", "/v1/requests?limit=100")[1]["items"]


def known(stage):
    """What the service says of each request, and its receipt."""
    found = {}
    for one in requests(stage):
        receipt = stage.run("expungectl", "receipt", one["id"], "--json")
        found[one["id"]] = (one["state"], one["created_at"], json.loads(receipt.stdout or "{}").get("leaves"))
    return found


def spool_states(stage):
    return {state for state, in stage.spool_rows("SELECT state FROM requests")}
