"""Steps of the clock at random times, while deletions go on: after each batch the clock comes right.

Then every deletion ends soon, as the provider's own table and the application's rows have it.
"""

import datetime
import sqlite3
import time

from checks import HANG_S, HOLDS_BARS, comes_true, within
from sandbox import CLIENT
from stage import GONE

DAY = 86_400
# Seconds of one step, forward or back. Below two seconds it is a slew; a step back of up to a minute is waited for.
SIZES = (0.001, 0.02, 0.4, 1.5, 2.5, 12, 20, 90, 600, 3600, DAY, 30 * DAY, 365 * DAY, 5 * 365 * DAY)
# The clock stays within so many seconds of the right one: the machine's own limits begin beyond.
OFFSET_MAX = 8 * 365 * DAY
BATCH = 20
# From the right clock to the end of the last deletion.
STUCK_AFTER = 60 if HOLDS_BARS else 600
# The provider did it, or knows the token no longer after an answer that was lost.
GOOD = ("proven", "accepted", "already_gone", "token_dead")


class Campaign:
    def __init__(self, checks, stage, clock):
        self.checks, self.stage, self.clock = checks, stage, clock
        # User → (the provider's name for it, row of the spool or id of the request).
        self.grants, self.requests = {}, {}
        self.slowest = 0
        self.counts = dict.fromkeys(("steps", "restarts", "lost", "erased unrevoked", "false verdicts", "stuck"), 0)
        self.notes = []

    def batch(self, count):
        tokens = self.stage.new_tokens(count)
        users = self.stage.new_users(count)
        if self.stage.random.random() < 0.2:
            self._reboot()
        for number, (user, token) in enumerate(zip(users, tokens)):
            self._step(down=self.stage.random.random() < 0.15)
            self._delete(number, user, token)
            if number % 5 == 4:
                self._look(users[:number + 1])
        self._come_right()
        self._end(users)

    # The clock

    def _reboot(self):
        """Starts on a machine that was rebooted with an empty battery: nothing shows how far it is behind."""
        self.stage.stop()
        self.clock.boot += 1
        self.clock.set(-self.stage.random.choice(SIZES))
        self._start()

    def _step(self, down):
        """One step; while the service is down it finds out at its start."""
        if down:
            (self.stage.kill if self.stage.random.random() < 0.7 else self.stage.stop)()
        size = self.stage.random.choice(SIZES) * self.stage.random.choice((-1, 1))
        offset = self.clock.offset + size
        if abs(offset) > OFFSET_MAX or self.stage.random.random() < 0.15:
            offset = 0
        self.clock.set(offset)
        self.counts["steps"] += 1
        if down:
            self._start()
        else:
            # Any use of the clock notices that it was set; in production a timer does at once.
            self._dares(self.stage.is_up)
        time.sleep(self.stage.random.uniform(0, 0.15))

    def _start(self):
        self.counts["restarts"] += 1
        self.stage.start(**self.clock.environment())
        if not self.stage.comes_up():
            self._note("stuck", f"it does not start, {self.clock.offset} s ahead: {self.stage.log()[-1000:]}")

    def _come_right(self):
        down = self.stage.random.random() < 0.25
        if down:
            self.stage.kill()
        self.clock.set(0)
        self.counts["steps"] += 1
        if down:
            self._start()

    # The application

    def _delete(self, number, user, token):
        """A user whose token and whose deletion come by either channel, with rows of the machine's clock."""
        self.grants[user] = token["user"]
        with sqlite3.connect(self.stage.app, timeout=HANG_S) as app:
            # Written earlier by the right clock, or just now by the one that is wrong. Two seconds off is no step.
            at = time.time() - 4 if number % 3 else self.clock.now()
            app.execute("UPDATE posts SET created_at = ? - (id % 5) * 60 WHERE author_id = ?", (int(at) - 1, user))
        if number % 2:
            self._until(lambda: self.stage.store(user, token)[0] == 202)
        else:
            self._until(lambda: self._insert("INSERT INTO credentials (user_id, provider, client_id, kind, secret, created_at)"
                                             " VALUES (:user, 'apple', :client, 'refresh_token', :secret, :at)",
                                             user, client=CLIENT, secret=token["refresh_token"]))
        if number // 2 % 2:
            self._until(lambda: self._delete_by_socket(user))
        else:
            self._until(lambda: self._insert("INSERT INTO requests (kind, user_id, created_at)"
                                             " VALUES ('delete_account', :user, :at)", user))

    def _until(self, done):
        if not comes_true(lambda: self._dares(done)):
            self._note("lost", f"not taken: {self.stage.log()[-500:]}")

    @staticmethod
    def _dares(done):
        try:
            return done()
        except (*GONE, sqlite3.OperationalError):
            return False

    def _insert(self, statement, user, **values):
        at = datetime.datetime.fromtimestamp(self.clock.now(), datetime.timezone.utc)
        row = self.stage.spool_do(statement, user=user, at=at.strftime("%Y-%m-%dT%H:%M:%S.")
                                  + f"{at.microsecond // 1000:03}Z", **values)
        if "requests" in statement:
            self.requests[user] = row
        return True

    def _delete_by_socket(self, user):
        status, body = self.stage.delete(user)
        if status == 202:
            self.requests[user] = body["id"]
        return status == 202

    # The judge

    def _note(self, what, text):
        self.counts[what] += 1
        self.notes.append(f"{what} after {self.counts['steps']} steps: {text}")

    def _look(self, users):
        """Whose rows are gone has no token that works: the rows are read first."""
        left = self.stage.rows_left()
        live = self.stage.sandbox.live_grants("apple")
        for user in users:
            if user not in left and self.grants[user] in live:
                self._note("erased unrevoked", self._shown(user))

    def _end(self, users):
        begun = time.monotonic()
        if not within(STUCK_AFTER, lambda: self._dares(lambda: not self._unended(users)), 0.1):
            for user in self._unended(users):
                self._note("stuck", self._shown(user))
        self.slowest = max(self.slowest, time.monotonic() - begun)
        self._look(users)
        left, live = self.stage.rows_left(), self.stage.sandbox.live_grants("apple")
        for user in users:
            status, shown = self.stage.http("GET", f"/v1/requests/{self._id(user)}")
            if status != 200:
                self._note("lost", f"{self._id(user)}: {status}")
                continue
            if shown["state"] != "completed":
                continue
            receipt = self.stage.http("GET", f"/v1/requests/{self._id(user)}/receipt")[1]
            verdicts = [item["verdict"] for item in receipt["identities"]]
            if left.get(user) or self.grants[user] in live or len(verdicts) != 1 or verdicts[0] not in GOOD:
                self._note("false verdicts", f"{left.get(user, 0)} rows left, works: {self.grants[user] in live},"
                           f" verdicts {verdicts}: {self._shown(user)}")

    def _id(self, user):
        place = self.requests[user]
        if isinstance(place, str):
            return place
        return self.stage.spool_rows("SELECT request_id FROM requests WHERE id = :row", row=place)[0][0]

    def _unended(self, users):
        """Also the spool has to show it."""
        rows = dict(self.stage.spool_rows("SELECT id, state FROM requests"))
        return [user for user in users if (
            rows[self.requests[user]] if isinstance(self.requests[user], int)
            else self.stage.http("GET", f"/v1/requests/{self.requests[user]}")[1]["state"]) != "completed"]

    def _shown(self, user):
        shown = self.stage.http("GET", f"/v1/requests/{self._id(user)}")[1]
        shown = {key: value for key, value in shown.items() if key != "user_id"}
        return f"{user[:10]} {shown} {self.stage.http('GET', '/v1/status')[1]['alarms']}"


def campaign(checks, stage, clock, steps):
    clock.set(0)
    stage.start(**clock.environment())
    checks.check("it starts for many steps", stage.comes_up(), stage.log()[-2000:])
    run = Campaign(checks, stage, clock)
    while run.counts["steps"] < steps and run.counts["stuck"] == 0:
        run.batch(min(BATCH, max(1, steps - run.counts["steps"] - 1)))
    text = ", ".join(f"{count} {what}" for what, count in run.counts.items())
    checks.check(f"{text}; the last deletion of a batch ended {run.slowest:.0f} s after the clock was right",
                 not run.notes and run.counts["steps"] >= steps, "\n".join(run.notes))
    stage.scan()
    stage.close(keep=bool(run.notes))
