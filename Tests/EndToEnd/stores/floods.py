"""Stores that send without end and databases with huge values, under a bound of memory that their data exceeds.

The service never ends, answers all the time, and erases whom nothing hinders in its other stores. Judged by its
process, by the answers, and by the rows that are left.
"""

import os
import re
import sqlite3
import subprocess

from checks import HANG_S, HOLDS_BARS, comes_true
from flood_servers import MySQLFlood, PostgreSQLFlood
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, ROOT, Stage
from store_servers import PostgreSQL

MEMORY_MAX = 256 << 20
USERS = 10
SIZE = "longer than the service reads"
# Modes that the service ends by a deadline, since libpq itself gets slower with each setting.
SLOW = {"settings"}
BIG = """
[[store]]
name = "big"
kind = "sqlite"
path = "{path}"
triggers = "checked"
[[store.table]]
table = "items"
column = "owner"
{action}
"""
DELETE = 'action = "delete"'
MASK = 'action = "anonymize"\nkeep_reason = "tax law"\nset = { body = { strategy = "hash" } }'
ITEMS = "CREATE TABLE items (id INTEGER PRIMARY KEY, owner TEXT, body TEXT);"
# The action, what the database gets besides a row of each user, and whether that blocks the first of them.
FILES = {
    "a value of 300 MB in the key": (DELETE, "INSERT INTO items (owner) VALUES (hex(zeroblob(150000000)))", False),
    "a value of 900 MB in a deleted row": (
        DELETE, "INSERT INTO items (owner, body) VALUES ('{user}', zeroblob(900000000))", False),
    "a text of 300 MB in a deleted row": (
        DELETE, "INSERT INTO items (owner, body) VALUES ('{user}', hex(zeroblob(150000000)))", False),
    "a value of 300 MB in a column that is hashed": (
        MASK, "INSERT INTO items (owner, body) VALUES ('{user}', hex(zeroblob(150000000)))", True),
    "a value of 300 MB in such a column of no user": (
        MASK, "INSERT INTO items (body) VALUES (hex(zeroblob(150000000)))", False),
    "a trigger that makes 1 GB": (
        DELETE, "CREATE TRIGGER huge AFTER DELETE ON items WHEN old.owner = '{user}' BEGIN"
        " INSERT INTO items (owner) VALUES (hex(zeroblob(499000000))); END", True),
}
SERVERS = {
    "postgresql": (PostgreSQL, "CREATE FUNCTION huge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                   " IF OLD.author = '{user}' THEN RAISE EXCEPTION '%', repeat('x', 900000000); END IF;"
                   " RETURN OLD; END $$; CREATE TRIGGER huge BEFORE DELETE ON posts FOR EACH ROW"
                   " EXECUTE FUNCTION huge();"),
}


@scenario(long=True, bars=True)
def floods(checks, seed):
    sandbox = Sandbox(BINARIES)
    try:
        of_kernel(checks, seed, sandbox)
        for kind in (PostgreSQLFlood, MySQLFlood):
            for mode in kind.modes:
                of_server(checks, seed, sandbox, kind, mode)
        for what, case in FILES.items():
            of_file(checks, seed, sandbox, what, *case)
        for name, (kind, sql) in SERVERS.items():
            of_trigger(checks, seed, sandbox, name, kind, sql)
    finally:
        sandbox.close()


def of_kernel(checks, seed, sandbox):
    """What the unit leaves behind makes the next start suspect what was under way."""
    with open(os.path.join(ROOT, "systemd/expunged.service")) as file:
        command = re.search(r"^ExecStopPost=/bin/sh -c '(.*)'$", file.read(), re.M).group(1).replace("$$", "$")
    place = re.search(r'"(/sys/fs/cgroup[^"]*)"', command).group(1)
    stage = Stage(checks, seed, sandbox)
    try:
        marker, events = stage.path("state/crash-marker"), stage.path("events")
        checks.check("the daemon starts", stage.starts())
        for status, count, is_marked in (("KILL", 0, False), ("TERM", 3, False), ("KILL", 3, True)):
            stage.kill()
            with open(events, "w") as file:
                file.write(f"oom 3\noom_kill {count}\noom_group_kill 0\n")
            subprocess.run(["sh", "-c", command.replace(place, events)], check=True,
                           env={**os.environ, "EXIT_STATUS": status, "STATE_DIRECTORY": stage.path("state")})
            with open(marker, "rb") as file:
                checks.check(f"{status} with {count} kills is marked: {is_marked}", bool(file.read()) == is_marked)
            before = stage.log().count("uncleanly: it crashed")
            stage.starts()
            found = stage.log().count("uncleanly: it crashed") > before
            checks.check("and so is the end in the journal", found == is_marked, stage.log()[-2000:])
    finally:
        stage.close(keep=bool(checks.failed))


def of_server(checks, seed, sandbox, kind, mode):
    stage, what = Stage(checks, seed, sandbox), f"{kind.__name__} {mode}"
    server = kind(stage.path("flood"), mode)
    try:
        extend(stage, f'[[store]]\nname = "flood"\n{server.section(stage)}'
               '[[store.table]]\ntable = "posts"\ncolumn = "author"\naction = "delete"\n')
        with Bounded(stage, what):
            users = stage.new_users(USERS)
            accepts(stage, what, users)
            checks.check(f"{what}: the rows in the other store go",
                         comes_true(lambda: not stage.rows_left()), stage.rows_left())
            if mode not in SLOW:
                checked = stage.run("expungectl", "stores", "check", "flood", timeout=4 * HANG_S)
                said = checked.stdout + checked.stderr
                checks.check(f"{what}: the check names the bound", SIZE in said, said)
        stage.unjudged = "a store answers nothing that ends"
    finally:
        stage.close(keep=bool(checks.failed))
        server.close()


