"""What another uid may do to the spool: state.db stays untouched, work goes on or an alarm says why not."""

import os
import shutil
import sqlite3
import subprocess

from checks import HANG_S, comes_true
from scenario import scenario
from stage import Stage

HUGE_ROW = 5_000_000
HUGE_FILE = 256


@scenario(long=True)
def hostile(checks, seed):
    stage = Stage(checks, seed)
    stage.starts()
    state = os.stat(stage.path("state/state.db")).st_ino
    carried_out(checks, stage, "a user without identities is deleted")
    for play in (super_journal, trigger_and_view, write_ahead_log, huge, read_only, restored, replaced):
        play(checks, stage)
        carried_out(checks, stage, "     then a request in the spool is carried out")
        checks.check("     and state.db is the same file, of the same process",
                     os.stat(stage.path("state/state.db")).st_ino == state
                     and stage.daemon.poll() is None)
    stage.stop()
    with sqlite3.connect(stage.path("state/state.db")) as database:
        checks.equal("the state is intact after all of it",
                     database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    stage.start()
    stage.comes_up()
    stage.scan()
    stage.close()


def carried_out(checks, stage, what):
    user = stage.new_users(1)[0]
    row = stage.spool_delete(user)
    checks.check(what, comes_true(lambda: stage.spool_rows(
        "SELECT state FROM requests WHERE id = :row", row=row) == [("completed",)], 45)
        and user not in stage.rows_left(), stage.log()[-1500:])


def alarmed(stage, count, *words):
    """Whether a new line of the log has all the words."""
    return comes_true(lambda: sum(all(word in line for word in words)
                                  for line in stage.log().splitlines()) > count, 45)


def said(stage, *words):
    return sum(all(word in line for word in words) for line in stage.log().splitlines())


def touch(path):
    with open(path, "ab"):
        os.utime(path)


def super_journal(checks, stage):
    """sqlite.org/fileformat2.html, "The Rollback Journal": it may name another file to delete."""
    victim = stage.path("state/state.db").encode()
    before, pages = said(stage, "event=spool_quarantined"), os.path.getsize(stage.spool) // 4096
    magic = bytes.fromhex("d9d505f920a163d7")
    numbers = (0, 0, pages, 512, 4096)
    journal = (magic + b"".join(number.to_bytes(4, "big") for number in numbers)).ljust(512, b"\0")
    journal += (0x40000000 // 4096 + 1).to_bytes(4, "big") + victim + len(victim).to_bytes(4, "big")
    journal += (sum(victim) & 0xFFFFFFFF).to_bytes(4, "big") + magic
    with open(stage.spool + "-journal", "wb") as file:
        file.write(journal)
    touch(stage.spool)
    checks.check("a planted super-journal: an alarm says that the spool is quarantined",
                 alarmed(stage, before, "event=spool_quarantined", "refused"), stage.log()[-1500:])
    if os.path.exists(stage.spool + "-journal"):
        os.unlink(stage.spool + "-journal")
    touch(stage.spool)
    checks.check("it is used again when the journal is gone", alarmed(stage, 0, "event=spool_back"))


def trigger_and_view(checks, stage):
    rows = stage.spool_rows("SELECT count(*) FROM requests")[0][0]
    stage.spool_do("CREATE TRIGGER planted AFTER UPDATE ON requests BEGIN DELETE FROM requests; END")
    stage.spool_do("CREATE VIEW looked AS SELECT * FROM requests")
    checks.check("a planted trigger and a view: an alarm says so",
                 alarmed(stage, 0, "event=spool_foreign_objects"))
    carried_out(checks, stage, "     a request is carried out beside them")
    checks.equal("     the trigger did not run",
                 stage.spool_rows("SELECT count(*) FROM requests")[0][0], rows + 1)
    stage.spool_do("DROP TRIGGER planted")
    stage.spool_do("DROP VIEW looked")


def write_ahead_log(checks, stage):
    """Its index is a file that whoever may write the spool can cut short under a reader: it is never read."""
    before = said(stage, "event=spool_quarantined", "in_wal")
    database = sqlite3.connect(stage.spool, timeout=HANG_S)

    def keeps_it():
        # The service switches it back at once, unless the connection has read something since.
        database.execute("PRAGMA journal_mode = WAL").fetchone()
        database.execute("SELECT count(*) FROM requests").fetchone()
        return database.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    assert comes_true(keeps_it, 20)
    user = stage.new_users(1)[0]
    stage.spool_delete(user)
    checks.check("a spool in WAL mode that an application keeps open: an alarm says that it is quarantined",
                 alarmed(stage, before, "event=spool_quarantined", "in_wal"), stage.log()[-1500:])
    checks.check("     an alarm says that it is in WAL mode", alarmed(stage, 0, "event=spool_in_wal"))
    database.close()
    checks.check("     it is switched back by itself once it is closed",
                 alarmed(stage, 0, "event=spool_back", "left_wal"), stage.log()[-1500:])
    checks.check("     what was written meanwhile is carried out",
                 comes_true(lambda: user not in stage.rows_left(), 45), stage.log()[-1500:])


def huge(checks, stage):
    """A row that no honest client writes, then a file of some hundred MiB."""
    stage.spool_do(
        "PRAGMA ignore_check_constraints = ON",
        "INSERT INTO requests (kind, user_id) VALUES ('delete_account', :text)",
        text="x" * HUGE_ROW)
    checks.check("a huge row: an alarm says that it is left alone",
                 alarmed(stage, 0, "event=spool_unreadable_rows"), stage.log()[-1500:])
    carried_out(checks, stage, "     a request is carried out beside it")
    stage.spool_do("DELETE FROM requests WHERE length(user_id) > 100000")
    stage.spool_do("CREATE TABLE ballast (x BLOB)")
    stage.spool_do(*["INSERT INTO ballast VALUES (zeroblob(1048576))"] * HUGE_FILE)
    carried_out(checks, stage, f"a file of {HUGE_FILE} MiB: a request is carried out")
    stage.spool_do("DROP TABLE ballast")


def read_only(checks, stage):
    row = stage.spool_delete(stage.new_users(1)[0])
    lock_file(stage.spool, True)
    before = said(stage, "event=spool_unwritable")
    try:
        # root ignores modes, so that only the attribute of the file system keeps it out.
        touched = subprocess.run(["touch", stage.spool], capture_output=True)
        checks.check("the file is read-only (root: by chattr)", touched.returncode != 0)
        # The mirror has something to write, whatever it has done before the lock.
        stage.delete(stage.new_users(1)[0])
        stop_and_start(stage)
        checks.check("a read-only spool: an alarm says so",
                     alarmed(stage, before, "event=spool_unwritable"), stage.log()[-1500:])
        checks.check("     the daemon goes on", stage.is_up())
    finally:
        lock_file(stage.spool, False)
        touch(stage.spool)
    checks.check("     what was in it is carried out when it can be written again", comes_true(
        lambda: stage.spool_rows("SELECT state FROM requests WHERE id = :row", row=row)
        == [("completed",)], 45))


def lock_file(path, is_locked):
    if os.geteuid() == 0:
        subprocess.run(["chattr", "+i" if is_locked else "-i", path], check=True)
    else:
        os.chmod(path, 0o440 if is_locked else 0o660)


def stop_and_start(stage):
    stage.stop()
    stage.start()
    stage.comes_up()


def restored(checks, stage):
    """An old copy comes back: the ids of its next rows were given to others before."""
    copy = stage.path("app/copy.db")
    with sqlite3.connect(stage.spool, timeout=HANG_S) as database:
        with sqlite3.connect(copy) as target:
            database.backup(target)
    carried_out(checks, stage, "after the copy was made a request is carried out")
    before = said(stage, "event=spool_replaced")
    shutil.copystat(stage.spool, copy)
    put_in_place(stage, copy)
    checks.check("a spool restored from a copy: an alarm says so",
                 alarmed(stage, before, "event=spool_replaced"), stage.log()[-1500:])


def replaced(checks, stage):
    other = stage.path("other")
    os.makedirs(other, mode=0o700)
    assert stage.run("expunged", "--init-spool", "--state-directory", other).returncode == 0
    put_in_place(stage, os.path.join(other, "spool/queue.db"))
    checks.check("another spool in its place: an alarm says so",
                 alarmed(stage, 0, "event=spool_replaced", "other_spool"),
                 stage.log()[-1500:])


def put_in_place(stage, file):
    """Replaces the spool as one should: what belongs to the old file goes with it."""
    for suffix in ("-journal", "-wal", "-shm"):
        if os.path.exists(stage.spool + suffix):
            os.unlink(stage.spool + suffix)
    os.rename(file, stage.spool)
