"""A flood of rows from one application, and the one request that another application submits behind it."""

import sqlite3
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from scenario import scenario
from stage import Stage

# Deletions of one commit, each with a token; a debug build works off some hundred a second.
FLOOD = 4000
# So many of the flood's requests, at least, are still open when the other application's request has ended.
LEFT_MIN = FLOOD // 4


@scenario(bars=True)
def flood(checks, seed):
    stage = Stage(checks, seed)
    # Asking about thousands of users one by one takes longer than all the rest.
    stage.unjudged = "the others are no part of this"
    stage.starts()
    for what, store in (("over the socket", stage.store), ("with a credential in the spool", in_the_spool(stage))):
        word = f"flood-{stage.random.getrandbits(40):010x}-"
        tokens = stage.sandbox.refresh_tokens(FLOOD)
        last = stage.spool_rows("SELECT coalesce(max(id), 0) FROM requests")[0][0]
        database = sqlite3.connect(stage.spool, timeout=HANG_S)
        with database:
            database.executemany(
                "INSERT INTO credentials (user_id, provider, kind, secret) VALUES (?, 'apple', 'refresh_token', ?)",
                [(f"{word}{number}", token["refresh_token"]) for number, token in enumerate(tokens)])
            database.executemany("INSERT INTO requests (kind, user_id) VALUES ('delete_account', ?)",
                                 [(f"{word}{number}",) for number in range(FLOOD)])
        database.close()
        checks.check(f"{what}: the flood is on its way", comes_true(lambda: taken(stage, last) > FLOOD // 2), taken(stage, last))
        user, token, begun = stage.new_users(1)[0], stage.new_tokens(1)[0], time.monotonic()
        store(user, token)
        answer = stage.delete(user)
        checks.check(f"{what}: somebody else's request is carried out", comes_true(
            lambda: stage.http("GET", f"/v1/requests/{answer[1]['id']}")[1]["state"] == "completed")
            and user not in stage.rows_left() and token["subject"] in stage.sandbox.revoked_at(), stage.log()[-1500:])
        took, left = time.monotonic() - begun, stage.open_count()
        print(f"     in {took:.1f} s; {left} of the flood's {FLOOD} requests are still open then")
        if HOLDS_BARS:
            checks.check(f"     that is more than {LEFT_MIN}: it did not wait for the flood", left > LEFT_MIN, left)
        checks.check("     and the flood is carried out, too", comes_true(lambda: stage.open_count() == 0, 900, 0.5), stage.open_count())
    stage.close()


def taken(stage, last):
    """How many rows behind one are requests by now, or were."""
    return stage.spool_rows("SELECT count(*) FROM requests WHERE id > :last AND request_id IS NOT NULL", last=last)[0][0]


def in_the_spool(stage):
    return lambda user, token: stage.spool_do(
        "INSERT INTO credentials (user_id, provider, kind, secret) VALUES (:user, 'apple', 'refresh_token', :secret)",
        user=user, secret=token["refresh_token"])
