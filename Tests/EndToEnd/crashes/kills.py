"""kill -9 at random instants, under load, with every family of providers and a directory before them.

Every fifth call fails at all of them. Besides, users whose refresh token comes by one channel, whose code of a new sign-in
comes by the other, and whose deletion follows at once by either.
"""

import collections
import sqlite3
import subprocess
import threading
import time

from checks import HANG_S, HOLDS_BARS, comes_true, within
from families import Families
from sandbox import CLIENT, Sandbox
from scenario import scenario
from stage import BINARIES, GONE, ROWS_EACH, Stage

FAULTS = "reset,throttled,unavailable,server_error,html,truncated,wrong_content_type,response_lost"
RATE = 0.2
# A provider that did it and whose answer was lost may know no token when it is asked again.
GOOD = ("proven", "accepted", "already_gone", "token_dead")
# X says of every token that it is revoked, so one that an application stored stays unconfirmed.
GOOD_AT = {"x": (*GOOD, "unconfirmed")}
# Seconds after the last kill and the last failure that was made.
STUCK_AFTER = 60
# A call that failed so often waits longer than that for the next try.
FAILURES_LEFT = 6


class Load(threading.Thread):
    """Applications that remember what an answer said was taken."""

    def __init__(self, stage, users):
        super().__init__(daemon=True)
        self.stage, self.users = stage, users
        self.rows, self.ids = {}, {}

    def run(self):
        for number, user in enumerate(self.users):
            while not self._submit(number, user):
                time.sleep(0.01)
            time.sleep(0.02)

    def _submit(self, number, user):
        try:
            if number % 2:
                status, body = self.stage.delete(user)
                if status == 202:
                    self.ids[user] = body["id"]
                return status == 202
            self.rows[user] = self.stage.spool_delete(user)
            return True
        except (*GONE, sqlite3.OperationalError):
            return False


class Mixed(threading.Thread):
    """An application that uses both channels for one user, in every order, and does again what was not taken."""

    def __init__(self, stage, users, tokens, codes):
        super().__init__(daemon=True)
        self.stage, self.users, self.tokens, self.codes = stage, users, tokens, codes
        self.rows, self.ids = {}, {}

    def run(self):
        for number, user in enumerate(self.users):
            steps = [self._store_code, self._insert_token]
            if number % 2:
                steps.reverse()
            delete = self._delete_by_socket if number // 2 % 2 else self._delete_by_spool
            if number % 3 == 2:
                # The token is in the spool for a short time when the socket is asked, and nothing else leads to it.
                steps, delete = [self._insert_token], self._delete_by_socket
            for step in (*steps, delete):
                while not step(user):
                    time.sleep(0.01)

    def _store_code(self, user):
        try:
            # Another answer than 202 after a kill: the code was taken before.
            return self.stage.http("PUT", f"/v1/users/{user}/identities/apple", {
                "kind": "authorization_code", "secret": self.codes[user], "client_id": CLIENT})[0] < 500
        except GONE:
            return False

    def _insert_token(self, user):
        try:
            self.stage.spool_do("INSERT INTO credentials (user_id, provider, client_id, kind, secret)"
                                " VALUES (:user, 'apple', :client, 'refresh_token', :secret)",
                                user=user, client=CLIENT, secret=self.tokens[user]["refresh_token"])
            return True
        except sqlite3.OperationalError:
            return False

    def _delete_by_socket(self, user):
        try:
            status, body = self.stage.delete(user)
        except GONE:
            return False
        if status == 202:
            self.ids[user] = body["id"]
        return status == 202

    def _delete_by_spool(self, user):
        try:
            self.rows[user] = self.stage.spool_delete(user)
            return True
        except sqlite3.OperationalError:
            return False


def mix(stage, count):
    """Users of Apple who have a refresh token and have just signed in again."""
    users, tokens, codes = stage.new_users(count), {}, {}
    for user, token in zip(users, stage.new_tokens(count)):
        tokens[user] = token
        codes[user] = stage.sandbox.sign_in(token["user"])["code"]
        stage.canaries.add(codes[user])
    return Mixed(stage, users, tokens, codes)


