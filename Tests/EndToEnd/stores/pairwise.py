"""Spellings, columns, clocks, spools, stores, channels and neighbors, each value of one with each value of each other.

One deletion per arrangement. The provider's own table and the store's own idea of equality judge: once it is called
completed no token works, no row is left that the store takes for the user's, and all that it distinguishes is there.
"""

import concurrent.futures
import contextlib
import itertools
import os
import sqlite3
import tempfile
import threading
import time

from canaries import canary
from checks import HANG_S, Checks, comes_true, within
from preload import preload
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, ROWS_EACH, Stage

FACTORS = {
    # What the application calls the user, and others whom somebody could take for that user.
    "spelling": ["plain", "case", "number", "zeros", "accents", "blanks", "signs", "uuid"],
    "column": ["TEXT", "TEXT COLLATE NOCASE", "INTEGER", ""],
    "clock": [0, 40, -40],
    "spool": ["DELETE", "WAL"],
    "store": ["DELETE", "WAL"],
    "token": ["spool", "socket"],
    "request": ["spool", "socket"],
    "neighbor": ["nobody", "spool lock", "store lock", "flood"],
}
PROVIDER = """
[[provider]]
name = "sso"
kind = "oauth2"
issuer = "{endpoint}/oauth2"
check = "introspection"
client_ids = ["app"]
client_secret_credential = "sso-secret"
ca_file = "{ca}"
timeout_connect = "1s"
timeout_total = "3s"
"""
LANES = 3
# What keeps a request open may have been its neighbor.
WHILE_S = 5
FLOOD = 200


@scenario()
def pairwise(checks, seed):
    sandbox = Sandbox(BINARIES)
    place = tempfile.mkdtemp(prefix="expunged-skew-")
    library = preload("skew", place)
    cases = arrangements()
    pairs = sum(len(one) * len(other) for one, other in itertools.combinations(FACTORS.values(), 2))
    try:
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            played = list(pool.map(lambda one: Arrangement(sandbox, library, seed, *one).play(), enumerate(cases)))
    finally:
        sandbox.close()
    problems = [f"{case}: {problem}" for case, (found, _) in zip(cases, played) for problem in found]
    ends = [end for _, end in played]
    checks.check(f"{len(cases)} arrangements with all {pairs} pairs, {ends.count('completed')} completed, {ends.count('open')}"
                 " kept open with a reason: what is called completed is true", not problems, "\n".join(problems))


def arrangements():
    """Cases in which each pair of values of two factors stands together at least once (greedy)."""
    names = list(FACTORS)
    open_pairs = {frozenset({(one, first), (other, second)}) for one, other in itertools.combinations(names, 2)
                  for first in FACTORS[one] for second in FACTORS[other]}
    cases = []
    while open_pairs:
        case = dict(sorted(sorted(open_pairs, key=lambda pair: sorted(map(repr, pair)))[0], key=repr))
        for name in names:
            if name not in case:
                case[name] = max(FACTORS[name], key=lambda value: sum(
                    frozenset({(name, value), item}) in open_pairs for item in case.items()))
        cases.append({name: case[name] for name in names})
        open_pairs -= {frozenset(pair) for pair in itertools.combinations(case.items(), 2)}
    return cases


