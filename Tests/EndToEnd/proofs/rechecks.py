"""Completed deletions are looked at again: what came back alarms, and the last look leaves nothing of the user."""

import base64
import contextlib
import functools
import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
import time

from checks import HANG_S, comes_true
from sandbox import CLIENT
from scenario import scenario
from stage import ROOT, ROWS_EACH, Stage

# Later than any run takes: what is tried here has each look made when it wants it.
SETTINGS = '[requests]\nrechecks = ["100h", "200h"]\nsample_interval = "0s"\n'
SAMPLED = 'sample_interval = "1s"'
# More than there are, also where data that came back begins them anew.
LOOKS_MAX = 8
VERIFIER = os.path.join(ROOT, "docs/verify-ledger.py")


@scenario(gate={}, long=True)
def rechecks(checks, seed):
    stage = Stage(checks, seed)
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace("[requests]\n", SETTINGS, 1))
    stage.starts()
    nothing_left(checks, stage)
    nothing_left(checks, stage, is_by_code=True)
    data_returns(checks, stage)
    data_returns_late(checks, stage)
    id_given_again(checks, stage)
    crash(checks, stage)
    stage.scan()
    stage.close()


def nothing_left(checks, stage, is_by_code=False):
    user, request = begun(checks, stage, is_by_code)
    # In the write-ahead log until a checkpoint, then in the database itself; one between both looks hides it once.
    places = {("state.db", user[:6] + "…"), ("state.db-wal", user[:6] + "…")}
    checks.check("the search finds the user id while the request is open",
                 comes_true(lambda: places & set(leaks_of_state(stage))), leaks_of_state(stage))
    stage.http("POST", "/v1/stores/app-db/resume")
    completes(checks, stage, request)
    case = case_of(stage, request)
    checks.check("a case waits for the looks", case is not None)
    checks.check("before the last look the user id, subject and tokens are nowhere in clear",
                 comes_true(lambda: not stage.leaks(), pause=0.1), stage.leaks())
    checks.check("the search finds the key of the case", comes_true(lambda: holding(stage, case[0]) != []))
    look(stage, request)
    checks.equal("the first look finds nothing", outcomes(stage, request), ["clean"])
    checks.check("the key is still there", case_of(stage, request) == case)
    checks.check("and nothing in clear", not stage.leaks(), stage.leaks())
    look(stage, request)
    checks.check("after the last look the case is gone", case_of(stage, request) is None)
    checks.equal("both looks found nothing", outcomes(stage, request), ["clean", "clean"])
    # The write-ahead log is emptied shortly after.
    comes_true(lambda: not holding(stage, *case), pause=0.1)
    checks.equal("its key and what it sealed are in no file of ours", holding(stage, *case), [])
    checks.check("nor anything of the user", not stage.leaks(), stage.leaks())
    receipt_verifies(checks, stage, request)


def data_returns(checks, stage):
    user, request = begun(checks, stage)
    stage.http("POST", "/v1/stores/app-db/resume")
    completes(checks, stage, request)
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.executemany("INSERT INTO posts (author_id, body) VALUES (?, 'back')", [(user,)] * 3)
    look(stage, request)
    checks.check("data that came back alarms in the journal", comes_true(
        lambda: any("event=data_returned" in line and request in line
                    for line in stage.log().splitlines())), stage.log()[-1500:])
    sample_from_now_on(stage)
    checks.check("the sample of erased users finds it, too", comes_true(
        lambda: any("event=data_returned" in line and "sample" in line
                    for line in stage.log().splitlines())), stage.log()[-1500:])
    checks.check("status alarms", comes_true(lambda: "data_returned" in alarms(stage)), alarms(stage))
    shown = stage.run("expungectl", "show", request).stdout
    checks.check("show reports it", "data_returned" in shown and "recheck app-db" in shown, shown)
    receipt = receipt_verifies(checks, stage, request)
    checks.check("the receipt states it", "DATA CAME BACK" in receipt["summary"]
                 and receipt["rechecks"][-1]["found"] == [{"store": "app-db", "rows": 3}], receipt)
    checks.equal("nothing was purged by us", stage.rows_left().get(user), 3)
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("DELETE FROM posts WHERE author_id = ?", (user,))
    retried = stage.run("expungectl", "retry", request)
    checks.check("an operator who erased it has it looked for at once", retried.returncode == 0, retried.stderr)
    checks.check("and the alarm ends", comes_true(lambda: "data_returned" not in alarms(stage)))
    checks.check("the looks go on to their end", looks_end(stage, request), outcomes(stage, request))
    checks.check("nothing of the user is left", comes_true(lambda: not stage.leaks(), pause=0.1),
                 stage.leaks())