def judge_mixed(checks, stage, mixed, revoked, erased):
    """Whose token stands in the spool before the deletion is asked for is revoked before anything goes."""
    live = stage.sandbox.live_grants("apple")
    still = [number for number, user in enumerate(mixed.users) if mixed.tokens[user]["user"] in live]
    early = [number for number, user in enumerate(mixed.users) if revoked.get(
        mixed.tokens[user]["subject"], float("inf")) > erased.get(user, float("inf"))]
    checks.check(f"of {len(mixed.users)} users of both channels, most with a token and a code, {len(still)} have a token that"
                 f" works, {len(early)} were erased before the revocation", not still and not early
                 and all(user in erased for user in mixed.users), (still, early))


@scenario(long=True, bars=True)
def kills(checks, seed, count=200):
    faults = ["--fault-kinds", FAULTS, "--seed", str(seed), "--retry-after", "1s"]
    sandbox = Sandbox(BINARIES, *faults, "--fault-rate", str(RATE), "--refresh-limit", "off")
    stage = Stage(checks, seed, sandbox)
    families = Families(stage, RATE, *faults)
    users = stage.new_users(max(60, count))
    bystanders = stage.new_users(50)
    others = stage.checksum(but=users)
    stage.starts()
    sealed = families.sign_up(users)
    checks.check(f"{sealed} credentials at {len(families.names)} providers are sealed", comes_true(
        lambda: stage.spool_rows("SELECT count(*) FROM credentials WHERE state = 'sealed'")
        == [(sealed,)]), stage.spool_rows(
            "SELECT provider, state, detail, count(*) FROM credentials GROUP BY 1, 2, 3"))
    load, mixed = Load(stage, users), mix(stage, min(300, max(20, count // 4)))
    load.start()
    mixed.start()
    kill_and_restart(checks, stage, count)
    load.join(600)
    mixed.join(600)
    families.calm()
    calmed = time.monotonic()

    def all_ended():
        done = stage.spool_rows("SELECT count(*) FROM requests WHERE state = 'completed'")[0][0]
        return done == len(load.rows) + len(mixed.rows) and stage.open_count() == 0

    if HOLDS_BARS:
        within(STUCK_AFTER, all_ended)
        left = stuck(stage) if not all_ended() else ([], 0)
        checks.check(f"{len(left[0])} requests are stuck {STUCK_AFTER} s after the last kill;"
                     f" {left[1]} wait for a call that failed {FAILURES_LEFT} times", not left[0], "\n".join(left[0]))
    # One that failed often waits for up to five minutes.
    ended = comes_true(all_ended, 900)
    checks.check("I-13: after every kill it goes on by itself, every request comes to its end", ended,
                 "\n".join(map(str, open_requests(stage))))
    print(f"     {time.monotonic() - calmed:.0f} s after the last kill")
    lost = [user for user, row in load.rows.items() if not stage.spool_rows(
        "SELECT 1 FROM requests WHERE id = :row AND request_id IS NOT NULL", row=row)]
    lost += [user for user, request in load.ids.items()
             if stage.http("GET", f"/v1/requests/{request}")[0] != 200]
    lost += [user for user, request in mixed.ids.items() if stage.http("GET", f"/v1/requests/{request}")[0] != 200]
    taken = sum(map(len, (load.rows, load.ids, mixed.rows, mixed.ids)))
    checks.check(f"{taken} acknowledged requests, {len(lost)} lost",
                 not lost and taken == len(users) + len(mixed.users))
    judge_order(checks, stage, users, families)
    judge_mixed(checks, stage, mixed, stage.sandbox.revoked_at(), stage.erased_at())
    judge_receipts(checks, stage, load, families)
    checks.equal("everybody else's rows are untouched", (stage.rows_left(), stage.checksum(but=users + mixed.users)),
                 ({user: ROWS_EACH for user in bystanders}, others))
    one_instance(checks, stage)
    stage.scan()
    stage.close(keep=not ended)
    families.close()
    sandbox.close()


def stuck(stage):
    """Requests that have not ended though nothing stands in their way, and how many others there are."""
    # What is completed has to be in the spool, too.
    found = [f"row {row}: {state}" for row, state, request in stage.spool_rows(
        "SELECT id, state, request_id FROM requests WHERE state <> 'completed'")
        if request is None or stage.http("GET", f"/v1/requests/{request}")[1]["state"] == "completed"]
    waiting = 0
    for shown in open_requests(stage):
        failed = [step for step in shown["steps"] if step["state"] == "retrying" and step["attempts"] >= FAILURES_LEFT]
        waiting += bool(failed)
        if not failed:
            found.append(str(shown))
    return found, waiting


def open_requests(stage):
    """What those wait for that have not come to their end, without the users."""
    found = []
    for item in stage.http("GET", "/v1/requests?limit=1000")[1]["items"]:
        if item["state"] not in ("completed", "cancelled"):
            shown = stage.http("GET", f"/v1/requests/{item['id']}")[1]
            found.append({key: value for key, value in shown.items() if key != "user_id"})
    return found


def kill_and_restart(checks, stage, count):
    begun, slow = time.monotonic(), 0
    for _ in range(count):
        time.sleep(stage.random.uniform(0, 0.3))
        stage.kill()
        stage.start()
        slow += not stage.comes_up()
    checks.equal(f"{count} kill -9 in {time.monotonic() - begun:.0f} s, and it came up by itself"
                 " each time", slow, 0)


def judge_order(checks, stage, users, families):
    """From the providers' log and the application's own trigger, not from what the daemon says."""
    never = float("inf")
    asked, revoked, erased = families.looked_up_at(), families.revoked_at(), stage.erased_at()
    early = [families.homes[user] for user in users
             if revoked.get(user, never) > erased.get(user, never)]
    checks.check(f"{len(erased)} purges, {len(early)} before the provider's revocation",
                 not early and set(users) <= set(erased), early)
    hasty = [families.homes[user] for user in users
             if asked.get(user, never) > min(revoked.get(user, never), erased.get(user, never))]
    checks.check(f"{len(hasty)} revocations or purges before the directory listed the user's links",
                 not hasty, hasty)
    at = collections.Counter(families.homes[user][0] for user in users if user in revoked)
    checks.check("at every family somebody was revoked: "
                 + ", ".join(f"{name} {count}" for name, count in sorted(at.items())),
                 set(at) == set(families.names))


def judge_receipts(checks, stage, load, families):
    """Every receipt names every link of the user, with a verdict that the provider's log bears out."""
    requests = dict(load.ids)
    for user, row in load.rows.items():
        requests[user] = stage.spool_rows("SELECT request_id FROM requests WHERE id = :row", row=row)[0][0]
    wrong, verdicts = [], collections.Counter()
    for account in families.accounts:
        user = account["user"]
        status, receipt = stage.http("GET", f"/v1/requests/{requests[user]}/receipt")
        found = {item["provider"]: item["verdict"] for item in receipt["identities"]}
        home = families.homes[user][0]
        verdicts[found.get(home)] += 1
        expected = {home: found.get(home)}
        if "password" in account["links"]:
            expected["password"] = "nothing_to_revoke"
        if "yahoo.com" in account["links"]:
            expected["yahoo.com"] = "unrevoked"
        if found != expected or found.get(home) not in GOOD_AT.get(home, GOOD):
            wrong.append((home, found))
    checks.check(f"{len(families.accounts)} receipts name every link: "
                 + ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items(), key=str)),
                 not wrong, wrong[:10])


def one_instance(checks, stage):
    """I-12: whoever else is started on the same state changes nothing, also at the same time."""
    second = subprocess.run(stage.arguments(), capture_output=True, text=True, timeout=HANG_S)
    checks.check("I-12: a second daemon on the same state is refused with a clear error",
                 second.returncode == 74 and "in_use" in second.stderr, second.stderr)
    checks.check("I-12: the first one goes on", stage.is_up())
    stage.stop()
    outputs = [open(stage.path(f"racer-{number}"), "wb+") for number in range(4)]
    racers = [subprocess.Popen(stage.arguments(), stdout=output, stderr=output) for output in outputs]
    ended = comes_true(lambda: sum(racer.poll() is not None for racer in racers) == 3)
    living = [racer for racer in racers if racer.poll() is None]
    checks.check("I-12: of four daemons started at once one stays, the others say 'in_use'",
                 ended and len(living) == 1 and stage.comes_up_as(living[0])
                 and sum(b"in_use" in read_back(output) for output in outputs) == 3)
    for racer in living[1:]:
        racer.kill()
        racer.wait()
    for output in outputs:
        stage.said += read_back(output)
        output.close()


def read_back(file):
    file.seek(0)
    return file.read()
