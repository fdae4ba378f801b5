"""Nothing is revoked or purged before a second person, by login, approved the plan that is carried out."""

import json
import os
import sqlite3
import subprocess

from checks import HANG_S, comes_true
from scenario import scenario
from stage import GONE, Stage

FIRST, SECOND = 1001, 1002

PEOPLE = """
CREATE TABLE notes (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, text TEXT);
CREATE INDEX notes_owner ON notes (owner);
CREATE TABLE profiles (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, email TEXT);
CREATE INDEX profiles_owner ON profiles (owner);
"""
STORE = """
[[store]]
name = "people-db"
kind = "sqlite"
path = "{people}"
[[store.table]]
table = "notes"
column = "owner"
action = "delete"
[[store.table]]
table = "profiles"
column = "owner"
action = "anonymize"
keep_reason = "tax law"
set = {{ email = {{ strategy = "null" }} }}
"""


@scenario(gate={})
def approval(checks, seed):
    if not may_log_in():
        checks.check("two logins are played: run it as root", False)
        return
    approved(checks, seed)
    spooled(checks, seed)
    waited(checks, seed)
    uncounted(checks, seed)


def required(checks, seed, more=""):
    """A stage that asks for approvals, not started."""
    stage = Stage(checks, seed)
    edit(stage, "[requests]\n", "[requests]\napproval = \"required\"\n")
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(more.format(people=stage.path("app/people.db")))
    return stage


def approved(checks, seed):
    stage = required(checks, seed)
    stage.starts()
    user, token = stage.new_users(1)[0], stage.new_tokens(1)[0]
    stage.store(user, token)
    dry = json.loads(as_login(stage, FIRST, "plan", user, "--json").stdout)
    counts = [item["count"] for store in dry["stores"] for item in store["items"]]
    checks.equal("a dry run counts the user's rows", counts, [5])
    checks.equal("a dry run purges nothing", stage.rows_left()[user], 5)

    request = as_login(stage, FIRST, "delete-account", user).stdout.strip()
    checks.check("it waits for an approval", waits(stage, request), show(stage, request))
    shown = plan(stage, request)
    revoked = revocations(stage)
    same = as_login(stage, FIRST, "approve", request, "--plan", shown["hash"])
    checks.check("another root shell of the same login is refused",
                 same.returncode == 4 and "same_operator" in same.stderr, same.stderr)
    wrong = as_login(stage, SECOND, "approve", request, "--plan", "0" * 32)
    checks.check("another plan is refused, and the present one is named", wrong.returncode == 4
                 and "plan_changed" in wrong.stderr and shown["hash"] in wrong.stderr, wrong.stderr)
    stage.kill()
    stage.starts()
    checks.equal("a restart changes nothing", plan(stage, request)["hash"], shown["hash"])
    checks.equal("nothing was revoked before the approval", revocations(stage), revoked)

    # The plan was read, and then the application writes one more row.
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("INSERT INTO posts (author_id, body) VALUES (?, 'unread')", (user,))
    stale = as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    checks.check("a plan that is out of date is refused with its own exit code",
                 stale.returncode == 4 and "plan_changed" in stale.stderr, (stale.returncode, stale.stderr))
    checks.check("     it is made again", comes_true(lambda: plan(stage, request)["hash"] != shown["hash"]))
    checks.check("     and it is the one that the refusal named", plan(stage, request)["hash"] in stale.stderr, stale.stderr)
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("DELETE FROM posts WHERE author_id = ? AND body = 'unread'", (user,))
    stale = as_login(stage, SECOND, "approve", request, "--plan", plan(stage, request)["hash"])
    checks.equal("     so is one that has fewer rows", stale.returncode, 4)
    checks.check("     and nothing was revoked", revocations(stage) == revoked)
    checks.check("     the plan is the first one again",
                 comes_true(lambda: plan(stage, request)["hash"] == shown["hash"]))

    # While the store is paused the application writes one more row.
    stage.http("POST", "/v1/stores/app-db/pause")
    done = as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    checks.check("another login approves", done.returncode == 0, done.stderr)
    checks.check("the token is revoked then",
                 comes_true(lambda: revocations(stage) > revoked), show(stage, request))
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("INSERT INTO posts (author_id, body) VALUES (?, 'late')", (user,))
    stage.http("POST", "/v1/stores/app-db/resume")
    checks.check("a plan that changed asks again", waits(stage, request), show(stage, request))
    changed = plan(stage, request)
    difference = [(line["kind"], line["was"], line["now"]) for line in changed["changes"]]
    checks.equal("the difference is shown", difference, [("changed", 5, 6)])
    checks.equal("nothing was purged", stage.rows_left()[user], 6)
    old = as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    checks.check("the plan of before is refused", "plan_changed" in old.stderr, old.stderr)
    as_login(stage, SECOND, "approve", request, "--plan", changed["hash"])
    checks.check("the plan that was approved is carried out", comes_true(
        lambda: show(stage, request)["state"] == "completed"), show(stage, request))
    checks.equal("every row is gone", stage.rows_left().get(user, 0), 0)
    status, receipt = stage.http("GET", f"/v1/requests/{request}/receipt")
    checks.equal("the receipt names the plan and who approved it",
                 (receipt["approval"]["plan"], receipt["approval"]["uid"]),
                 (changed["hash"], SECOND))
    stage.scan()
    stage.close()