def data_returns_late(checks, stage):
    """After the last look nobody knows the user any more; the sample finds who it was."""
    user, request = begun(checks, stage)
    stage.http("POST", "/v1/stores/app-db/resume")
    completes(checks, stage, request)
    checks.check("the looks come to their end", looks_end(stage, request)
                 and outcomes(stage, request) == ["clean", "clean"], outcomes(stage, request))
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.executemany("INSERT INTO posts (author_id, body) VALUES (?, 'late')", [(user,)] * 2)
    checks.check("data that comes back later opens the case anew", comes_true(
        lambda: case_of(stage, request) is not None), outcomes(stage, request))
    checks.check("and alarms with the id of the deletion", comes_true(
        lambda: any("event=data_returned" in line and request in line
                    for line in stage.log().splitlines())), stage.log()[-1500:])
    receipt = receipt_verifies(checks, stage, request)
    checks.check("the receipt states it", "DATA CAME BACK" in receipt["summary"] and "returned" in
                 [look["outcome"] for look in receipt["rechecks"]], receipt)
    checks.check("the user id is nowhere in clear", not stage.leaks(), stage.leaks())
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("DELETE FROM posts WHERE author_id = ?", (user,))
    checks.check("once it is gone the looks go on to their end", looks_end(stage, request), outcomes(stage, request))
    checks.check("the last look found nothing", outcomes(stage, request)[-1] == "clean",
                 outcomes(stage, request))


def id_given_again(checks, stage):
    """A request for an account that is erased does not hit the one that has its id now."""
    user, request = begun(checks, stage)
    stage.http("POST", "/v1/stores/app-db/resume")
    completes(checks, stage, request)
    done = stage.run("expungectl", "abandon", request, "--reason", "registered anew")
    checks.equal("an operator ends the looks", done.returncode, 0)
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("INSERT INTO posts (author_id, body) VALUES (?, 'of the later account')", (user,))
    late = {"kind": "delete_account", "user_id": user,
            "options": {"account_created_at": "2020-01-02T03:04:05Z"}}
    status, answer = stage.http("POST", "/v1/requests", late)
    checks.equal("a late request for the erased account is refused",
                 (status, answer.get("code")), (409, "already_erased"))
    asked = stage.run("expungectl", "delete-account", user, "--option",
                      "account_created_at=2020-01-02T03:04:05Z")
    checks.check("expungectl says what to do", asked.returncode != 0
                 and "account_created_at" in asked.stderr, asked.stderr)
    checks.equal("the later account has its rows", stage.rows_left().get(user), 1)
    # The first whole second after the erasure, once it is past.
    made = int(time.time()) + 1
    comes_true(lambda: time.time() > made)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(made))
    status, answer = stage.http(
        "POST", "/v1/requests", {**late, "options": {"account_created_at": now}})
    checks.equal("one for the later account is taken", status, 202)
    completes(checks, stage, answer["id"])
    checks.equal("and erases it", stage.rows_left().get(user), None)


def crash(checks, stage):
    _, request = begun(checks, stage)
    stage.http("POST", "/v1/stores/app-db/resume")
    completes(checks, stage, request)
    look(stage, request, stage.kill)
    checks.equal("after kill -9 a look is made", outcomes(stage, request), ["clean"])
    checks.check("     and they go on to their end", looks_end(stage, request, stage.kill), outcomes(stage, request))
    _, request = begun(checks, stage)
    stage.http("POST", "/v1/stores/app-db/resume")
    completes(checks, stage, request)
    done = stage.run("expungectl", "abandon", request, "--reason", "registered anew")
    checks.check("an operator ends them", done.returncode == 0 and case_of(stage, request) is None,
                 done.stderr)


