"""kill -9 at random instants, under load and with a provider that fails every fifth call."""

import sqlite3
import subprocess
import threading
import time

from checks import comes_true
from sandbox import Sandbox
from stage import BINARIES, GONE, ROWS_EACH, Stage

FAULTS = "reset,throttled,unavailable,server_error,html,truncated,wrong_content_type,response_lost"


class Load(threading.Thread):
    """Applications that remember what they were told was taken."""

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


def kills(checks, seed, count):
    sandbox = Sandbox(BINARIES, "--fault-rate", "0.2", "--fault-kinds", FAULTS, "--refresh-limit",
                      "off", "--seed", str(seed), "--retry-after", "1s")
    stage = Stage(checks, seed, sandbox)
    users = stage.new_users(max(60, count))
    bystanders = stage.new_users(50)
    stage.starts()
    subjects = sign_in(checks, stage, users)
    load = Load(stage, users)
    load.start()
    kill_and_restart(checks, stage, count)
    load.join(120)
    sandbox.fault(0)

    def all_ended():
        done = stage.spool_rows("SELECT count(*) FROM requests WHERE state = 'completed'")[0][0]
        return done == len(load.rows) and stage.open_count() == 0

    ended = comes_true(all_ended, 180)
    checks.check("I-13: after every kill it goes on by itself, every request comes to its end", ended)
    lost = [user for user, row in load.rows.items() if not stage.spool_rows(
        "SELECT 1 FROM requests WHERE id = :row AND request_id IS NOT NULL", row=row)]
    lost += [user for user, request in load.ids.items()
             if stage.http("GET", f"/v1/requests/{request}")[0] != 200]
    taken = len(load.rows) + len(load.ids)
    checks.check(f"{taken} acknowledged requests, {len(lost)} lost", not lost and taken == len(users))
    judge_order(checks, stage, users, subjects)
    checks.equal("everybody else's rows are untouched", stage.rows_left(),
                 {user: ROWS_EACH for user in bystanders})
    one_instance(checks, stage)
    stage.scan()
    stage.close(keep=not ended)
    sandbox.close()


def sign_in(checks, stage, users):
    """Stores a token for each user through the spool; answers the provider's subject of each."""
    tokens = stage.new_tokens(len(users))
    database = sqlite3.connect(stage.spool, timeout=10)
    with database:
        database.executemany(
            "INSERT INTO credentials (user_id, provider, kind, secret)"
            " VALUES (?, 'apple', 'refresh_token', ?)",
            [(user, token["refresh_token"]) for user, token in zip(users, tokens)])
    database.close()
    checks.check("every token is sealed", comes_true(lambda: stage.spool_rows(
        "SELECT count(*) FROM credentials WHERE state = 'sealed'")[0][0] == len(users), 60))
    return {user: token["subject"] for user, token in zip(users, tokens)}


def kill_and_restart(checks, stage, count):
    begun, slow = time.monotonic(), 0
    for _ in range(count):
        time.sleep(stage.dice.uniform(0, 0.35))
        stage.kill()
        stage.start()
        slow += not stage.comes_up()
    checks.equal(f"{count} kill -9 in {time.monotonic() - begun:.0f} s, and it came up by itself"
                 " each time", slow, 0)


def judge_order(checks, stage, users, subjects):
    """From the provider's log and the application's own trigger, not from what the daemon says."""
    revoked, erased = stage.sandbox.revoked_at(), stage.erased_at()
    early = [user for user in users if user in erased
             and revoked.get(subjects[user], float("inf")) > erased[user]]
    checks.check(f"{len(erased)} purges, {len(early)} before the provider's revocation",
                 not early and sorted(erased) == sorted(users))


def one_instance(checks, stage):
    """I-12: whoever else is started on the same state changes nothing, also at the same moment."""
    second = subprocess.run(stage.arguments(), capture_output=True, text=True, timeout=60)
    checks.check("I-12: a second daemon on the same state is refused with a clear error",
                 second.returncode == 74 and "in_use" in second.stderr, second.stderr)
    checks.check("I-12: the first one goes on", stage.is_up())
    stage.stop()
    outputs = [open(stage.path(f"racer-{number}"), "wb+") for number in range(4)]
    racers = [subprocess.Popen(stage.arguments(), stdout=output, stderr=output) for output in outputs]
    ended = comes_true(lambda: sum(racer.poll() is not None for racer in racers) == 3, 30)
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