def spellings(kind, random):
    """The user's id, and ids of others that look like it."""
    text, number = canary(random), str(random.randrange(10 ** 15, 10 ** 16))
    hexadecimal = f"{random.getrandbits(128):032x}"
    dashed = "-".join(hexadecimal[start:end] for start, end in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
    return {
        "plain": (text, [text + "x", text[:-1], text[:-1] + "_", "%"]),
        "case": (text + "aB", [text + "Ab", (text + "aB").upper()]),
        "number": (number, [number + "0", number[:-1]]),
        "zeros": ("00" + number, [number + "1", "0" + number + "1"]),
        "accents": (text + "é", [text + "e\u0301", text + "e"]),
        "blanks": (text + " a", [text + "  a", text + " a "]),
        "signs": (text + "%_'\"\\;--", [text + "%_", text + "x"]),
        "uuid": (dashed, [hexadecimal[::-1], dashed[::-1]]),
    }[kind]


class Arrangement:
    def __init__(self, sandbox, library, seed, number, case):
        self.sandbox, self.library, self.case = sandbox, library, case
        self.stage = Stage(Checks(), f"pairwise {seed} {number}", sandbox)
        self.user, self.others = spellings(case["spelling"], self.stage.random)
        self.problems, self.is_over = [], threading.Event()

    def play(self):
        """What is wrong, and how it ended."""
        stage = self.stage
        stage.unjudged = "each arrangement has judges of its own"
        end = "open"
        neighbor = threading.Thread(target=getattr(self, "_" + self.case["neighbor"].replace(" ", "_")))
        try:
            self._prepare()
            stage.start(LD_PRELOAD=self.library, SKEW_S=str(self.case["clock"]))
            if not stage.comes_up():
                return [f"does not start: {stage.log()[-300:]}"], end
            neighbor.start()
            self._submit()
            end = self._judge()
        except Exception as error:
            self.problems.append(f"{type(error).__name__}: {error}")
        finally:
            self.is_over.set()
            if neighbor.ident:
                neighbor.join()
            stage.close(keep=bool(self.problems))
        return self.problems, end

    def _prepare(self):
        stage = self.stage
        with open(stage.path("credentials/sso-secret"), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("app-secret")
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(PROVIDER.format(endpoint=self.sandbox.endpoint, ca=self.sandbox.path("ca.pem")))
        stage.app = stage.path("app/other.db")
        with open(stage.path("expunged.toml")) as file:
            text = file.read().replace("app/app.db", "app/other.db")
        with open(stage.path("expunged.toml"), "w") as file:
            file.write(text)
        with contextlib.closing(sqlite3.connect(stage.app)) as app, app:
            app.executescript(f"PRAGMA journal_mode = {self.case['store']}; CREATE TABLE posts"
                              f" (id INTEGER PRIMARY KEY, author_id {self.case['column']} NOT NULL, body TEXT);")
            app.executemany("INSERT INTO posts (author_id, body) VALUES (?, ?)", [
                (name, f"post {row}") for row in range(ROWS_EACH) for name in (self.user, *self.others)])
            self.equal = app.execute("SELECT count(*) FROM posts WHERE author_id = ?", (self.user,)).fetchone()[0]
            self.stays = app.execute("SELECT * FROM posts WHERE author_id != ? ORDER BY id", (self.user,)).fetchall()
            same = app.execute("SELECT count(*) FROM posts WHERE CAST(author_id AS BLOB) = CAST(? AS BLOB)",
                               (self.user,)).fetchone()[0]
        # The store takes others for the user, or spells the user otherwise: it may also be kept open.
        self.may_stay_open = self.equal != same or same != ROWS_EACH or self.case["column"] != "TEXT"
        with contextlib.closing(sqlite3.connect(stage.spool)) as spool:
            spool.execute(f"PRAGMA journal_mode = {self.case['spool']}")
        made = self.sandbox.ask("tokens", "--provider", "oauth2", "--client-id", "app", "--count", "1",
                                "--user-prefix", f"{canary(stage.random)}-")["tokens"][0]
        self.token, self.name = made["refresh_token"], made["user"]

    def _submit(self):
        stage = self.stage
        credential = ("INSERT INTO credentials (user_id, provider, client_id, kind, secret)"
                      " VALUES (:user, 'sso', 'app', 'refresh_token', :secret)")
        request = "INSERT INTO requests (kind, user_id) VALUES ('delete_account', :user)"
        if self.case["token"] == "socket":
            from_path = "".join(f"%{byte:02x}" for byte in self.user.encode())
            status, body = stage.http("PUT", f"/v1/users/{from_path}/identities/sso", {
                "kind": "refresh_token", "secret": self.token, "client_id": "app"})
            assert status == 202, body
        elif self.case["request"] == "socket":
            stage.spool_do(credential, user=self.user, secret=self.token)
        if self.case["request"] == "socket":
            status, body = stage.http("POST", "/v1/requests", {"kind": "delete_account", "user_id": self.user})
            assert status == 202, body
            self.request = lambda: body["id"]
            return
        statements = [request] if self.case["token"] == "socket" else [credential, request]
        row = stage.spool_do(*statements, user=self.user, secret=self.token)
        self.request = lambda: stage.spool_rows("SELECT request_id FROM requests WHERE id = :row", row=row)[0][0]

    def _shown(self):
        try:
            request = self.request()
            return stage_answer(self.stage, request) if request else {"state": "submitted"}
        except (*GONE, sqlite3.OperationalError) as error:
            return {"state": repr(error)}

    def _judge(self):
        is_done = self._ends()
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            rows = app.execute("SELECT count(*) FROM posts WHERE author_id = ?", (self.user,)).fetchone()[0]
            stays = app.execute("SELECT * FROM posts WHERE author_id != ? ORDER BY id", (self.user,)).fetchall()
        if [row for row in self.stays if row not in stays]:
            self.problems.append("rows that the store distinguishes from the user's are gone")
        is_live = self.name in self.sandbox.live_grants("oauth2")
        if rows < self.equal and is_live:
            self.problems.append("rows went although the token works")
        if is_done and (rows or is_live):
            self.problems.append(f"completed, but {rows} rows are left and the token {'works' if is_live else 'is dead'}")
        if not is_done and not self.may_stay_open:
            self.problems.append(f"does not come to its end: {self._shown()}")
        if not is_done and not comes_true(self._is_done_or_says_why):
            self.problems.append(f"kept open, and nothing says why: {self._shown()}")
        return "completed" if is_done else "open"

    def _is_done(self):
        return self._shown()["state"] == "completed"

    def _is_done_or_says_why(self):
        shown = self._shown()
        return shown["state"] == "completed" or reasons(shown)

    def _ends(self):
        """Whether it is completed; what may be kept open is waited for until it says why, and a while behind that."""
        if not self.may_stay_open:
            return comes_true(self._is_done, pause=0.05)
        comes_true(self._is_done_or_says_why, pause=0.05)
        return within(WHILE_S, self._is_done, 0.05)

    # Neighbors

    def _nobody(self):
        pass

    def _spool_lock(self):
        self._hold(self.stage.spool)

    def _store_lock(self):
        self._hold(self.stage.app)

    def _hold(self, path):
        """A lock that is held half of the time."""
        database = sqlite3.connect(path, timeout=HANG_S, isolation_level=None)
        while not self.is_over.is_set():
            try:
                database.execute("BEGIN IMMEDIATE")
                time.sleep(0.2)
                database.execute("ROLLBACK")
            except sqlite3.OperationalError:
                pass  # Somebody else has it.
            time.sleep(0.2)
        database.close()

    def _flood(self):
        """Somebody else's requests, by the hundred."""
        for number in range(FLOOD):
            if self.is_over.is_set():
                return
            try:
                self.stage.spool_do("INSERT INTO requests (kind, user_id) VALUES ('delete_account', :user)",
                                    user=f"flood-{number}-{canary(self.stage.random)}")
            except sqlite3.OperationalError:
                pass  # As the neighbor of a busy spool it waits like anybody.


def reasons(shown):
    """What a request says of why it is not done, in any of its parts."""
    if isinstance(shown, list):
        return [reason for part in shown for reason in reasons(part)]
    if not isinstance(shown, dict):
        return []
    found = [value for key, value in shown.items() if key in ("last_error", "obstacle", "detail") and value]
    return found + [reason for part in shown.values() for reason in reasons(part)]


def stage_answer(stage, request):
    status, body = stage.http("GET", f"/v1/requests/{request}")
    return body if status == 200 else {"state": str(status)}
