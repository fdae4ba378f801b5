"""The volume of the state fills up under load: what was acknowledged stays, and work goes on when there is space."""

import os
import sqlite3
import subprocess
import threading
import time

from checks import HANG_S, comes_true
from scenario import scenario
from stage import GONE, Stage

VOLUME = "32m"
# Another program's file, which goes away later.
FILLER_BYTE_COUNT = 16 << 20
PATIENCE_S = 120
# Until so much is written, whatever else the disk does.
FILLED_S = 900


@scenario()
def full_disk(checks, seed):
    if os.geteuid() != 0:
        checks.skip("full-disk needs root: it mounts a tmpfs")
        return
    # A grace period keeps every request, so that the load alone fills the volume.
    stage = Stage(checks, seed, grace="1h")
    stage.unjudged = "nothing is completed within the grace period, and the volume goes before the end"
    volume = stage.path("state")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={VOLUME},mode=0700", "tmpfs", volume], check=True)
    try:
        stage.initialize()
        play(checks, stage)
    finally:
        stage.stop()
        subprocess.run(["umount", "-l", volume], check=True)
        stage.close()


def play(checks, stage):
    stage.starts()
    filler = stage.path("state/filler")
    with open(filler, "wb") as file:
        file.write(b"\0" * FILLER_BYTE_COUNT)
    load = Load(stage)
    load.start()
    is_full = comes_true(lambda: load.refused >= 20, FILLED_S)
    taken = len(load.ids)
    checks.check(f"the volume fills up under load: {taken} requests over the socket and"
                 f" {len(load.rows)} rows were taken before that", is_full and taken > 100, load.answers)
    checks.check("the log says that the disk is full", comes_true(
        lambda: "error=disk_full" in stage.log()), stage.log()[-2000:])
    checks.equal("each is refused with a clear error", list(load.answers),
                 ["503 the disk of the state is full, nothing was taken"])
    checks.check("the daemon goes on while it is full", stage.daemon.poll() is None)
    load.pause()
    judge(checks, stage, load, "while it is full")
    os.unlink(filler)
    freed = time.monotonic()
    load.go_on()
    checks.check("work is taken again when there is space, without anybody's help", comes_true(
        lambda: len(load.ids) > taken + 20, PATIENCE_S))
    print(f"     {time.monotonic() - freed:.1f} s after it was freed")
    load.stop()
    checks.check("every row of the spool is taken", comes_true(lambda: stage.spool_rows(
        "SELECT count(*) FROM requests WHERE request_id IS NULL") == [(0,)], PATIENCE_S))
    judge(checks, stage, load, "after it")
    stage.kill()
    stage.start()
    checks.check("after a kill it comes up", stage.comes_up())
    judge(checks, stage, load, "after a kill")
    for database in ("state.db", "spool/queue.db"):
        with sqlite3.connect(stage.path(f"state/{database}"), timeout=HANG_S) as connection:
            checks.equal(f"{database} is intact", connection.execute(
                "PRAGMA integrity_check").fetchall(), [("ok",)])
    stage.scan(open_users=stage.users)


def judge(checks, stage, load, when):
    """Nothing that was acknowledged, by us or by the application's own commit, is missing."""
    lost = [user for user, request in load.ids.items()
            if stage.http("GET", f"/v1/requests/{request}")[0] != 200]
    found = dict(stage.spool_rows("SELECT id, user_id FROM requests"))
    torn = [row for user, row in load.rows.items() if found.get(row) != user]
    checks.check(f"{when}: of {len(load.ids)} acknowledged requests {len(lost)} are lost, of"
                 f" {len(load.rows)} committed rows {len(torn)}", not lost and not torn)


class Load(threading.Thread):
    """An application that submits on and on, by socket and spool in turn."""

    def __init__(self, stage):
        super().__init__(daemon=True)
        self.stage = stage
        self.ids, self.rows, self.answers = {}, {}, {}
        self.refused = 0
        self.users = iter(stage.new_users(1000))
        self._may_run, self._is_over = threading.Event(), False
        self._idle = threading.Event()
        self._may_run.set()

    def run(self):
        for user in self.users:
            while not self._is_over and not self._submit(user):
                time.sleep(0.02)
        self._idle.set()

    def _submit(self, user):
        """Whether the user's request was taken; else the application tries it again."""
        if not self._may_run.is_set():
            self._idle.set()
            self._may_run.wait()
            if self._is_over:
                return False
        if (len(self.ids) + len(self.rows)) % 8 == 7:
            try:
                self.rows[user] = self.stage.spool_delete(user)
                return True
            except sqlite3.OperationalError:
                pass  # The application's own write found no space; nothing was promised.
        try:
            status, body = self.stage.delete(user)
        except GONE as error:
            return self._count(type(error).__name__)
        if status != 202:
            return self._count(f"{status} {body.get('detail')}")
        self.ids[user] = body["id"]
        return True

    def _count(self, answer):
        self.refused += 1
        self.answers[answer] = self.answers.get(answer, 0) + 1
        return False

    def pause(self):
        self._idle.clear()
        self._may_run.clear()
        self._idle.wait(HANG_S)

    def go_on(self):
        self._may_run.set()

    def stop(self):
        self._is_over = True
        self._may_run.set()
        self.join(HANG_S)
