"""A credential in the spool just before a deletion over the socket: nobody is erased with a live token."""

import os
import re
import sqlite3

from checks import HANG_S, comes_true, within
from sandbox import CLIENT
from scenario import scenario
from stage import GONE, Stage

USERS = 40
LOCKED = 6
INSERT = ("INSERT INTO credentials (user_id, provider, client_id, kind, secret)"
          " VALUES (:user, 'apple', :client, 'refresh_token', :secret)")


@scenario()
def intake_gap(checks, seed):
    stage = Stage(checks, seed)
    stage.starts()
    idle(checks, stage)
    locked(checks, stage)
    restarted(checks, stage)
    paused(checks, stage)
    unsealed(checks, stage)
    kept(checks, stage)
    stage.scan()
    stage.close()


def commit(stage, user, token):
    stage.spool_do(INSERT, user=user, client=CLIENT, secret=token["refresh_token"])


def judged(checks, stage, what, users, tokens):
    ended = comes_true(lambda: stage.open_count() == 0)
    left = stage.rows_left()
    revoked = stage.sandbox.revoked_at()
    erased = stage.erased_at()
    alive = [user for user, token in zip(users, tokens) if token["subject"] not in revoked]
    early = [user for user, token in zip(users, tokens)
             if revoked.get(token["subject"], float("inf")) > erased.get(user, 0)]
    checks.check(f"{what}: all are erased", ended and not any(user in left for user in users))
    checks.equal(f"{what}: tokens that live on at the provider", len(alive), 0)
    checks.equal(f"{what}: users erased before their token was revoked", len(early), 0)


def idle(checks, stage):
    users, tokens = stage.new_users(USERS), stage.new_tokens(USERS)
    for user, token in zip(users, tokens):
        commit(stage, user, token)
        stage.delete(user)
    judged(checks, stage, f"{USERS} deletions right behind their credential", users, tokens)


def locked(checks, stage):
    """Another program commits the credential together with much else, and takes its time."""
    users, tokens = stage.new_users(LOCKED), stage.new_tokens(LOCKED)
    for number, (user, token) in enumerate(zip(users, tokens)):
        database = sqlite3.connect(stage.spool, timeout=HANG_S, isolation_level=None)
        database.execute("BEGIN EXCLUSIVE")
        database.execute(INSERT, {"user": user, "client": CLIENT, "secret": token["refresh_token"]})
        _, body = stage.delete(user)
        # Every other one is locked for longer than a request shows `accepted`.
        if number % 2 == 0:
            checks.check("behind a lock the request says what it waits for", comes_true(
                lambda: stage.http("GET", f"/v1/requests/{body['id']}")[1].get("detail")
                == "awaiting_spool"), stage.http("GET", f"/v1/requests/{body['id']}")[1])
        database.execute("COMMIT")
        database.close()
    judged(checks, stage, f"{LOCKED} deletions behind a lock", users, tokens)