def uncounted(checks, seed):
    """A store that cannot be counted holds up the plan, and an operator reads which one it is."""
    stage = required(checks, seed, STORE)
    people = stage.path("app/people.db")
    with sqlite3.connect(people) as database:
        database.executescript(PEOPLE)
    stage.starts()
    os.rename(people, people + ".away")
    user = stage.new_users(1)[0]
    request = as_login(stage, FIRST, "delete-account", user).stdout.strip()

    def why():
        steps = [step for step in show(stage, request)["steps"] if step["kind"] == "plan"]
        return [(step.get("store"), "last_error" in step) for step in steps]
    checks.check("the plan names the store that cannot be counted",
                 comes_true(lambda: why() == [("people-db", True)]), show(stage, request))
    shown = stage.run("expungectl", "show", request).stdout
    checks.check("     and how its cause is found", "people-db" in shown and "expungectl stores" in shown, shown)
    os.rename(people + ".away", people)
    as_login(stage, FIRST, "stores", "resume", "people-db")
    as_login(stage, FIRST, "retry", request)
    checks.check("     it is counted once the store is back", waits(stage, request), show(stage, request))
    stage.close()


def spooled(checks, seed):
    """A row of the spool does not show who wrote it, so it takes two."""
    stage = required(checks, seed)
    stage.starts()
    user = stage.new_users(1)[0]
    row = stage.spool_delete(user)
    checks.check("spool: it waits for an approval", comes_true(lambda: stage.spool_rows(
        "SELECT 1 FROM requests WHERE id = :row AND detail = 'awaiting_approval'", row=row)), stage.spool_rows("SELECT state, detail FROM requests"))
    request = stage.spool_rows("SELECT request_id FROM requests WHERE id = :row", row=row)[0][0]
    shown = plan(stage, request)
    checks.equal("spool: the plan says that it takes two", shown["approvals_required"], 2)
    done = as_login(stage, FIRST, "approve", request, "--plan", shown["hash"])
    checks.check("spool: the first approval is taken", done.returncode == 0, done.stderr)
    stage.kill()
    stage.starts()
    checks.equal("spool: it is not enough, and is not forgotten",
                 (show(stage, request).get("detail"), plan(stage, request)["first_approved_by"]),
                 ("awaiting_approval", FIRST))
    text = stage.run("expungectl", "plan", "--request", request).stdout
    checks.check("spool: the plan says so to people", "another one is needed" in text, text)
    again = as_login(stage, FIRST, "approve", request, "--plan", shown["hash"])
    checks.check("spool: the same operator is refused the second",
                 again.returncode == 4 and "same_operator" in again.stderr, again.stderr)
    checks.equal("spool: nothing is purged before the second", stage.rows_left()[user], 5)
    as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    completes(checks, stage, "spool", request)
    given = stage.http("GET", f"/v1/requests/{request}/receipt")[1]["approval"]
    checks.equal("spool: the receipt names both", (given["first_uid"], given["uid"]), (FIRST, SECOND))
    stage.scan()
    stage.close()


