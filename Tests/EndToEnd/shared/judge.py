"""Asks the other side at the end of a scenario: does a token still work, is any byte of an erased user left?

It writes down what applications hand in and what the stand-in gives out, and believes nothing else of the daemon than
that a request is completed and what its receipt claims. A scenario in which something may be left says so, and why.
"""

import sqlite3
import time
import urllib.parse

from canaries import files_below
from checks import HANG_S, within

# Verdicts that say of a link that it is cut. Whatever else is said names the link, and may leave it.
CUT = ("proven", "accepted", "already_gone")
# The application's own notes of what went; nobody erases those.
NOTES = ("erased",)
# The search for each form of an id in every file takes time.
USERS_MAX = 200


class Judge:
    def __init__(self, stage):
        self.stage = stage
        # (user, provider, secret, when) that were taken, and (user, request or row, when) of deletions.
        self.handed, self.deletions = [], []
        self.excuses = []
        # Our own files are scrubbed in groups, shortly after the end.
        self.scrubbed_s = HANG_S

    def excuse(self, what, reason):
        """Says why something may be left; `what` is how the problem begins."""
        self.excuses.append((what, reason))

    # What happens

    def saw_call(self, method, path, body, status, answer):
        parts = [urllib.parse.unquote(part) for part in path.split("?")[0].split("/")]
        if status != 202 or not isinstance(body, dict):
            return
        if method == "PUT" and parts[2:3] == ["users"] and parts[4:5] == ["identities"] and "secret" in body:
            self.handed.append((parts[3], parts[5], body["secret"], time.time()))
        elif method == "POST" and path == "/v1/requests" and body.get("kind") == "delete_account":
            self.deletions.append((body["user_id"], answer["id"], time.time()))

    def saw_rows(self, statements, values, row):
        """A commit to the spool, with the application's names of the values."""
        for statement in statements:
            if "user" not in values:
                continue
            if "INTO credentials" in statement and "secret" in values and "'apple'" in statement:
                self.handed.append((values["user"], "apple", values["secret"], time.time()))
            elif "INTO requests" in statement and "'delete_account'" in statement:
                self.deletions.append((values["user"], row, time.time()))

    # The end

    def judge(self):
        """What does not fit the claims of the daemon, which must be up."""
        completed = self._completed()
        problems = []
        problems += self._live_tokens(completed)
        problems += self._rows(completed)
        users = [user for user in completed if not self._came_back(user, completed[user][1])][:USERS_MAX]
        within(self.scrubbed_s, lambda: not self._bytes(users), 0.5)
        problems += self._bytes(users)
        used = {reason for what, reason in self.excuses for problem, _ in problems if problem.startswith(what)}
        left = [(problem, user) for problem, user in problems
                if not any(problem.startswith(what) for what, _ in self.excuses)]
        tokens = sum(user in completed for user, *_ in self.handed)
        text = f"the judge: of {len(completed)} users whose deletion is completed no token of {tokens} works that is" \
            " said to be cut, no row and no byte is left"
        if used:
            text += f" ({'; '.join(sorted(used))})"
        self.stage.checks.check(text, not left, "\n".join(sorted({f"{what}: {user[:10]}…" for what, user in left})))

    def _completed(self):
        """User → (request, when it was asked for), of each last deletion that is completed."""
        states = {}
        for user, place, at in self.deletions:
            request = place
            if isinstance(place, int):
                rows = self.stage.spool_rows("SELECT request_id FROM requests WHERE id = :row", row=place)
                request = rows[0][0] if rows else None
            if request is None:
                continue
            status, shown = self.stage.http("GET", f"/v1/requests/{request}")
            if status == 200 and shown["state"] == "completed":
                states[user] = (request, at)
        return states

    def _came_back(self, user, at):
        """Whether something of a user was handed in after the deletion: a new account."""
        return any(name == user and later > at for name, *_, later in self.handed) \
            or any(name == user and later > at for name, _, later in self.deletions)

    def _live_tokens(self, completed):
        live, known = {}, self.stage.sandbox.given
        problems = []
        for user, provider, secret, at in self.handed:
            if user not in completed or at > completed[user][1] or secret not in known:
                continue
            family, name, given_at = known[secret]
            if family not in live:
                live[family] = self.stage.sandbox.live_grants(family)
            again = any(one[:2] == (family, name) and one[2] > completed[user][1] for one in known.values())
            if name not in live[family] or again:
                continue
            status, receipt = self.stage.http("GET", f"/v1/requests/{completed[user][0]}/receipt")
            claims = [item["verdict"] for item in receipt.get("identities", []) if item["provider"] == provider]
            if any(item["provider"] == provider for item in receipt.get("forgotten", [])):
                # The receipt says that an operator had it forgotten, and that it is not revoked.
                continue
            if status != 200 or not claims or set(claims) & set(CUT):
                problems.append((f"a token works at {provider} that is called {claims}", user))
        return problems

    def _rows(self, completed):
        """Users in any cell of the application's database."""
        found, wanted = [], {user: at for user, (_, at) in completed.items()}
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            tables = [name for name, in app.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                      if name not in NOTES and not name.startswith("sqlite_")]
            for table in tables:
                for row in app.execute(f'SELECT * FROM "{table}"'):
                    found += [(f"a row of {table}", cell) for cell in row
                              if cell in wanted and not self._came_back(cell, wanted[cell])]
        return found

    def _bytes(self, users):
        forms = {user: user.encode() for user in users if len(user) >= 16}
        hits = []
        for path in files_below([self.stage.path("state"), self.stage.path("daemon.log")]):
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except FileNotFoundError:
                continue
            hits += [(f"bytes in {path.rsplit('/', 1)[-1]}", user) for user, form in forms.items() if form in data]
        return hits