def begun(checks, stage, is_by_code=False):
    """A user whose deletion waits right before the purge; signed in with a code, or a stored token."""
    stage.http("POST", "/v1/stores/app-db/pause")
    user = stage.new_users(1)[0]
    if is_by_code:
        proof = stage.sandbox.sign_in(user)
        stage.canaries.add(proof["code"], proof["subject"], proof["id_token"])
        body = {"kind": "authorization_code", "secret": proof["code"], "subject": proof["subject"],
                "client_id": CLIENT}
        checks.equal("a code is stored", stage.http(
            "PUT", f"/v1/users/{user}/identities/apple", body)[0], 202)
    else:
        token = stage.new_tokens(1)[0]
        stage.canaries.add(token["subject"])
        stage.store(user, token)
    request = stage.delete(user)[1]["id"]
    checks.check("the deletion waits before the purge", comes_true(
        lambda: show(stage, request).get("detail") == "store_paused"), show(stage, request))
    checks.equal("its rows are there", stage.rows_left().get(user), ROWS_EACH)
    return user, request


def completes(checks, stage, request):
    checks.check("it completes", comes_true(
        lambda: show(stage, request)["state"] == "completed"), show(stage, request))


def show(stage, request):
    return stage.http("GET", f"/v1/requests/{request}")[1]


def outcomes(stage, request):
    steps = show(stage, request)["steps"]
    return [step["verdict"] for step in steps if step["kind"] == "recheck" and "verdict" in step]


def look(stage, request=None, end=None):
    """Has the next look made, at one case or at all. Nobody waits for days here: while the service is down the time of
    the look is moved to now."""
    (end or stage.stop)()
    moved = int(time.time() * 1000)
    case = bytes.fromhex(request.replace("-", "")) if request else None
    with contextlib.closing(sqlite3.connect(stage.path("state/state.db"), timeout=HANG_S)) as state:
        # What the row had before must be in no file, as with the service's own writes.
        state.execute("PRAGMA secure_delete = ON")
        with state:
            count = state.execute("UPDATE rechecks SET due_at = ?1 WHERE coalesce(request_id = ?2, 1)", (moved, case)).rowcount
            assert count == 1 if request else count > 0, f"{count} cases wait for a look: {request or 'all'}"
    stage.starts()
    # One commit records what it found and when the next one is due.
    stage.checks.check("the look is made", comes_true(
        lambda: select(stage, "SELECT count(*) FROM rechecks WHERE due_at = ?", moved) == (0,)), stage.log()[-1500:])


def looks_end(stage, request, end=None):
    """Whether there is an end of the looks."""
    for _ in range(LOOKS_MAX):
        if case_of(stage, request) is None:
            break
        look(stage, request, end)
    return case_of(stage, request) is None


def sample_from_now_on(stage):
    stage.stop()
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    assert text.count('sample_interval = "0s"') == 1
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace('sample_interval = "0s"', SAMPLED))
    stage.starts()


def alarms(stage):
    return stage.http("GET", "/v1/status")[1]["alarms"]


def case_of(stage, request):
    """What state.db has of the case: its key and what that sealed."""
    return select(stage, "SELECT recheck_key, sealed_user FROM rechecks WHERE request_id = ?",
                  bytes.fromhex(request.replace("-", "")))


def select(stage, statement, *values):
    state = sqlite3.connect(f"file:{stage.path('state/state.db')}?mode=ro", uri=True, timeout=HANG_S)
    try:
        return state.execute(statement, values).fetchone()
    finally:
        state.close()


def holding(stage, *needles):
    """The files of ours that hold some bytes."""
    found = []
    for parent, _, names in os.walk(stage.path("state")):
        for name in names:
            try:
                with open(os.path.join(parent, name), "rb") as file:
                    data = file.read()
            except FileNotFoundError:
                continue  # A journal or a WAL that ended meanwhile.
            found += [name for needle in needles if needle in data]
    return found


def leaks_of_state(stage):
    return stage.canaries.found_in_files([stage.path("state")])