def restarted(checks, stage):
    """Accepted while the spool is locked, killed, and started again with the credential committed."""
    users, tokens = stage.new_users(1), stage.new_tokens(1)
    database = sqlite3.connect(stage.spool, timeout=HANG_S, isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    stage.delete(users[0])
    stage.kill()
    database.execute(INSERT, {"user": users[0], "client": CLIENT, "secret": tokens[0]["refresh_token"]})
    stage.start()
    # It may need the spool for that: nothing depends on whether it is up by then.
    within(1, lambda: answers(stage))
    database.execute("COMMIT")
    database.close()
    checks.check("it comes up again", stage.comes_up())
    judged(checks, stage, "a deletion over a kill", users, tokens)


def answers(stage):
    try:
        return stage.http("GET", "/v1/status", timeout=1)[0] == 200
    except GONE:
        return False


def paused(checks, stage):
    """The intake is paused while deletions wait for the spool, and stays paused over a restart."""
    users, tokens = stage.new_users(2), stage.new_tokens(2)
    database = sqlite3.connect(stage.spool, timeout=HANG_S, isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    for user in users:
        stage.delete(user)
    checks.equal("the intake is paused", stage.http("POST", "/v1/intake/pause")[0], 200)
    stage.kill()
    for user, token in zip(users, tokens):
        database.execute(INSERT, {"user": user, "client": CLIENT, "secret": token["refresh_token"]})
    database.execute("COMMIT")
    database.close()
    late = stage.new_users(1)[0]
    row = stage.spool_delete(late)
    stage.start()
    checks.check("it comes up with its intake paused", stage.comes_up()
                 and "intake_paused" in stage.http("GET", "/v1/status")[1]["alarms"])
    judged(checks, stage, "deletions from before the pause", users, tokens)

    def state():
        return stage.spool_rows("SELECT state FROM requests WHERE id = :row", row=row)

    checks.equal("a request of the spool waits during the pause", state(), [("submitted",)])
    checks.equal("the intake is resumed", stage.http("POST", "/v1/intake/resume")[0], 200)
    checks.check("and then it is carried out", comes_true(lambda: state() == [("completed",)]), state())


def kept(checks, stage):
    """A program keeps the lock: deletions over the socket go on, and it shows which began without the spool."""
    users, tokens = stage.new_users(2), stage.new_tokens(2)
    stage.store(users[1], tokens[1])
    database = sqlite3.connect(stage.spool, timeout=HANG_S, isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    database.execute(INSERT, {"user": users[0], "client": CLIENT, "secret": tokens[0]["refresh_token"]})
    places = ["/v1/requests/" + stage.delete(users[0])[1]["id"]]
    stage.kill()
    stage.start()
    checks.check("it comes up under the lock", stage.comes_up(), stage.log()[-1500:])
    places.append("/v1/requests/" + stage.delete(users[1])[1]["id"])
    checks.check("deletions end while the lock is held", comes_true(lambda: stage.open_count() == 0),
                 stage.http("GET", "/v1/status"))
    checks.check("     and the users are erased", not set(users) & set(stage.rows_left()))
    checks.equal("     show says that they ended without the spool",
                 [stage.http("GET", place)[1].get("unread_sources") for place in places], [["spool"]] * 2)
    receipts = [stage.http("GET", place + "/receipt")[1] for place in places]
    checks.check("     and so do the receipts", all(
        receipt.get("unread_sources") == ["spool"] and "NOT read: spool." in receipt.get("summary", "")
        for receipt in receipts), receipts)
    checks.check("     and the journal says so", "event=unread_sources" in stage.log(), stage.log()[-1500:])
    checks.check("     the token that was known is revoked", tokens[1]["subject"] in stage.sandbox.revoked_at())
    database.execute("COMMIT")
    database.close()
    checks.check("the credential is sealed once the lock ends", comes_true(
        lambda: stage.spool_rows("SELECT count(*) FROM credentials WHERE state = 'submitted'") == [(0,)]))
    stage.delete(users[0], key="again")
    checks.check("submitted again, the deletion revokes it", comes_true(
        lambda: tokens[0]["subject"] in stage.sandbox.revoked_at()))


def unsealed(checks, stage):
    """The user's data key is lost: a new credential of theirs cannot be sealed."""
    user, (first, second) = stage.new_users(1)[0], stage.new_tokens(2)
    stage.store(user, first)
    stage.stop()
    key = stage.path("credentials/vault-key")
    with open(key, "rb") as file:
        old = file.read()
    os.unlink(key)
    assert stage.run("expunged", "--generate-vault-key", key).returncode == 0
    stage.start()
    assert comes_true(lambda: stage.daemon.poll() is not None), "it does not end without the key"
    lost = re.findall("sealed under key '([0-9a-f]+)'", stage.log())[-1]
    with open(stage.path("expunged.toml")) as file:
        before = file.read()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(before + f'[vault]\nlost_key_ids = ["{lost}"]\n')
    stage.start()
    if not checks.check("it starts without the key of some users", stage.comes_up(), stage.log()[-1500:]):
        return
    commit(stage, user, second)
    _, body = stage.delete(user)
    shown = "/v1/requests/" + body["id"]
    checks.check("a deletion waits for the credential that cannot be sealed", comes_true(
        lambda: stage.http("GET", shown)[1].get("detail") == "awaiting_credentials"),
        stage.http("GET", shown))
    checks.check("and nothing of the user is erased", user in stage.rows_left())
    stage.stop()
    with open(key, "wb") as file:
        file.write(old)
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(before)
    stage.start()
    checks.check("it starts with the right key again", stage.comes_up())
    judged(checks, stage, "the key is back", [user, user], [first, second])
