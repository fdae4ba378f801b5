"""A stolen session must not delete: only who has just signed in may, over the socket and the spool."""


from checks import comes_true
from preload import preload
from sandbox import CLIENT
from scenario import scenario
from stage import GONE, Stage

REQUIRED = (403, "fresh_sign_in_required")


@scenario(gate={})
def fresh_sign_in(checks, seed):
    stage = Stage(checks, seed)
    with open(stage.path("expunged.toml")) as file:
        text = file.read().replace("[requests]", '[requests]\nrequire_fresh_sign_in = "15m"')
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text)
    stage.starts()
    by_socket(checks, stage)
    by_operator(checks, stage)
    by_spool(checks, stage)
    by_another_account(checks, stage)
    over_a_crash(checks, stage)
    at_every_sync(checks, stage)
    stage.scan()
    stage.close()


def signed_up(stage):
    """A user whose subject is known by the sign-in of long ago."""
    user, = stage.new_users(1)
    proof = sign_in(stage, user)
    stage.http("PUT", f"/v1/users/{user}/identities/apple", {
        "kind": "authorization_code", "secret": proof["code"], "subject": proof["subject"],
        "client_id": CLIENT}, role="submit")
    return user


def sign_in(stage, user):
    proof = stage.sandbox.sign_in(user)
    stage.canaries.add(proof["id_token"], proof["raw_nonce"])
    return proof


def ask(stage, user, proof=None, role="submit", key=None, **more):
    body = {"kind": "delete_account", "user_id": user, **more}
    if proof:
        body["sign_in"] = {"provider": "apple", "id_token": proof["id_token"],
                           "raw_nonce": proof["raw_nonce"]}
    status, answer = stage.http("POST", "/v1/requests", body, key, role=role)
    return status, answer.get("code") if status >= 400 else answer["id"]


def ends(checks, stage, what, user):
    checks.check(f"     {what} is erased", comes_true(
        lambda: user not in stage.rows_left() and stage.open_count() == 0), stage.log()[-1500:])


def by_socket(checks, stage):
    user, other = signed_up(stage), signed_up(stage)
    checks.equal("a deletion without a sign-in is refused", ask(stage, user), REQUIRED)
    checks.equal("     somebody else's sign-in is of no use",
                 ask(stage, user, sign_in(stage, other)), (409, "subject_mismatch"))
    forged = dict(sign_in(stage, user), raw_nonce="another")
    checks.equal("     nor is one that is not bound to the nonce",
                 ask(stage, user, forged), (422, "reauthorization_refused"))
    checks.check("     and nothing was done to the user",
                 user in stage.rows_left() and stage.open_count() == 0)
    proof = sign_in(stage, user)
    checks.equal("a deletion with a sign-in is taken", ask(stage, user, proof)[0], 202)
    ends(checks, stage, "the user", user)
    checks.equal("     its id token is good for nobody else",
                 ask(stage, other, proof), (409, "subject_mismatch"))


def by_operator(checks, stage):
    user = signed_up(stage)
    checks.equal("an operator is not asked", ask(stage, user, role="control")[0], 202)
    ends(checks, stage, "the user", user)


def prove_by_spool(stage, user):
    proof = sign_in(stage, user)
    return (
        "INSERT INTO credentials (user_id, provider, kind, secret, raw_nonce)"
        " VALUES (:user, 'apple', 'id_token', :token, :nonce)",
        dict(user=user, token=proof["id_token"], nonce=proof["raw_nonce"]))


def state_of(stage, row):
    return stage.spool_rows("SELECT state, detail FROM requests WHERE id = :row", row=row)[0]


def by_spool(checks, stage):
    user = signed_up(stage)
    row = stage.spool_delete(user)
    checks.check("the spool's row without a sign-in is rejected, and says why", comes_true(
        lambda: state_of(stage, row) == ("rejected", "fresh_sign_in_required")), state_of(stage, row))
    # A rejected row stays the application's own.
    stage.spool_do("PRAGMA secure_delete = ON", "DELETE FROM requests WHERE id = :row", row=row)
    statement, values = prove_by_spool(stage, user)
    row = stage.spool_do(
        statement, "INSERT INTO requests (kind, user_id) VALUES ('delete_account', :user)", **values)
    checks.check("with an id token and its nonce in the same transaction it is carried out",
                 comes_true(lambda: state_of(stage, row)[0] == "completed"), state_of(stage, row))


def by_another_account(checks, stage):
    """A subject changes when an app is transferred: the code of the new one brings a token, too."""
    user = signed_up(stage)
    first, moved = sign_in(stage, user)["subject"], sign_in(stage, f"{user}-moved")
    status, _ = stage.http("PUT", f"/v1/users/{user}/identities/apple", {
        "kind": "authorization_code", "secret": moved["code"], "client_id": CLIENT}, role="submit")
    checks.equal("a code of a subject that has changed is taken", status, 202)
    checks.equal("     that account proves no sign-in",
                 ask(stage, user, sign_in(stage, f"{user}-moved")), (409, "subject_mismatch"))
    checks.equal("     an operator has the user deleted", ask(stage, user, role="control")[0], 202)
    ends(checks, stage, "the user", user)
    revoked = set(stage.sandbox.revoked_at())
    checks.check("     the tokens of both subjects are revoked at Apple",
                 {first, moved["subject"]} <= revoked, f"{first} {moved['subject']}")


def over_a_crash(checks, stage):
    user = signed_up(stage)
    statement, values = prove_by_spool(stage, user)
    row = stage.spool_do(statement, **values)
    sealed = comes_true(lambda: stage.spool_rows(
        "SELECT state FROM credentials WHERE id = :row", row=row) == [("sealed",)])
    stage.kill()
    stage.start()
    checks.check("a sign-in is taken, then kill -9", sealed and stage.comes_up())
    checks.equal("     it still counts after the start", ask(stage, user)[0], 202)
    ends(checks, stage, "the user", user)


def at_every_sync(checks, stage):
    """Killed after the n-th commit, for every n of a deletion: the same ask is taken afterwards."""
    library, report = preload("fault", stage.directory), stage.path("report")
    refused, kills, at, proof = [], 0, 0, None
    while True:
        if proof is None:
            user = signed_up(stage)
            proof = sign_in(stage, user)
        at += 1
        stage.stop()
        stage.start(LD_PRELOAD=library, FAULT_ROOT=stage.path("state/"), FAULT_AT=str(at),
                    FAULT_CALLS="fdatasync", FAULT_ACTION="kill-after", FAULT_REPORT=report)
        was_up = stage.comes_up()
        answer = taken(stage, user, proof) if was_up else None
        # The scrub after the end has syncs, too.
        if answer == 202 and comes_true(lambda: is_over(stage), pause=0.1) and stage.daemon.poll() is None:
            break
        stage.kill()
        stage.start()
        stage.comes_up()
        if was_up:
            if taken(stage, user, proof) != 202:
                refused.append(at)
            kills, proof = kills + 1, None
    # Without the library: a later sync would still end the daemon.
    stage.stop()
    stage.start()
    ended = stage.comes_up() and comes_true(lambda: stage.open_count() == 0)
    checks.check(f"killed after {kills} commits around a deletion, {len(refused)} identical asks refused"
                 " afterwards", kills > 1 and ended and not refused, refused)


def is_over(stage):
    """The daemon was ended, or all is erased and its own files are clean."""
    try:
        return stage.daemon.poll() is not None or stage.open_count() == 0 and not stage.leaks()
    except GONE:
        return False


def taken(stage, user, proof):
    try:
        return ask(stage, user, proof, key=f"key-{user}")[0]
    except GONE:
        return None
