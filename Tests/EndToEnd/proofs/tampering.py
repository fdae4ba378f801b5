"""The ledger of a real run, changed in many ways: both verifiers must notice each change, and a start must notice an old copy."""

import os
import random
import shutil
import subprocess
import sys

from checks import comes_true
from scenario import scenario
from stage import BINARIES, ROOT, Stage

sys.path.append(os.path.join(ROOT, "Tests/Shared"))
import tamper  # noqa: E402

TAMPER, VERIFIER = os.path.join(ROOT, "Tests/Shared/tamper.py"), os.path.join(ROOT, "docs/verify-ledger.py")
ROOT_CHECK = "assert top == decode(lines[2])"
# Each post of a user has a page, by the number of the post.
KEYED = """
[[store.key]]
name = "post"
table = "posts"
column = "author_id"
value = "id"
value_type = "integer"
[[store]]
name = "pages"
kind = "files"
root = "{root}"
paths = ["{{user_id}}.html"]
keyed_by = "app-db.post"
"""
RECORDS = 1000
BATCH = 12
# One process for each.
TRIES = 300


@scenario()
def tampering(checks, seed, all_bits=False):
    stage = Stage(checks, seed)
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    os.makedirs(stage.path("pages"))
    with open(stage.path("pages/.expunged-root"), "w") as file:
        file.write("pages\n")
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace("[requests]\n", '[requests]\nrechecks = ["1s"]\n', 1)
                   + KEYED.format(root=stage.path("pages")))
    stage.starts()
    old, before = stage.path("old"), 0
    while ledger(stage)["entries"] < RECORDS:
        complete(stage, BATCH)
        if not os.path.exists(old) and ledger(stage)["entries"] > RECORDS // 2:
            comes_true(lambda: looked_at(stage) == len(stage.users), 20)
            stage.stop()
            shutil.copytree(stage.path("state"), old)
            stage.starts()
            before = len(stage.users)
    # One look at each, or an entry might follow what is exported.
    checks.check("every deletion was looked at again", comes_true(
        lambda: looked_at(stage) == len(stage.users) - before, 20), looked_at(stage))
    entries, notes, key = export(stage)
    count = entries.count(b"\n")
    checks.check(f"the ledger has {RECORDS} records", count >= RECORDS, count)
    checks.equal("expungectl finds it sound", verify(stage, entries, notes, key), 0)
    paths = stage.path("entries"), stage.path("notes")
    done = subprocess.run(
        [sys.executable, "-B", TAMPER, VERIFIER, key, *paths, *(["all"] if all_bits else [])],
        capture_output=True, text=True)
    print("     independent verifier: " + done.stdout.replace("\n", "; "))
    removed_keys(checks, stage, (entries, notes, key))
    checks.check("the independent verifier notices every change",
                 done.returncode == 0 and done.stdout.endswith(" 0 missed\n"), done.stdout + done.stderr)
    checks.check("the judge sees it when a verifier compares no root", credulous_misses(stage, key, paths))
    by_program(checks, stage, (entries, notes, key), seed)
    cut_file(checks, stage, (entries, notes, key), old)
    old_copy(checks, stage, old)
    stage.close(keep=bool(checks.failed))


def removed_keys(checks, stage, signed):
    """An entry about ids of a store is taken away, or made one about another id."""
    entries, notes, key = signed
    lines = entries.split(b"\n")
    at = next(number for number, line in enumerate(lines) if line.startswith(b'{"event":"erased_keys"'))
    checks.check("it also left the machine", b"%d %s\n" % (at, lines[at]) in notes)
    first = lines[at].index(b'["') + 2
    other = lines[at][:first] + (b"B" if lines[at][first] == 0x41 else b"A") + lines[at][first + 1:]
    for change in (lines[:at] + lines[at + 1:], lines[:at] + [other] + lines[at + 1:]):
        status = verify(stage, b"\n".join(change), notes, key)
        checks.equal("both verifiers notice it", (status, independent(stage, key)), (13, 1))


def credulous_misses(stage, key, paths):
    with open(VERIFIER) as file:
        text = file.read()
    assert ROOT_CHECK in text
    with open(stage.path("credulous.py"), "w") as file:
        file.write(text.replace(ROOT_CHECK, "assert top"))
    done = subprocess.run([sys.executable, "-B", TAMPER, stage.path("credulous.py"), key, *paths],
                          capture_output=True, text=True)
    return done.returncode == 1 and not done.stdout.endswith(" 0 missed\n")


