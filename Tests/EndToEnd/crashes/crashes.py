"""kill -9 inside a call: while the provider holds its answer, and while an application holds the lock of the store.

Nothing here depends on an instant: the daemon is inside the call for as long as the other side holds it.
"""

import sqlite3

from checks import comes_true
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, Stage

# So that a hang ends; a call of the provider takes a minute until it is given up.
PATIENCE_S = 600


@scenario(gate={})
def crashes(checks, seed):
    sandbox = Sandbox(BINARIES, "--fault-rate", "1", "--fault-kinds", "timeout", "--fault-endpoints", "revoke")
    stage = Stage(checks, seed, sandbox)
    try:
        play(checks, stage)
    finally:
        stage.close(keep=bool(checks.failed))
        sandbox.close()


def play(checks, stage):
    by_socket, by_spool, other = stage.new_users(3)
    tokens = dict(zip((by_socket, by_spool), stage.new_tokens(2)))
    others = stage.checksum(but=tokens)
    stage.starts()
    stage.store(by_socket, tokens[by_socket])
    status, answer = stage.delete(by_socket)
    checks.equal("a deletion over the socket is acknowledged", status, 202)
    row = stage.spool_do(
        "INSERT INTO credentials (user_id, provider, kind, secret) VALUES (:user, 'apple', 'refresh_token', :secret)",
        "INSERT INTO requests (kind, user_id) VALUES ('delete_account', :user)",
        user=by_spool, secret=tokens[by_spool]["refresh_token"])

    def requests():
        """Both, as the daemon shows them, or nothing while it does not answer."""
        try:
            ids = [answer["id"], *(name for name, in stage.spool_rows(
                "SELECT request_id FROM requests WHERE id = :row AND request_id IS NOT NULL", row=row))]
            return [stage.http("GET", f"/v1/requests/{name}")[1] for name in ids]
        except (*GONE, sqlite3.OperationalError):
            return []

    def both(holds):
        return comes_true(lambda: sum(map(holds, requests())) == 2, PATIENCE_S, 0.05)

    held = comes_true(lambda: sum(call["endpoint"] == "revoke" for call in stage.sandbox.calls()) >= 2, PATIENCE_S)
    stage.kill()
    checks.check("kill -9 while the provider holds both revocations", held, stage.sandbox.calls())
    checks.equal("until then nothing is revoked, and no row is gone", (stage.sandbox.revoked_at(), len(stage.rows_left())), ({}, 3))

    stage.sandbox.fault(0)
    application = sqlite3.connect(stage.app, isolation_level=None)
    application.execute("BEGIN IMMEDIATE")
    stage.starts()
    inside = both(lambda request: any(
        step["kind"] == "purge" and step["state"] == "running" for step in request["steps"]))
    stage.kill()
    checks.check("kill -9 while an application holds the lock of the store, in both purges", inside, requests())
    checks.equal("both are revoked by then", set(stage.sandbox.revoked_at()), {token["subject"] for token in tokens.values()})
    application.execute("ROLLBACK")
    application.close()
    checks.equal("and no row is gone", len(stage.rows_left()), 3)

    stage.starts()
    checks.check("it goes on by itself, both deletions end", both(lambda request: request["state"] == "completed"), requests())
    checks.equal("their rows are gone, what another user has is as it was",
                 (set(stage.rows_left()), stage.checksum(but=tokens)), ({other}, others))
    revoked, erased = stage.sandbox.revoked_at(), stage.erased_at()
    checks.check("each was revoked before its rows went", all(
        revoked[token["subject"]] <= erased[user] for user, token in tokens.items()), (revoked, erased))
    stage.scan()
