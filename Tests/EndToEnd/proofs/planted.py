"""The judge itself, where it must find something."""

import sqlite3

from checks import HANG_S, comes_true
from scenario import scenario
from stage import Stage


class Silent:
    """Keeps what was found instead of printing it."""

    def __init__(self):
        self.found = []

    def check(self, text, holds, detail=""):
        if not holds:
            self.found += str(detail).splitlines()
        return bool(holds)


@scenario(gate={})
def judge(checks, seed):
    """A token that works, a row and bytes of a user whose deletion is completed: else no verdict here is worth anything."""
    stage = Stage(Silent(), seed)
    try:
        assert stage.starts(), stage.log()[-2000:]
        [user] = stage.new_users(1)
        token, other = stage.new_tokens(2)
        stage.store(user, token)
        # What is planted stays, and what must go is gone by then.
        stage.judge.scrubbed_s = 0
        stage.judge.handed.append((user, "apple", other["refresh_token"], 0))
        request = stage.delete(user)[1]["id"]
        assert comes_true(lambda: stage.http("GET", f"/v1/requests/{request}")[1]["state"] == "completed"), \
            f"the deletion does not end: {stage.http('GET', f'/v1/requests/{request}')[1]}"
        assert comes_true(lambda: not stage.leaks()), f"it leaves traces: {stage.leaks()}"
        with sqlite3.connect(stage.app, timeout=HANG_S) as app:
            app.execute("INSERT INTO posts (author_id) VALUES (?)", (user,))
        with open(stage.path("state/left"), "w") as file:
            file.write(f"so many words {user} and more")
    finally:
        stage.close()
    found = [line.partition(":")[0] for line in stage.checks.found]
    checks.equal("the judge finds a token that works, a row and bytes that are planted", sorted(found), [
        "a row of posts", "a token works at apple that is called ['accepted']", "bytes in left"])
