"""Every hostile shape of spool, stores, credentials and state directory, before the start and while the service runs.

What is broken waits, everything else is served, and what is mended goes on by itself. Judged by the provider's
log, the rows of the stores, the spool and the process table.
"""

import concurrent.futures
import os
import random
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, Stage

# The service waits up to 60 s for a spool that cannot be read before it accepts without it.
PATIENCE_S = 120
# What was broken for long is looked at again after minutes.
MENDED_S = 1200
# Side by side; each waits most of the time.
AT_ONCE = 12
# How often each index of a WAL is cut short.
CUTS = 13

FILES = """
[[store]]
name = "uploads"
kind = "files"
root = "{root}"
paths = ["{{user_id}}"]
"""


class World(Stage):
    """A healthy store of files in front of the application's database, and everything to break."""

    def __init__(self, checks, seed, sandbox, name):
        self.name = name
        super().__init__(checks, seed, sandbox=sandbox)
        self.uploads = self.path("app/uploads")
        os.makedirs(self.uploads)
        with open(os.path.join(self.uploads, ".expunged-root"), "w") as file:
            file.write("uploads\n")
        with open(self.path("expunged.toml")) as file:
            text = file.read()
        provider, store = text.split("[[store]]\n", 1)
        with open(self.path("expunged.toml"), "w") as file:
            file.write(provider + FILES.format(root=self.uploads) + "[[store]]\n" + store)
        self.pristine = self.path("pristine.db")
        shutil.copy(self.spool, self.pristine)

    def check(self, what, holds, detail=""):
        return self.checks.check(f"{self.name}: {what}", holds, detail if isinstance(detail, str) else str(detail))

    def upload(self, user):
        with open(os.path.join(self.uploads, user), "w") as file:
            file.write("picture")

    def has_upload(self, user):
        return os.path.lexists(os.path.join(self.uploads, user))

    def new_user(self):
        user = self.new_users(1)[0]
        self.upload(user)
        return user

    def spool_only_user(self):
        """For when the application's database cannot be written."""
        user = f"user-{self.random.getrandbits(80):020x}"
        self.canaries.add(user)
        self.upload(user)
        return user

    def alarms(self):
        try:
            return self.http("GET", "/v1/status")[1].get("alarms", [])
        except GONE:
            return []

    def state_of(self, answer):
        try:
            return self.http("GET", f"/v1/requests/{answer[1]['id']}")[1].get("state")
        except GONE:
            return None

    def row_is_done(self, row):
        try:
            return self.spool_rows("SELECT state FROM requests WHERE id = :row", row=row) == [("completed",)]
        except sqlite3.Error:
            return False

    def begin(self, what):
        self.start()
        return self.check(f"{what}: the service starts", self.comes_up(), self.log()[-1500:])

    def accepted(self, user):
        """Over the socket, whatever the spool is like."""
        return self.delete(user, timeout=PATIENCE_S)


@scenario(long=True, bars=True)
def before_start(checks, seed):
    sandbox = Sandbox(BINARIES)
    plays = ([(f"spool {shape.__name__}", spool_shape, shape) for shape in SPOOLS]
             + [(f"store {shape.__name__}", store_shape, shape) for shape in STORES]
             + [(f"folder {shape.__name__}", folder_shape, shape) for shape in FOLDERS]
             + [(f"credential {shape.__name__}", credential_shape, shape) for shape in CREDENTIALS]
             + [("reload", reload_shape, None), ("bus errors", bus_errors, None), ("blame", blame, None)])
    only = os.environ.get("BEFORE_START")

    def play(number, name, body, shape):
        if only and only not in name:
            return
        world = World(checks, seed + number, sandbox, name)
        try:
            body(world, shape)
        except Exception:
            world.unjudged = "its stores may be broken still"
            raise
        finally:
            world.close(keep=bool(only))

    try:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for ended in [pool.submit(play, number, *entry) for number, entry in enumerate(plays)]:
                try:
                    ended.result()
                except Exception as error:  # One shape that dies is one failure.
                    checks.check("before-start", False, repr(error))
    finally:
        sandbox.close()


