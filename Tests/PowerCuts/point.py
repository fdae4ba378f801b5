"""One power cut: the disk as it may be then, the daemon on it, and what the world outside says of the end."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import time

from checks import HANG_S, comes_true, within
from control import GONE, Control
from disk import write_image
from recording import ROWS_EACH, STORES

# A request that takes longer is stuck.
PATIENCE_S = 600


class Promises:
    """What the world outside knew when the power went."""

    def __init__(self):
        self.keys, self.since = 0, None
        self.begun, self.stored, self.ids, self.rows = set(), set(), {}, {}
        self.dead, self.posts, self.restored = set(), [], set()

    def hear(self, text):
        facts = json.loads(text)
        getattr(self, f"_{facts.pop('mark')}")(**facts)

    def copy(self):
        made = Promises()
        for name, value in vars(self).items():
            setattr(made, name, value.copy() if hasattr(value, "copy") else value)
        return made

    def _keys(self, number):
        self.keys = number

    def _begin(self, user):
        self.begun.add(user)

    def _stored(self, user):
        self.stored.add(user)

    def _accepted(self, user, id):
        self.ids[user] = id

    def _row(self, user, row):
        self.rows[user] = row

    def _revoked(self, token):
        self.dead.add(token)

    def _post(self, **facts):
        self.posts.append(tuple(facts.values()))

    def _restore(self, since):
        self.since = since

    def _restored(self, store):
        self.restored.add(store)


class Point:
    """A restart on what a power cut left."""

    def __init__(self, environment, number, seed, image, promises, place):
        self.environment, self.number, self.promises = environment, number, promises
        self.random = random.Random(seed)
        self.place, self.disk = place, os.path.join(place, "disk")
        self.image, self.problems, self.daemon = image, [], None
        self.world = f"cut-{number}"
        self.control = Control(os.path.join(place, "run/control.sock"))

    def path(self, name):
        return os.path.join(self.disk, name)

    def play(self):
        """Answers what is wrong; the place is kept then."""
        os.makedirs(self.place, 0o700)
        try:
            self._prepare()
            self._judge_disk()
            if self._start():
                self._drive()
                self._judge_end()
        except Exception as error:
            self.problems.append(f"{type(error).__name__}: {error}")
        finally:
            if self.daemon is not None:
                self.daemon.kill()
                self.daemon.wait()
            self.environment.server.forget(self.world)
        if self.problems:
            write_image(self.image, os.path.join(self.place, "cut"))
        else:
            shutil.rmtree(self.place)
        self.image = None
        return self.problems

    def _prepare(self):
        write_image(self.image, self.disk)
        os.makedirs(self.path("state"), 0o700, exist_ok=True)
        self._leave_indexes()
        self.environment.server.open(self.world, self.environment.tokens.values(), self.promises.dead)
        self.command = self.environment.command(self.place, self.disk, self.world, self.promises.keys)

    def _leave_indexes(self):
        """What was in the index of a WAL when the power went means nothing any more."""
        for name in ("state/state.db", "app/app.db"):
            if os.path.exists(self.path(name)) and self.random.random() < 0.5:
                with open(self.path(f"{name}-shm"), "wb") as file:
                    file.write(self.random.choice((b"", bytes(32768), self.random.randbytes(32768))))

    # Before the start

    def _judge_disk(self):
        """Of a copy, for whoever opens a database mends it."""
        copy = os.path.join(self.place, "copy")
        self._clone(copy)
        rows = {name: rows_of(os.path.join(copy, "app", store)) for name, store in STORES.items()}
        done = self._completed(os.path.join(copy, "state/spool/queue.db"))
        for user in self.environment.leaving + self.environment.silent:
            left = [found.get(user, 0) for found in rows.values()]
            token = self.environment.tokens.get(user)
            is_live = token is not None and token not in self.promises.dead
            if is_live and min(left) < ROWS_EACH:
                self._note("erased with a live token", user)
            if user in done and is_live:
                self._note("called completed with a live token", user)
            came_back = self.promises.since is not None and user in self.environment.groups[0]
            if user in done and any(left) and not came_back:
                self._note("called completed with rows left", user)
        shutil.rmtree(copy)

    def _clone(self, copy):
        for name in (*(f"app/{store}" for store in STORES.values()), "state/spool/queue.db"):
            for ending in ("", "-wal", "-journal"):
                if os.path.exists(self.path(name + ending)):
                    os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
                    shutil.copy(self.path(name + ending), os.path.join(copy, name + ending))

    def _completed(self, spool):
        """Users whose rows in the spool say so."""
        if not os.path.exists(spool):
            return set()
        states = dict(query(spool, "SELECT id, state FROM requests"))
        return {user for user, row in self.promises.rows.items() if states.get(row) == "completed"}

    def _note(self, what, user):
        leaving = self.environment.leaving
        self.problems.append(f"{what}: user {leaving.index(user) if user in leaving else user}")

    # The daemon again

    def _start(self):
        with open(os.path.join(self.place, "daemon.log"), "wb") as log:
            self.daemon = subprocess.Popen(self.command, stdout=log, stderr=log)
        if comes_true(lambda: self.control.is_up() or self.daemon.poll() is not None, 30, 0.01) \
                and self.daemon.poll() is None:
            return True
        self.problems.append("does not start: " + self._log()[-300:])
        return False

    def _log(self):
        with open(os.path.join(self.place, "daemon.log"), errors="replace") as file:
            return file.read()

    def _drive(self):
        """Finds what was promised, and does again what was not."""
        self.requests = dict(self.promises.ids)
        known = {item["id"]: item["state"] for item in self._items()}
        for user, request in self.promises.ids.items():
            if request not in known:
                self._note("an accepted request is lost", user)
        for user in self.promises.stored - self.promises.begun:
            if not self.control.ask("GET", f"/v1/users/{user}/identities")[1].get("items"):
                self._note("a stored credential is lost", user)
        spool = self.path("state/spool/queue.db")
        there = {row for row, in query(spool, "SELECT id FROM requests")}
        for user, row in self.promises.rows.items():
            if row not in there:
                self._note("a committed row is lost", user)
        self.spool_rows = {user: row for user, row in self.promises.rows.items() if row in there}
        for user in sorted(self.promises.begun):
            if user not in self.promises.ids and user not in self.spool_rows:
                self._ask_again(user, spool)
        if self.promises.since is not None:
            self._restore_again()
            found = self.control.replay(STORES, self.promises.since, time.time())
            if set(found.values()) != {"finished"}:
                self.problems.append(f"a replay does not end well: {found}")

    def _items(self):
        return self.control.ask("GET", "/v1/requests?limit=1000")[1]["items"]

    def _ask_again(self, user, spool):
        token = self.environment.tokens.get(user)
        if not self.environment.is_spool_user(user):
            if token and user not in self.promises.stored:
                self.control.store(user, token)
            status, body = self.control.delete(user)
            if status != 202:
                self.problems.append(f"a request is not taken: {status} {body.get('code')}")
            self.requests[user] = body.get("id")
            return
        database = sqlite3.connect(spool, timeout=HANG_S, isolation_level=None)
        database.execute("BEGIN IMMEDIATE")
        same = database.execute("SELECT id FROM requests WHERE idempotency_key = ?", (f"key-{user}",)).fetchone()
        if same is None:
            if token:
                database.execute("INSERT INTO credentials (user_id, provider, kind, secret)"
                                 " VALUES (?, 'sso', 'refresh_token', ?)", (user, token))
            same = (database.execute("INSERT INTO requests (kind, user_id, idempotency_key)"
                                     " VALUES ('delete_account', ?, ?)", (user, f"key-{user}")).lastrowid,)
        database.execute("COMMIT")
        database.close()
        self.spool_rows[user] = same[0]

    def _restore_again(self):
        """Brings back what the old copy had, where that was not finished."""
        for name, store in STORES.items():
            if name not in self.promises.restored:
                database = sqlite3.connect(self.path(f"app/{store}"), timeout=HANG_S)
                with database:
                    database.executemany("INSERT INTO posts (author_id, body) VALUES (?, ?)",
                                         [(user, f"post {row}") for user in self.environment.groups[0]
                                          for row in range(ROWS_EACH)])
                database.close()

    # The end

    def _open(self):
        """What is not at its end yet."""
        try:
            states = {item["id"]: item["state"] for item in self._items()}
        except GONE as error:
            return [repr(error)]
        rows = dict(query(self.path("state/spool/queue.db"), "SELECT id, state FROM requests"))
        return [(self.environment.leaving.index(user), state) for user, state in (
            *((user, states.get(request)) for user, request in self.requests.items()),
            *((user, rows.get(row)) for user, row in self.spool_rows.items())) if state != "completed"]

    def _judge_end(self):
        # Whoever lost something already is waited for no longer than it takes to see more of it.
        if not within(3 if self.problems else PATIENCE_S, lambda: not self._open(), 0.02):
            self.problems.append(f"does not come to its end: {self._open()}")
        revoked = self.environment.server.revoked_at(self.world)
        for user in self.environment.leaving + self.environment.silent:
            token = self.environment.tokens.get(user)
            if token and (token in revoked) != (user in self.promises.begun):
                self._note("a live token" if user in self.promises.begun else "a token ended unasked", user)
        for name, store in STORES.items():
            self._judge_store(name, self.path(f"app/{store}"), revoked)
        alarms = self.control.ask("GET", "/v1/status")[1].get("alarms")
        if alarms:
            self.problems.append(f"alarms: {alarms}")

    def _judge_store(self, name, path, revoked):
        rows = rows_of(path)
        stays = [user for user in self.environment.leaving if user not in self.promises.begun]
        if [user for user in self.promises.begun if rows.get(user)]:
            self.problems.append(f"rows are left in {name}")
        stays += self.environment.silent + self.environment.others
        if [user for user in stays if rows.get(user, 0) < ROWS_EACH]:
            self.problems.append(f"rows of those who stay are gone in {name}")
        posts = set(query(path, "SELECT author_id, body FROM posts"))
        if [post for post in self.promises.posts if post[0] == name and post[1:] not in posts]:
            self.problems.append(f"a committed row of somebody who stays is gone in {name}")
        erased = dict(query(path, "SELECT user, min(at_unix_ms) FROM erased GROUP BY user"))
        for user in self.promises.begun:
            at = revoked.get(self.environment.tokens.get(user), 0)
            if user in erased and erased[user] < at // 1_000_000:
                self._note(f"erased in {name} before the revocation", user)
        if query(path, "PRAGMA integrity_check") != [("ok",)]:
            self.problems.append(f"{name} is damaged")


def query(path, statement):
    database = sqlite3.connect(path, timeout=HANG_S)
    try:
        return database.execute(statement).fetchall()
    finally:
        database.close()


def rows_of(path):
    return dict(query(path, "SELECT author_id, count(*) FROM posts GROUP BY author_id"))