def by_program(checks, stage, signed, seed):
    entries, notes, key = signed
    chance = random.Random(seed)
    makers = [lambda bit=bit: (tamper.flipped(entries, bit), notes)
              for bit in chance.sample(range(len(entries) * 8), TRIES // 3)]
    makers += [lambda bit=bit: (entries, tamper.flipped(notes, bit))
               for bit in chance.sample(range(len(notes) * 8), TRIES // 3)]
    makers += chance.sample(list(tamper.reshaped(entries, notes, False)), TRIES // 3)
    missed = tried = 0
    for changed in (make() for make in makers):
        tried += 1
        missed += verify(stage, *changed, key) != 13
    print(f"     expungectl: {tried} changes, {missed} missed")
    checks.equal("expungectl notices every change", missed, 0)


def cut_file(checks, stage, signed, old):
    """The checkpoint file loses whole notes, or an older copy of it is put in its place: what is left is well-formed."""
    entries, notes, key = signed
    with open(os.path.join(old, "checkpoints"), "rb") as file:
        older = file.read()
    ends = tamper.note_ends(notes)
    cuts = {"its last note": notes[:ends[-2]], "half of its notes": notes[:ends[len(ends) // 2]],
            "all but the first": notes[:ends[0]], "all of them": b"", "those since an older copy": older}
    checks.check("an older copy is a beginning of the file", 0 < len(older) < len(notes) and notes.startswith(older))
    earlier = ("--earlier",)
    checks.equal("an export with the older copy, said to be one: both verifiers find it sound",
                 (verify(stage, entries, older, key, *earlier), independent(stage, key, *earlier)), (0, 0))
    beside(checks, stage, signed, cuts)
    at_start(checks, stage, cuts)


def beside(checks, stage, signed, cuts):
    """While the daemon runs."""
    entries, notes, key = signed
    stage.starts()
    sound = read(stage)
    for lost, cut in cuts.items():
        write(stage, cut)
        found = ledger_verify(stage), verify(stage, entries, cut, key), independent(stage, key)
        checks.equal(f"beside the daemon the file loses {lost}: it says so, and so do both verifiers of an export",
                     found, (13, 13, 1))
    write(stage, sound)
    checks.equal("with the file as it was all is sound", ledger_verify(stage), 0)
    cut = cuts["half of its notes"]
    write(stage, cut)
    complete(stage, 1)
    checks.check("the next signature notices it, and alarms", comes_true(
        lambda: "ledger_damaged" in alarms(stage), 20), alarms(stage))
    checks.check("and nothing is written behind the cut", read(stage) == cut)
    write(stage, sound)
    stage.stop()


def at_start(checks, stage, cuts):
    stage.starts()
    complete(stage, 1)
    checks.check("a start with the file as it was goes on signing", alarms(stage) == [] and ledger_verify(stage) == 0,
                 alarms(stage))
    stage.stop()
    sound = read(stage)
    for lost, cut in cuts.items():
        write(stage, cut)
        stage.starts()
        request = stage.delete(stage.new_users(1)[0])[1]["id"]
        held = comes_true(lambda: show(stage, request).get("detail") == "on_hold", 10)
        checks.equal(f"at a start the file has lost {lost}: alarm, a request is held, 'ledger verify' ends with 13",
                     ("ledger_damaged" in alarms(stage), held, ledger_verify(stage)), (True, True, 13))
        stage.stop()
    write(stage, sound)
    stage.starts()
    checks.check("with the file as it was what was held goes on", comes_true(
        lambda: show(stage, request)["state"] == "completed", 20) and ledger_verify(stage) == 0)


def show(stage, request):
    return stage.http("GET", f"/v1/requests/{request}")[1]


def alarms(stage):
    return stage.http("GET", "/v1/status")[1]["alarms"]


def ledger_verify(stage):
    return stage.run("expungectl", "ledger", "verify").returncode


def read(stage):
    with open(stage.path("state/checkpoints"), "rb") as file:
        return file.read()


def write(stage, notes):
    with open(stage.path("state/checkpoints"), "wb") as file:
        file.write(notes)


def old_copy(checks, stage, old):
    """An older state.db beside the checkpoint file of now."""
    stage.stop()
    for name in ("state.db", "state.db-wal", "state.db-shm"):
        if os.path.exists(stage.path(f"state/{name}")):
            os.remove(stage.path(f"state/{name}"))
        if os.path.exists(os.path.join(old, name)):
            shutil.copy(os.path.join(old, name), stage.path(f"state/{name}"))
    stage.starts()
    status = stage.http("GET", "/v1/status")[1]
    checks.check("a start with an old copy alarms", "state_rolled_back" in status["alarms"], status)
    user = stage.new_users(1)[0]
    request = stage.delete(user)[1]["id"]
    checks.check("and destroys nothing", comes_true(
        lambda: stage.http("GET", f"/v1/requests/{request}")[1].get("detail") == "on_hold", 10))


def complete(stage, count):
    requests = [stage.delete(user)[1]["id"] for user in stage.new_users(count)]
    assert comes_true(lambda: all(
        stage.http("GET", f"/v1/requests/{request}")[1]["state"] == "completed"
        for request in requests), 20)
    # A receipt has its entries signed: one more checkpoint.
    stage.http("GET", f"/v1/requests/{requests[-1]}/receipt")


def ledger(stage):
    return stage.http("GET", "/v1/ledger")[1]


def looked_at(stage):
    """Deletions that were looked at since the last start."""
    text = stage.http("GET", "/metrics")[1].decode()
    return int(text.split('expunged_rechecks_total{outcome="clean"} ')[1].split()[0])


def export(stage):
    done = subprocess.run(
        [os.path.join(BINARIES, "expungectl"), "ledger", "export"], capture_output=True, check=True,
        env=dict(os.environ, EXPUNGED_SOCKET=stage.path("runtime/control.sock")))
    key = ledger(stage)["key"]
    stage.stop()
    notes = read(stage)
    for name, data in (("entries", done.stdout), ("notes", notes)):
        with open(stage.path(name), "wb") as file:
            file.write(data)
    return done.stdout, notes, key


def independent(stage, key, what="--ledger"):
    """The exit status of the other verifier over what `verify` was given last."""
    return subprocess.run([sys.executable, "-B", VERIFIER, key, what, stage.path("changed-entries"),
                           stage.path("changed-notes")], capture_output=True, text=True).returncode


def verify(stage, entries, notes, key, *more):
    """The exit status of expungectl over an export."""
    for name, data in (("changed-entries", entries), ("changed-notes", notes)):
        with open(stage.path(name), "wb") as file:
            file.write(data)
    return stage.run("expungectl", "ledger", "verify", "--entries", stage.path("changed-entries"),
                     "--checkpoints", stage.path("changed-notes"), "--key", key, *more).returncode