def of_file(checks, seed, sandbox, what, action, sql, is_blocked):
    stage = Stage(checks, seed, sandbox)
    try:
        path = stage.path("app/big.db")
        extend(stage, BIG.format(path=path, action=action))
        users = stage.new_users(USERS)
        with sqlite3.connect(path) as big:
            big.executescript("PRAGMA journal_mode = WAL;" + ITEMS)
            big.executemany("INSERT INTO items (owner, body) VALUES (?, 'text')", [(user,) for user in users])
            big.executescript(sql.format(user=users[0]))
        with Bounded(stage, what):
            requests = accepts(stage, what, users)
            blocked = users[:1] if is_blocked else []
            for user in users:
                wanted = (lambda: SIZE in str(steps(stage, requests[user]))) if user in blocked \
                    else (lambda: state(stage, requests[user]) == "completed")
                checks.check(f"{what}: {'names the table' if user in blocked else 'erases the user'}",
                             comes_true(wanted), steps(stage, requests[user]))
        stage.unjudged = "a request stays open"
    finally:
        stage.close(keep=bool(checks.failed))


def of_trigger(checks, seed, sandbox, name, kind, sql):
    stage, what = Stage(checks, seed, sandbox), f"{name}: an error with a message of 900 MB"
    server = kind(stage.path("server"))
    try:
        users = stage.new_users(USERS)
        server.prepare(users)
        server.sql(sql.format(user=users[0]))
        extend(stage, f'[[store]]\nname = "server"\n{server.section(stage)}')
        with Bounded(stage, what):
            requests = accepts(stage, what, users)
            checks.check(f"{what} blocks its request", comes_true(
                lambda: SIZE in str(steps(stage, requests[users[0]]))), steps(stage, requests[users[0]]))
            checks.check(f"{what} blocks no other", comes_true(
                lambda: all(state(stage, requests[user]) == "completed" for user in users[1:])))
        stage.unjudged = "a request stays open"
    finally:
        stage.close(keep=bool(checks.failed))
        server.close()


def extend(stage, text):
    with open(stage.path("expunged.toml"), "a") as file:
        file.write("\n" + text)


def accepts(stage, what, users):
    requests = {}
    for user in users:
        status, body = stage.delete(user)
        stage.checks.check(f"{what}: a request is accepted", status in (200, 201, 202), body)
        requests[user] = body["id"]
    return requests


def state(stage, request):
    try:
        return stage.http("GET", f"/v1/requests/{request}")[1]["state"]
    except GONE:
        return None


def steps(stage, request):
    try:
        return stage.http("GET", f"/v1/requests/{request}")[1]["steps"]
    except GONE:
        return None


class Bounded:
    """Runs the daemon under MEMORY_MAX, and judges that it did not end."""

    def __init__(self, stage, what):
        self.stage, self.what, self.group = stage, what, new_group()

    def __enter__(self):
        if self.group:
            self.stage.start("sh", "-c", f'echo $$ > {self.group}/cgroup.procs && exec "$@"', "sh")
        else:
            # RLIMIT_AS is no substitute: it also counts what is mapped and never touched.
            self.stage.checks.skip(f"{self.what}: no memory cgroup may be made here; only the peak is a bar")
            self.stage.start()
        self.stage.checks.check(f"{self.what}: the daemon starts", self.stage.comes_up(), self.stage.log()[-2000:])

    def __exit__(self, *failure):
        stage, daemon = self.stage, self.stage.daemon
        stage.checks.check(f"{self.what}: the daemon never ends", daemon.poll() is None, stage.log()[-2000:])
        if HOLDS_BARS and daemon.poll() is None:
            with open(f"/proc/{daemon.pid}/status") as file:
                peak = int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) << 10
            stage.checks.check(f"{self.what}: the peak is below the bound", peak < MEMORY_MAX, f"{peak >> 20} MiB")
        stage.stop()
        if self.group:
            subprocess.run(["rmdir", self.group], check=True)


def new_group():
    """A memory cgroup of our own below the present one (cgroups(7)), version 2 or 1; None where none may be made."""
    with open("/proc/self/cgroup") as file:
        lines = [line.strip().split(":", 2) for line in file]
    for _, controllers, path in lines:
        version1 = "memory" in controllers.split(",")
        if controllers and not version1:
            continue
        for below in (path, ""):
            root = ("/sys/fs/cgroup/memory" if version1 else "/sys/fs/cgroup") + below.rstrip("/")
            group = os.path.join(root, f"expunged-floods-{os.getpid()}")
            try:
                os.mkdir(group)
                with open(os.path.join(group, "memory.limit_in_bytes" if version1 else "memory.max"), "w") as file:
                    file.write(str(MEMORY_MAX))
                return group
            except OSError:
                if os.path.isdir(group):
                    os.rmdir(group)
    return None