def waited(checks, seed):
    """A store that had to wait is compared before its own purge, and so are the rules."""
    stage = required(checks, seed, STORE)
    with sqlite3.connect(stage.path("app/people.db")) as people:
        people.executescript(PEOPLE)
    stage.starts()
    held_for_long(checks, stage)
    another_mask(checks, stage)
    another_mask_before(checks, stage)
    stage.scan()
    stage.close()


def held_for_long(checks, stage):
    user = person(stage)
    hold(checks, stage)
    request = as_login(stage, FIRST, "delete-account", user).stdout.strip()
    shown = approves(checks, stage, request)
    checks.check("held: everything else is purged", comes_true(
        lambda: show(stage, request).get("detail") == "on_hold"), show(stage, request))
    checks.equal("held: that store is not", (stage.rows_left().get(user, 0), left(stage, user)), (0, (3, "me")))
    stage.kill()
    people(stage, "INSERT INTO notes (owner, text) VALUES (?, 'late')", user)
    stage.starts()
    release(checks, stage)
    checks.check("held: a part that changed asks again, also after kill -9", waits(stage, request), show(stage, request))
    changed = plan(stage, request)
    difference = [(line["store"], line["name"], line["was"], line["now"]) for line in changed["changes"]]
    checks.equal("held: the difference is of that store alone", difference, [("people-db", "notes", 3, 4)])
    counts = {item["name"]: item["count"] for store in changed["stores"] for item in store["items"]}
    checks.equal("held: what is purged already stands as it was approved", counts["posts"], 5)
    checks.equal("held: nothing of it is purged", left(stage, user), (4, "me"))
    late = stage.http("POST", f"/v1/requests/{request}/cancel")
    checks.equal("held: it is too late to cancel", (late[0], late[1].get("code")), (409, "too_late"))
    old = as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    checks.check("held: the plan of before is refused", "plan_changed" in old.stderr, old.stderr)
    stage.kill()
    stage.starts()
    checks.equal("held: a restart changes nothing", plan(stage, request)["hash"], changed["hash"])
    as_login(stage, SECOND, "approve", request, "--plan", changed["hash"])
    completes(checks, stage, "held", request)
    checks.equal("held: then it is", left(stage, user), (0, None))


def another_mask(checks, stage):
    user = person(stage)
    hold(checks, stage)
    request = as_login(stage, FIRST, "delete-account", user).stdout.strip()
    approves(checks, stage, request)
    checks.check("mask: everything else is purged", comes_true(
        lambda: show(stage, request).get("detail") == "on_hold"), show(stage, request))
    edit(stage, "strategy = \"null\"", "strategy = \"hash\"")
    checks.equal("mask: the reload is accepted", stage.http("POST", "/v1/configuration/reload")[0], 200)
    release(checks, stage)
    checks.check("mask: another mask asks again", waits(stage, request), show(stage, request))
    changed = plan(stage, request)
    difference = [(line["kind"], line["store"], line["rule"], line["rule_was"], line["rule_now"])
                  for line in changed["changes"]]
    checks.equal("mask: the difference is shown", difference, [
        ("changed", "people-db", "table profiles (owner) set email", "strategy = \"null\"", "strategy = \"hash\"")])
    text = stage.run("expungectl", "plan", "--request", request).stdout
    checks.check("mask: also to people", "set email" in text and "strategy = \"hash\"" in text, text)
    checks.equal("mask: nothing is masked", left(stage, user), (3, "me"))
    as_login(stage, SECOND, "approve", request, "--plan", changed["hash"])
    completes(checks, stage, "mask", request)
    notes, email = left(stage, user)
    checks.check("mask: it is masked as approved", notes == 0 and email.startswith("erased:"), (notes, email))