# ---- the spool ----

def spool_shape(world, shape):
    """Applied while the service runs, then before a start."""
    world.begin("a sound spool")
    for when in ("while it runs", "before the start"):
        if when == "before the start":
            world.stop()
        begun = len(world.log())
        mend = spoil(world, shape)
        if when == "before the start":
            upgraded = world.run("expunged", "--init-spool", "--state-directory", world.path("state"))
            world.check(f"{when}: an upgrade goes on",
                        upgraded.returncode == 0 or shape in (a_file_as_folder, a_link_as_folder), upgraded)
            world.begin(when)
        process = world.daemon.pid
        # A start makes the spool where there is none.
        is_made = when == "before the start" and shape is no_folder
        if shape not in HARMLESS and not is_made:
            world.check(f"{when}: an alarm says that the spool is quarantined", comes_true(
                lambda: is_quarantined(world, shape, begun), 60, 0.2), world.alarms())
        user = world.new_user()
        answer = world.accepted(user)
        world.check(f"{when}: a request over the socket is carried out", comes_true(
            lambda: world.state_of(answer) == "completed" and user not in world.rows_left()
            and not world.has_upload(user), PATIENCE_S, 0.2), f"{answer} {world.log()[-1500:]}")
        row = mend()
        world.check(f"{when}: what was in the spool is carried out once it is mended", comes_true(
            lambda: world.row_is_done(row), MENDED_S, 0.2), world.log()[-1500:])
        world.check(f"{when}: it is the same process, and no alarm is left",
                    world.daemon.poll() is None and world.daemon.pid == process and comes_true(
                        lambda: "spool_quarantined" not in world.alarms(), 60, 0.2), world.alarms())


def is_quarantined(world, shape, begun):
    if shape is a_super_journal:
        # Refusing it takes it away: what is left is a sound spool.
        return "event=spool_quarantined error=refused" in world.log()[begun:]
    return "spool_quarantined" in world.alarms()


def spoil(world, shape):
    """Applies a shape; what mends it answers the id of a row that was in the spool all the time."""
    copy = world.path("sound.db")
    user = world.new_user()
    database = sqlite3.connect(world.pristine)
    with database:
        row = database.execute("INSERT INTO requests (kind, user_id) VALUES ('delete_account', ?)", (user,)).lastrowid
    database.close()
    shutil.copy(world.pristine, copy)
    if shape in HARMLESS or shape in (locked, kept_in_wal):
        # The shape is made of the spool itself.
        put(world, copy)
    undo = shape(world)

    def mend():
        if undo:
            undo()
        elif shape not in HARMLESS:
            clear(world)
            shutil.copy(world.pristine, copy)
            put(world, copy)
        return row

    return mend


def put(world, file):
    os.makedirs(os.path.dirname(world.spool), exist_ok=True)
    clear(world, but=world.spool)
    os.chmod(file, 0o660)
    os.rename(file, world.spool)


def clear(world, but=None):
    """Whatever is in the place of the spool and of what belongs to it."""
    folder = os.path.dirname(world.spool)
    if os.path.islink(folder) or os.path.isfile(folder):
        os.unlink(folder)
        os.makedirs(folder)
    for suffix in ("", "-journal", "-wal", "-shm"):
        path = world.spool + suffix
        if path == but and os.path.isfile(path) and not os.path.islink(path):
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass  # The service removes journals, too.


def in_its_place(world):
    clear(world)
    return world.spool


def spool_folder(world):
    folder = os.path.dirname(world.spool)
    shutil.rmtree(folder)
    return folder


def a_directory(world):
    os.mkdir(in_its_place(world))


def a_fifo(world):
    os.mkfifo(in_its_place(world))


def a_socket(world):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(in_its_place(world))
    listener.close()


