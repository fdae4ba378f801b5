"""Nothing is revoked or purged before a second person, by login, approved the plan that is carried out."""

import json
import os
import sqlite3
import subprocess

from checks import comes_true
from stage import GONE, Stage

FIRST, SECOND = 1001, 1002


def approval(checks, seed):
    if not may_log_in():
        checks.check("two logins are played: run it as root", False)
        return
    stage = Stage(checks, seed)
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace("[requests]\n", "[requests]\napproval = \"required\"\n", 1))
    stage.starts()
    user, token = stage.new_users(1)[0], stage.new_tokens(1)[0]
    stage.store(user, token)
    dry = json.loads(as_login(stage, FIRST, "plan", user, "--json").stdout)
    counts = [item["count"] for target in dry["targets"] for item in target["items"]]
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
    checks.check("another plan is refused", wrong.returncode == 4 and "plan_changed" in wrong.stderr)
    stage.kill()
    stage.starts()
    checks.equal("a restart changes nothing", plan(stage, request)["hash"], shown["hash"])
    checks.equal("nothing was revoked before the approval", revocations(stage), revoked)

    # While the target is paused the application writes one more row.
    stage.http("POST", "/v1/targets/app-db/pause")
    done = as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    checks.check("another login approves", done.returncode == 0, done.stderr)
    checks.check("the token is revoked then",
                 comes_true(lambda: revocations(stage) > revoked, 20))
    with sqlite3.connect(stage.app, timeout=10) as app:
        app.execute("INSERT INTO posts (author_id, body) VALUES (?, 'late')", (user,))
    stage.http("POST", "/v1/targets/app-db/resume")
    checks.check("a plan that changed asks again", waits(stage, request), show(stage, request))
    changed = plan(stage, request)
    difference = [(line["kind"], line["was"], line["now"]) for line in changed["changes"]]
    checks.equal("the difference is shown", difference, [("changed", 5, 6)])
    checks.equal("nothing was purged", stage.rows_left()[user], 6)
    old = as_login(stage, SECOND, "approve", request, "--plan", shown["hash"])
    checks.check("the plan of before is refused", "plan_changed" in old.stderr, old.stderr)
    as_login(stage, SECOND, "approve", request, "--plan", changed["hash"])
    checks.check("the plan that was approved is carried out", comes_true(
        lambda: show(stage, request)["state"] == "completed", 20), show(stage, request))
    checks.equal("every row is gone", stage.rows_left().get(user, 0), 0)
    status, receipt = stage.http("GET", f"/v1/requests/{request}/receipt")
    checks.equal("the receipt names the plan and who approved it",
                 (receipt["approval"]["plan"], receipt["approval"]["uid"]),
                 (changed["hash"], SECOND))
    stage.scan()
    stage.close()


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
    return stage.http("GET", f"/v1/requests/{request}/plan")[1]


def show(stage, request):
    try:
        return stage.http("GET", f"/v1/requests/{request}")[1]
    except GONE as error:
        return {"state": f"unreachable: {error}"}


def waits(stage, request):
    return comes_true(lambda: show(stage, request).get("detail") == "awaiting_approval", 20)


def revocations(stage):
    return len(stage.sandbox.revoked_at())