def receipt_verifies(checks, stage, request):
    """The receipt of the real daemon, with the verifier that shares no code with it."""
    receipt = stage.http("GET", f"/v1/requests/{request}/receipt")[1]
    path = stage.path("receipt.json")
    with open(path, "w") as file:
        json.dump(receipt, file)
    done = subprocess.run([sys.executable, VERIFIER, receipt["ledger"]["key"], "--receipt", path],
                          capture_output=True, text=True, timeout=HANG_S)
    checks.check("the receipt as it is verifies", done.returncode == 0, done.stderr)
    checks.check("and all that was known at its end is proven", not disclaimed(done.stdout) & {
        "kind", "completed_at", "approval", "identities", "stores", "not_erased", "not_in_scope", "erasure_horizon",
        "erasure_horizon_unknown", "state", "controller", "recipients"}, done.stdout)
    verifier = module()
    checks.equal("whatever is changed in it is refused, or named as not proven",
                 unnoticed(verifier, receipt["ledger"]["key"], receipt), [])
    checks.equal("a member that is there twice is refused", says(verifier, receipt["ledger"]["key"], json.dumps(receipt).replace(
        '"not_erased":', '"not_erased": [], "not_erased":', 1)), None)
    bare = without_digest(verifier, receipt)
    checks.equal("a receipt of which the ledger has no digest is refused",
                 says(verifier, bare["ledger"]["key"], json.dumps(bare)), None)
    return receipt


def without_digest(verifier, receipt):
    """The receipt with a ledger that has no digest of it; the verifier takes its checkpoint for signed."""
    texts = [json.dumps({name: value for name, value in json.loads(item["entry"]).items() if name != "receipt"})
             for item in receipt["ledger"]["entries"]]
    leaves = [verifier.digest(b"\0", text.encode()) for text in texts]

    def root(leaves):
        half = 1 << (len(leaves) - 1).bit_length() - 1 if leaves[1:] else 0
        return verifier.digest(b"\1", root(leaves[:half]), root(leaves[half:])) if half else leaves[0]

    def path(leaves, place):
        if not leaves[1:]:
            return []
        half = 1 << (len(leaves) - 1).bit_length() - 1
        left, right = leaves[:half], leaves[half:]
        return path(left, place) + [root(right)] if place < half else path(right, place - half) + [root(left)]

    def read_note(note, key):
        assert (note.decode(), key) == (receipt["ledger"]["checkpoint"], receipt["ledger"]["key"])
        return None, str(len(leaves)), base64.b64encode(root(leaves)), None

    verifier.read_note = read_note
    entries = [{"index": place, "entry": text, "proof": [base64.b64encode(hash).decode() for hash in path(leaves, place)]}
               for place, text in enumerate(texts)]
    return {**receipt, "ledger": {**receipt["ledger"], "entries": entries}}


def module():
    spec = importlib.util.spec_from_file_location("verifier", VERIFIER)
    verifier = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(verifier)
    verifier.read_note = functools.cache(verifier.read_note)
    return verifier


def says(verifier, key, text):
    """What the verifier says of a receipt; nothing where it refuses it."""
    try:
        return verifier.check_receipt(key, text.encode())
    except Exception:
        return None


def disclaimed(text):
    return set(text.strip().partition(" but for: ")[2].split(", "))


def unnoticed(verifier, key, receipt):
    """The changes of a receipt that the verifier takes for proven."""
    found = []
    for name in [*receipt, "unheard_of"]:
        for value in changed(receipt.get(name, 0), name != "ledger"):
            output = says(verifier, key, json.dumps({**receipt, name: value}))
            if output is not None and name not in disclaimed(output):
                found.append((name, value))
        output = says(verifier, key, json.dumps({member: receipt[member] for member in receipt if member != name}))
        if output is not None and name in receipt and name not in disclaimed(says(verifier, key, json.dumps(receipt))):
            found.append((name, "left out"))
    return found


def changed(value, has_shape=True):
    """A value with each of its parts changed in turn; with each left out and one more, where its shape means something."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from ({**value, name: other} for other in changed(part, has_shape))
            if has_shape:
                yield {other: value[other] for other in value if other != name}
        if has_shape:
            yield {**value, "unheard_of": 1}
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from (value[:place] + [other] + value[place + 1:] for other in changed(part, has_shape))
            if has_shape:
                yield value[:place] + value[place + 1:]
        if has_shape:
            yield value + (value[:1] or ["more"])
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    else:
        yield value + "0"
        yield value.replace("2", "1", 1) if "2" in value else "a" + value