def a_link(world):
    shutil.copy(world.pristine, world.path("elsewhere.db"))
    os.symlink(world.path("elsewhere.db"), in_its_place(world))


def a_dangling_link(world):
    os.symlink(world.path("nowhere"), in_its_place(world))


def an_empty_file(world):
    open(in_its_place(world), "w").close()


def text(world):
    with open(in_its_place(world), "w") as file:
        file.write("no database\n" * 1000)


def half_a_file(world):
    with open(world.pristine, "rb") as file:
        content = file.read()
    with open(in_its_place(world), "wb") as file:
        file.write(content[:len(content) // 2 + 100])


def overwrite(world, offset, data):
    """Past SQLite, whose change counter stays the same."""
    with open(world.spool, "r+b") as file:
        file.seek(offset)
        file.write(data)


def a_damaged_header(world):
    overwrite(world, 0, bytes(16))


def a_newer_header(world):
    overwrite(world, 60, struct.pack(">I", 2))


def damaged_pages(world):
    with open(world.pristine, "rb") as file:
        content = bytearray(file.read())
    source = random.Random(world.random.getrandbits(64))
    for place in range(4096, len(content)):
        content[place] = source.getrandbits(8)
    with open(in_its_place(world), "wb") as file:
        file.write(content)


def changed(world, *statements):
    copy = world.path("changed.db")
    shutil.copy(world.pristine, copy)
    database = sqlite3.connect(copy, isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()
    clear(world)
    os.rename(copy, world.spool)


def another_database(world):
    copy = world.path("changed.db")
    database = sqlite3.connect(copy)
    database.execute("CREATE TABLE t (a)")
    database.commit()
    database.close()
    clear(world)
    os.rename(copy, world.spool)


def a_newer_version(world):
    changed(world, "PRAGMA user_version = 2")


def a_changed_table(world):
    changed(world, "ALTER TABLE requests ADD COLUMN more TEXT")


def two_ids(world):
    changed(world, "INSERT INTO spool_meta VALUES ('second')")


def no_id(world):
    changed(world, "DELETE FROM spool_meta")


def a_super_journal(world):
    """sqlite.org/fileformat2.html, "The Rollback Journal": it may name another file to delete."""
    put(world, shutil.copy(world.pristine, world.path("changed.db")))
    victim = world.path("state/state.db").encode()
    magic = bytes.fromhex("d9d505f920a163d7")
    journal = (magic + struct.pack(">5I", 0, 0, os.path.getsize(world.spool) // 4096, 512, 4096)).ljust(512, b"\0")
    journal += struct.pack(">I", 0x40000000 // 4096 + 1) + victim + struct.pack(">I", len(victim))
    journal += struct.pack(">I", sum(victim) & 0xFFFFFFFF) + magic
    with open(world.spool + "-journal", "wb") as file:
        file.write(journal)
    os.utime(world.spool)


def a_directory_as_journal(world):
    put(world, shutil.copy(world.pristine, world.path("changed.db")))
    os.mkdir(world.spool + "-journal")
    os.utime(world.spool)


def a_fifo_as_wal(world):
    put(world, shutil.copy(world.pristine, world.path("changed.db")))
    os.mkfifo(world.spool + "-wal")
    os.utime(world.spool)


def locked(world):
    """By an application that never commits."""
    holder = sqlite3.connect(world.spool, timeout=HANG_S, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")

    def undo():
        holder.execute("ROLLBACK")
        holder.close()
        os.utime(world.spool)
    return undo


def kept_in_wal(world):
    """By an application that keeps it open."""
    holder = sqlite3.connect(world.spool, timeout=HANG_S, isolation_level=None, check_same_thread=False)
    holder.execute("PRAGMA journal_mode = WAL")
    holder.execute("UPDATE requests SET created_at = created_at")
    return holder.close


def no_folder(world):
    spool_folder(world)


def a_file_as_folder(world):
    open(spool_folder(world), "w").close()


def a_link_as_folder(world):
    os.symlink(world.path("nowhere"), spool_folder(world))


def garbage_as_wal(world):
    with open(world.spool + "-wal", "wb") as file:
        file.write(world.random.randbytes(8192))
    os.utime(world.spool)


def left_in_wal(world):
    """By an application that was killed; its index is cut short."""
    leave_in_wal(world.spool, "UPDATE requests SET created_at = created_at")
    cut(world.spool)
    os.utime(world.spool)


def a_long_wal(world):
    """Left by an application that was killed, and then made long by somebody who wrote nothing to it."""
    leave_in_wal(world.spool, "UPDATE requests SET created_at = created_at")
    try:
        os.truncate(world.spool + "-wal", 1 << 30)
    except FileNotFoundError:
        pass  # The service has switched it back already.
    os.utime(world.spool)


def a_large_wal(world):
    """Left by an application that was killed after it had put more there than is copied back."""
    leave_in_wal(world.spool, "CREATE TABLE junk AS SELECT zeroblob(70000000)")
    os.utime(world.spool)


def a_fifo_as_index(world):
    leave_in_wal(world.spool, "UPDATE requests SET created_at = created_at")
    if os.path.exists(world.spool + "-shm"):
        os.unlink(world.spool + "-shm")
    os.mkfifo(world.spool + "-shm")
    os.utime(world.spool)


def a_second_name(world):
    os.link(world.spool, world.path(f"second-{world.random.getrandbits(32)}.db"))
    os.utime(world.spool)


def a_draft(world):
    """As a start leaves it that is killed between the link and the unlink."""
    draft = world.spool + ".new-0123456789abcdef"
    if not os.path.exists(draft):
        os.link(world.spool, draft)
    os.utime(world.spool)


def a_huge_file(world):
    world.unjudged = "the judge reads every file"
    os.truncate(world.spool, 1 << 40)


SPOOLS = (a_directory, a_fifo, a_socket, a_link, a_dangling_link, an_empty_file, text, half_a_file, damaged_pages,
          a_damaged_header, a_newer_header, another_database, a_newer_version, a_changed_table, two_ids, no_id,
          a_super_journal, a_directory_as_journal, a_fifo_as_wal, locked, kept_in_wal, no_folder, a_file_as_folder,
          a_link_as_folder, garbage_as_wal, left_in_wal, a_long_wal, a_large_wal, a_fifo_as_index, a_second_name,
          a_draft, a_huge_file)
# The service copes with these by itself.
HARMLESS = (garbage_as_wal, left_in_wal, a_long_wal, a_fifo_as_index, a_second_name, a_draft, a_huge_file)


def cut(path):
    try:
        os.truncate(path + "-shm", 0)
    except FileNotFoundError:
        pass  # The service has switched it back already.


def leave_in_wal(path, statement):
    """A process switches the file to WAL, commits and is gone, without closing anything."""
    program = ("import os, sqlite3, sys\n"
               f"database = sqlite3.connect(sys.argv[1], timeout={HANG_S}, isolation_level=None)\n"
               "database.execute('PRAGMA journal_mode = WAL')\n"
               "database.execute(sys.argv[2])\n"
               "os._exit(0)\n")
    subprocess.run([sys.executable, "-c", program, path, statement], check=True, timeout=HANG_S)


# ---- the stores ----

def store_shape(world, shape):
    broken_store(world, shape, "app-db", lambda: put_store(world), lambda user: user not in world.rows_left(),
                 lambda user: not world.has_upload(user))


def folder_shape(world, shape):
    broken_store(world, shape, "uploads", lambda: put_folder(world), lambda user: not world.has_upload(user),
                 lambda user: True)


def broken_store(world, shape, name, mend, is_gone, is_served):
    """The other store is served, links are cut, and a mended store goes on by itself."""
    for when in ("before the start", "while it runs"):
        tokens = world.new_tokens(2)
        user, linked = world.new_user(), world.new_user()
        keep_store(world)
        if when == "before the start":
            world.stop()
        undo = shape(world)
        if when == "before the start":
            world.begin(when)
            world.check(f"{when}: an alarm and the list of stores say why", shape is a_locked_store
                        or comes_true(lambda: is_paused(world, name)), world.http("GET", "/v1/stores"))
        process = world.daemon.pid
        world.store(linked, tokens[0])
        answers = [world.accepted(user), world.accepted(linked)]
        world.check(f"{when}: the link is cut", comes_true(
            lambda: tokens[0]["subject"] in world.sandbox.revoked_at(), 30, 0.2), world.log()[-1500:])
        world.check(f"{when}: the other store is served", comes_true(
            lambda: is_served(user) and is_served(linked), 30, 0.2))
        only_tokens = world.http("POST", "/v1/requests", {"kind": "revoke_tokens", "user_id": "nobody"},
                                 f"r-{when}".replace(" ", "-"))
        world.check(f"{when}: what needs no store is completed", comes_true(
            lambda: world.state_of(only_tokens) == "completed", 30, 0.2))
        world.check(f"{when}: what needs the store is not", all(
            world.state_of(answer) != "completed" for answer in answers))
        (undo or mend)()
        world.check(f"{when}: mended, it goes on by itself", comes_true(
            lambda: all(world.state_of(answer) == "completed" for answer in answers), MENDED_S, 0.2)
            and is_gone(user) and is_gone(linked), world.log()[-1500:])
        world.check(f"{when}: it is the same process and the alarm is gone",
                    world.daemon.poll() is None and world.daemon.pid == process
                    and comes_true(lambda: "store_paused" not in world.alarms()), world.alarms())


def is_paused(world, name):
    if "store_paused" not in world.alarms():
        return False
    shown = {item["name"]: item for item in world.http("GET", "/v1/stores")[1]["items"]}
    return shown[name]["state"] == "paused" and bool(shown[name]["findings"])


def keep_store(world):
    """A sound copy of the application's database, rows of today included."""
    kept = world.path("kept.db")
    if os.path.exists(kept):
        os.unlink(kept)
    database = sqlite3.connect(world.app, timeout=HANG_S)
    database.execute("VACUUM INTO ?", (kept,))
    database.close()
    database = sqlite3.connect(kept)
    database.execute("PRAGMA journal_mode = WAL")
    database.close()


def put_store(world):
    no_store(world)
    shutil.copy(world.path("kept.db"), world.app)


def put_folder(world):
    kept = world.uploads + ".kept"
    if os.path.lexists(kept):
        if os.path.isdir(world.uploads) and not os.path.islink(world.uploads):
            shutil.rmtree(world.uploads)
        elif os.path.lexists(world.uploads):
            os.unlink(world.uploads)
        os.rename(kept, world.uploads)
    with open(os.path.join(world.uploads, ".expunged-root"), "w") as file:
        file.write("uploads\n")


def no_store(world):
    for suffix in ("", "-journal", "-wal", "-shm"):
        path = world.app + suffix
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)


def a_store_of_text(world):
    no_store(world)
    with open(world.app, "w") as file:
        file.write("no database at all\n" * 1000)


def an_empty_store(world):
    no_store(world)
    open(world.app, "w").close()


def half_a_store(world):
    no_store(world)
    with open(world.path("kept.db"), "rb") as file:
        content = file.read()
    with open(world.app, "wb") as file:
        file.write(content[:5000])


def a_store_without_table(world):
    no_store(world)
    database = sqlite3.connect(world.app)
    database.execute("CREATE TABLE other (a)")
    database.commit()
    database.close()


def a_directory_as_store(world):
    no_store(world)
    os.mkdir(world.app)


def a_fifo_as_store(world):
    no_store(world)
    os.mkfifo(world.app)


def a_link_as_store(world):
    no_store(world)
    os.symlink(world.path("kept.db"), world.app)


def a_locked_store(world):
    holder = sqlite3.connect(world.app, timeout=HANG_S, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")

    def undo():
        holder.execute("ROLLBACK")
        holder.close()
    return undo


STORES = (no_store, a_store_of_text, an_empty_store, half_a_store, a_store_without_table, a_directory_as_store,
          a_fifo_as_store, a_link_as_store, a_locked_store)


def no_root(world):
    os.rename(world.uploads, world.uploads + ".kept")


def a_file_as_root(world):
    no_root(world)
    open(world.uploads, "w").close()


def a_link_as_root(world):
    no_root(world)
    os.symlink(world.uploads + ".kept", world.uploads)


def no_sentinel(world):
    os.unlink(os.path.join(world.uploads, ".expunged-root"))


FOLDERS = (no_root, a_file_as_root, a_link_as_root, no_sentinel)


# ---- credentials ----

def credential_shape(world, shape):
    """systemd reads credentials at the start, so that is when they are broken."""
    key = world.path("credentials/apple-key.p8")
    world.begin("a sound key")
    token = world.new_tokens(1)[0]
    linked = world.new_user()
    world.store(linked, token)
    world.stop()
    os.rename(key, key + ".kept")
    shape(key)
    world.begin("before the start")
    process = world.daemon.pid
    world.check("an alarm and the list of providers say why", comes_true(
        lambda: "provider_paused" in world.alarms() and any(
            item["state"] == "paused" and item["findings"]
            for item in world.http("GET", "/v1/providers")[1]["items"])), world.http("GET", "/v1/providers"))
    user = world.new_user()
    answer, waiting = world.accepted(user), world.accepted(linked)
    world.check("a user without a link there is erased", comes_true(
        lambda: world.state_of(answer) == "completed" and user not in world.rows_left(), 30, 0.2), world.log()[-1500:])
    world.check("one with a link waits", comes_true(lambda: world.state_of(waiting) == "parked", 10)
                and linked in world.rows_left())
    if os.path.isdir(key):
        os.rmdir(key)
    else:
        if os.path.lexists(key):
            os.unlink(key)
    os.rename(key + ".kept", key)
    world.check("mended, the link is cut and the user erased, without a restart", comes_true(
        lambda: world.state_of(waiting) == "completed", MENDED_S, 0.2) and linked not in world.rows_left()
        and token["subject"] in world.sandbox.revoked_at() and world.daemon.pid == process, world.log()[-1500:])


def no_key(path):
    pass


def a_key_of_text(path):
    with open(path, "w") as file:
        file.write("no key\n")
    os.chmod(path, 0o600)


def a_fifo_as_key(path):
    os.mkfifo(path, 0o600)


def a_directory_as_key(path):
    os.mkdir(path)


def a_key_for_everybody(path):
    shutil.copy(path + ".kept", path)
    os.chmod(path, 0o666)


CREDENTIALS = (no_key, a_key_of_text, a_fifo_as_key, a_directory_as_key, a_key_for_everybody)


# ---- reload, faults and blame ----

def reload_shape(world, _):
    """A broken store keeps no other change out, also one that the reload brings."""
    keep_store(world)
    no_store(world)
    world.begin("before the start")
    with open(world.path("expunged.toml")) as file:
        text = file.read()
    with open(world.path("expunged.toml"), "w") as file:
        file.write(text.replace('grace_period = "0s"', 'grace_period = "1s"'))
    done = world.run("expungectl", "reload")
    world.check("a reload is taken although a store is broken", done.returncode == 0, done)
    with open(world.path("expunged.toml"), "w") as file:
        file.write(text + '[[store.table]]\ntable = "nowhere"\ncolumn = "x"\naction = "delete"\n')
    done = world.run("expungectl", "reload")
    world.check("a table that is not there pauses its store and is named",
                done.returncode == 0 and "paused: " in done.stdout and "does not exist" in done.stdout, done)
    with open(world.path("expunged.toml"), "w") as file:
        file.write(text + '[nonsense]\n')
    done = world.run("expungectl", "reload")
    shown = world.run("expungectl", "status").stdout
    world.check("a configuration that is not valid is refused, and the status says so",
                done.returncode != 0 and "nonsense" in done.stderr and "nonsense" in shown
                and "configuration_refused" in shown, (done, shown))
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(world.path("silent.sock"))
        silent.listen()
        begun = time.monotonic()
        done = world.run("expungectl", "status", "--socket", world.path("silent.sock"))
        took_s = time.monotonic() - begun
        world.check("a socket that nobody serves is left", done.returncode == 5, done)
        if HOLDS_BARS:
            world.check(f"     after {took_s:.2f} s", took_s < 1, done)
    with open(world.path("expunged.toml"), "w") as file:
        file.write(text)
    world.run("expungectl", "reload")
    put_store(world)
    user = world.new_user()
    answer = world.accepted(user)
    world.check("mended, it goes on by itself", comes_true(
        lambda: world.state_of(answer) == "completed" and user not in world.rows_left(), MENDED_S, 0.2), world.log()[-1500:])


def bus_errors(world, _):
    """The index of a WAL is a file that every writer of the database can cut short."""
    world.begin("before")
    process = world.daemon.pid
    for number in range(CUTS):
        user = world.new_user()
        leave_in_wal(world.spool, f"INSERT INTO requests (kind, user_id) VALUES ('delete_account', '{user}')")
        cut(world.spool)
        os.utime(world.spool)
        world.check(f"spool, {number}: the row is carried out", comes_true(
            lambda: user not in world.rows_left() and not world.has_upload(user), 60), world.log()[-1500:])
    # The service closes the store between two deletions; its application does not.
    keep = ("import sqlite3, sys\n"
            "database = sqlite3.connect(sys.argv[1])\n"
            "print(database.execute('SELECT count(*) FROM posts').fetchall(), flush=True)\n"
            "sys.stdin.read()\n")
    application = subprocess.Popen([sys.executable, "-c", keep, world.app], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
    application.stdout.readline()
    for number in range(CUTS):
        user = world.new_user()
        # A check leaves the service's connection open.
        world.run("expungectl", "stores", "check", "app-db")
        os.truncate(world.app + "-shm", 0)
        answer = world.accepted(user)
        comes_true(lambda: world.state_of(answer) == "completed" or "store_paused" in world.alarms(), 60)
        if number < CUTS - 1:
            # The last time nobody helps; the service pauses the store for longer each time.
            world.run("expungectl", "stores", "resume", "app-db")
        world.check(f"store, {number}: the user is erased", comes_true(
            lambda: world.state_of(answer) == "completed", MENDED_S) and user not in world.rows_left(), world.log()[-1500:])
    application.stdin.close()
    application.wait()
    copy = world.path("copy")
    os.mkdir(copy)
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(world.app + suffix):
            shutil.copy(world.app + suffix, copy)
    subprocess.run(f"cp -a {copy}/app.db* {os.path.dirname(world.app)}", shell=True, check=True)
    world.check("it is the same process all the time", world.daemon.poll() is None and world.daemon.pid == process,
                world.log()[-1500:])
    with sqlite3.connect(world.app, timeout=HANG_S) as app:
        world.check("the store is intact", app.execute("PRAGMA integrity_check").fetchall() == [("ok",)])


def blame(world, _):
    """A bus error is no request's fault, however often it ends the process."""
    world.begin("before")
    user = world.new_user()
    world.stop()
    keep_store(world)
    no_store(world)
    world.begin("with a store that is away")
    answer = world.accepted(user)
    for _ in range(4):
        world.kill()
        with open(world.path("state/crash-marker"), "wb") as file:
            file.write(bytes([7]))
        world.begin("after a bus error")
    put_store(world)
    world.check("the request is carried out and not quarantined", comes_true(
        lambda: world.state_of(answer) == "completed", MENDED_S, 0.2), world.http("GET", f"/v1/requests/{answer[1]['id']}"))
