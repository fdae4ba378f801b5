"""A provider that refuses some users' tokens must not keep the others waiting.

12 users are answered 400 `invalid_request` at every revocation. Judged by the sandbox's own log: when it revoked the
tokens of the others, and when it exchanged their codes.
"""

import time

from checks import HOLDS_BARS, comes_true
from sandbox import CLIENT
from scenario import scenario
from stage import Stage

HEALTHY, UNSERVICEABLE, CODES = 30, 12, 20
# As many refusals as opened the breaker for minutes when they counted against the provider.
REFUSALS_MIN = 40
END_S_MAX = 60
CODE_S_MAX = 1.0
# A run of 30 deletions takes half of this on an idle machine; below it everything is noise.
ALONE_S_MIN = 1.0


@scenario(bars=True)
def unserviceable(checks, seed):
    stage = Stage(checks, seed)
    try:
        assert stage.starts()
        # Each token is another user's at the provider.
        tokens = stage.new_tokens(2 * HEALTHY + UNSERVICEABLE)
        alone = run(checks, stage, tokens[:HEALTHY], "alone")
        begin_refusals(checks, stage, tokens[2 * HEALTHY:])
        together = run(checks, stage, tokens[HEALTHY:2 * HEALTHY],
                       f"beside {UNSERVICEABLE} that the provider refuses", codes=CODES)
        print(f"     {alone:.2f} s alone, {together:.2f} s beside them")
        if HOLDS_BARS:
            checks.check("     that takes at most twice as long", together <= 2 * max(alone, ALONE_S_MIN),
                         (alone, together))
        end_refusals(checks, stage)
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))


def run(checks, stage, tokens, text, codes=0):
    """Deletes users that are served; how long it took from the first request to the last revocation."""
    users = stage.new_users(len(tokens))
    for user, token in zip(users, tokens):
        assert stage.store(user, token)[0] in (200, 201, 202, 204), user
    begun = time.time() * 1000
    for user in users:
        assert stage.delete(user)[0] in (200, 201, 202), user
    sent = {}
    for user in stage.new_users(codes) if codes else ():
        signed_in = stage.sandbox.sign_in(user)
        stage.canaries.add(signed_in["code"])
        sent[signed_in["subject"]] = time.time() * 1000
        status, _ = stage.http("PUT", f"/v1/users/{user}/identities/apple", {
            "kind": "authorization_code", "secret": signed_in["code"], "client_id": CLIENT})
        assert status in (200, 201, 202, 204), status
    subjects = {token["subject"] for token in tokens}
    done = comes_true(lambda: subjects <= set(stage.sandbox.revoked_at()), END_S_MAX, 0.1)
    revoked = stage.sandbox.revoked_at()
    checks.check(f"{len(users)} users are revoked {text}", done, f"{len(subjects & set(revoked))} of them")
    checks.check("and erased", comes_true(lambda: not set(users) & set(stage.rows_left()), 20, 0.1))
    if codes:
        judge_codes(checks, stage, sent)
    return (max(revoked.get(subject, time.time() * 1000) for subject in subjects) - begun) / 1000


def judge_codes(checks, stage, sent):
    checks.check(f"{len(sent)} codes are exchanged", comes_true(
        lambda: set(sent) <= set(exchanged_at(stage)), 20, 0.1), len(exchanged_at(stage)))
    exchanged = exchanged_at(stage)
    waits = sorted((exchanged.get(subject, float("inf")) - time_ms) / 1000 for subject, time_ms in sent.items())
    if HOLDS_BARS:
        checks.check(f"     within {CODE_S_MAX} s: {waits[-1]:.3f} s at most", waits[-1] <= CODE_S_MAX, waits)


def exchanged_at(stage):
    return {call["subject"]: call["time_unix_ms"] for call in stage.sandbox.calls()
            if call.get("endpoint") == "token" and call.get("outcome") == "exchanged"}


def begin_refusals(checks, stage, tokens):
    users = stage.new_users(len(tokens))
    flags = [flag for token in tokens for flag in ("--unserviceable", token["refresh_token"])]
    stage.sandbox.ask("fault", "--fault-endpoints", "revoke", *flags)
    for user, token in zip(users, tokens):
        stage.store(user, token)
        stage.delete(user)
    stage.refused = users
    checks.check(f"{len(users)} users are refused {REFUSALS_MIN} times",
                 comes_true(lambda: refusals(stage) >= REFUSALS_MIN, pause=0.1), refusals(stage))
    found = stage.http("GET", "/v1/providers")[1]
    checks.check("the provider is not called broken", found["items"][0]["state"] == "ready", found)


def end_refusals(checks, stage):
    """Nobody is given up: they are revoked once the provider serves them."""
    left = stage.rows_left()
    checks.check("who is refused is neither revoked nor erased", set(stage.refused) <= set(left), left)
    stage.sandbox.ask("fault")
    for item in stage.http("GET", "/v1/requests?state=revoking&limit=100")[1]["items"]:
        stage.http("POST", f"/v1/requests/{item['id']}/retry")
    ended = comes_true(lambda: stage.open_count() == 0, END_S_MAX, 0.2)
    left = set(stage.refused) & set(stage.rows_left())
    checks.check("once they are served they end, too", ended and not left, stage.http("GET", "/v1/status"))


def refusals(stage):
    return sum(call.get("endpoint") == "revoke" and call.get("status") == 400 for call in stage.sandbox.calls())