def another_mask_before(checks, stage):
    """The approval comes after a reload that the plan knows nothing of."""
    user = person(stage)
    request = as_login(stage, FIRST, "delete-account", user).stdout.strip()
    checks.check("reload: it waits for an approval", waits(stage, request), show(stage, request))
    shown = plan(stage, request)
    edit(stage, "strategy = \"hash\"", "strategy = \"random\"")
    checks.equal("reload: it is accepted", stage.http("POST", "/v1/configuration/reload")[0], 200)
    as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    checks.check("reload: what was approved is not what would be done", comes_true(
        lambda: plan(stage, request)["hash"] != shown["hash"]) and waits(stage, request), show(stage, request))
    checks.equal("reload: nothing is purged", (stage.rows_left()[user], left(stage, user)), (5, (3, "me")))
    as_login(stage, SECOND, "approve", request, "--plan", plan(stage, request)["hash"])
    completes(checks, stage, "reload", request)


def person(stage):
    """A user with five posts, three notes and a profile, and no token."""
    user = stage.new_users(1)[0]
    for number in range(3):
        people(stage, "INSERT INTO notes (owner, text) VALUES (?, 'note')", user)
    people(stage, "INSERT INTO profiles (owner, email) VALUES (?, 'me')", user)
    return user


def people(stage, statement, user):
    with sqlite3.connect(stage.path("app/people.db"), timeout=HANG_S) as database:
        return database.execute(statement, (user,)).fetchall()


def left(stage, user):
    """How many notes, and the profile's address."""
    notes = people(stage, "SELECT count(*) FROM notes WHERE owner = ?", user)[0][0]
    return notes, people(stage, "SELECT email FROM profiles WHERE owner = ?", user)[0][0]


def hold(checks, stage):
    done = stage.run("expungectl", "hold", "--store", "people-db", "--reason", "case 7")
    checks.check("the store is held", done.returncode == 0, done.stderr)


def release(checks, stage):
    done = stage.run("expungectl", "release", "--hold", "people-db")
    checks.check("the hold is lifted", done.returncode == 0, done.stderr)


def approves(checks, stage, request):
    checks.check("it waits for an approval", waits(stage, request), show(stage, request))
    shown = plan(stage, request)
    done = as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    checks.check("it is approved", done.returncode == 0, done.stderr)
    return shown


def completes(checks, stage, name, request):
    checks.check(f"{name}: the plan that was approved is carried out", comes_true(
        lambda: show(stage, request)["state"] == "completed"), show(stage, request))


def edit(stage, old, new):
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    assert old in text
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace(old, new, 1))


def as_login(stage, uid, *arguments):
    """expungectl in a root shell of somebody's login: su and sudo leave the login uid alone."""
    return stage.run("expungectl", *arguments, before=lambda: log_in(uid))


def log_in(uid):
    with open("/proc/self/loginuid", "w") as file:
        file.write(str(uid))


def may_log_in():
    """Only root may say anew who logged in."""
    try:
        subprocess.run(["true"], preexec_fn=lambda: log_in(FIRST), check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def plan(stage, request):
    """The plan, once there is one: after a refusal it is made again."""
    made = []

    def is_made():
        answer = stage.http("GET", f"/v1/requests/{request}/plan")[1]
        if "hash" in answer:
            made.append(answer)
        return bool(made)
    assert comes_true(is_made), f"no plan is made: {show(stage, request)}"
    return made[0]


def show(stage, request):
    try:
        return stage.http("GET", f"/v1/requests/{request}")[1]
    except GONE as error:
        return {"state": f"unreachable: {error}"}


def waits(stage, request):
    return comes_true(lambda: show(stage, request).get("detail") == "awaiting_approval")


def revocations(stage):
    return len(stage.sandbox.revoked_at())
