"""A flood of rows from one application, and the one request that another application submits behind it.

Judged by the order in which the application's own database notes that users are erased, never by times.
"""

import sqlite3

from checks import HANG_S, comes_true
from holds import edit
from scenario import scenario
from stage import Stage

# Deletions of one commit, each with a token.
FLOOD = 4000
CONCURRENCY = 8
# What the lane of a provider holds at most (EngineCore.hasShare): 8 for each call at once, half as many again of
# submitters that have few in it, and a page of due work (Limits.fetchMax). Each call waits behind the others.
LANE_MAX = CONCURRENCY * 8 * 3 // 2 + 512
# Those that may end before it: whose turn in the lane came first, and two batches that have left it for the store
# (Limits.purgeBatchMax).
AHEAD_MAX = LANE_MAX + 2 * 128
# Of each call: the store waits for the provider on any machine, and most of the flood for its turn.
ANSWER_DELAY = "200ms"


@scenario()
def flood(checks, seed):
    stage = Stage(checks, seed)
    # Asking about thousands of users one by one takes longer than all the rest.
    stage.unjudged = "the others are no part of this"
    slow = 'timeout_total = "60s"'
    edit(stage, slow, f"{slow}\nconcurrency = {CONCURRENCY}")
    stage.starts()
    for what, store in (("over the socket", stage.store), ("with a credential in the spool", in_the_spool(stage))):
        stage.sandbox.ask("fault", "--fault-rate", "1", "--fault-kinds", "delay", "--fault-delay", ANSWER_DELAY,
                          "--fault-providers", "apple")
        last = begin_flood(stage)
        checks.check(f"{what}: the flood is on its way",
                     comes_true(lambda: len(accepted(stage, last)) > FLOOD // 2), len(accepted(stage, last)))
        user, token = stage.new_users(1)[0], stage.new_tokens(1)[0]
        store(user, token)
        before = accepted(stage, last) - set(erased(stage))
        answer = stage.delete(user)
        checks.check(f"{what}: somebody else's request is carried out", comes_true(
            lambda: stage.http("GET", f"/v1/requests/{answer[1]['id']}")[1]["state"] == "completed", 600)
            and user not in stage.rows_left() and token["subject"] in stage.sandbox.revoked_at(), stage.log()[-1500:])
        order = erased(stage)
        ahead = before & set(order[:order.index(user)] if user in order else order)
        print(f"     of {len(before)} requests of the flood that were accepted before it and open, {len(ahead)} ended before it")
        checks.check("     most of the flood was before it", len(before) > 2 * AHEAD_MAX, len(before))
        checks.check(f"     and at most {AHEAD_MAX} of that ended first: it did not wait for the flood",
                     len(ahead) <= AHEAD_MAX, len(ahead))
        stage.sandbox.fault(0)
        checks.check("     and the flood is carried out, too", comes_true(lambda: stage.open_count() == 0, 900, 0.5), stage.open_count())
    stage.close()


def begin_flood(stage):
    """Commits the rows of users with one post each; answers the last row of before."""
    word = f"flood-{stage.random.getrandbits(40):010x}-"
    tokens = stage.sandbox.refresh_tokens(FLOOD)
    last = stage.spool_rows("SELECT coalesce(max(id), 0) FROM requests")[0][0]
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.executemany("INSERT INTO posts (author_id) VALUES (?)", [(f"{word}{number}",) for number in range(FLOOD)])
    app.close()
    database = sqlite3.connect(stage.spool, timeout=HANG_S)
    with database:
        database.executemany(
            "INSERT INTO credentials (user_id, provider, kind, secret) VALUES (?, 'apple', 'refresh_token', ?)",
            [(f"{word}{number}", token["refresh_token"]) for number, token in enumerate(tokens)])
        database.executemany("INSERT INTO requests (kind, user_id) VALUES ('delete_account', ?)",
                             [(f"{word}{number}",) for number in range(FLOOD)])
    database.close()
    return last


def accepted(stage, last):
    """Users whose rows behind one are requests by now; a row whose request has ended names nobody."""
    return {user for user, in stage.spool_rows(
        "SELECT user_id FROM requests WHERE id > :last AND request_id IS NOT NULL AND user_id GLOB 'flood-*'", last=last)}


def erased(stage):
    """All users in the order in which their first row went, by the application's own trigger."""
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        return [user for user, in app.execute("SELECT user FROM erased GROUP BY user ORDER BY min(rowid)")]


def in_the_spool(stage):
    return lambda user, token: stage.spool_do(
        "INSERT INTO credentials (user_id, provider, kind, secret) VALUES (:user, 'apple', 'refresh_token', :secret)",
        user=user, secret=token["refresh_token"])
