"""What the guides print can be done: configurations are accepted, commands exist, examples run."""

import concurrent.futures
import functools
import glob
import os
import re
import shlex
import sqlite3
import subprocess
import tempfile
import textwrap

from checks import HANG_S
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, ROOT

SPOOL = "/var/lib/expunged/spool/queue.db"
# What a reader fills in.
FILLED = {
    "ID": "01a1fc8e-9f65-7bd1-bb0b-9b525af3dac8", "T": "2026-11-20T03:00:00Z", "HASH": "a" * 64,
    "IDENTITY": "01a1fc8e-9f65-7bd1-bb0b-9b525af3dac8", "NAME.orders": "app-db.orders",
    "DIRECTORY": "/dev/null/bundle",
}
# What stands before sections of a store.
STORE = """[[store]]
name = "app-db"
kind = "sqlite"
path = "/srv/app/app.db"
"""
# What a store with another id is keyed by.
KEYED = STORE + """[[store.table]]
table = "accounts"
column = "user_id"
action = "delete"
[[store.key]]
name = "stripe-customer"
table = "accounts"
column = "user_id"
value = "stripe_customer"
"""
# A replay waits for a daemon that restarts; no command is called wrong for taking longer.
WAITS_S = 5


@scenario(gate={})
def guides(checks, _):
    pages = sorted([os.path.join(ROOT, "README.md"), *(
        page for folder in ("guides", "providers", "stores") for page in glob.glob(os.path.join(ROOT, "docs", folder, "*.md")))])
    with tempfile.TemporaryDirectory() as place:
        for page in pages:
            name = os.path.relpath(page, ROOT)
            with open(page) as file:
                text = file.read()
            configurations(checks, name, text, place)
            commands(checks, name, text)
        for page in sorted(glob.glob(os.path.join(ROOT, "docs/integrations/*.md"))):
            with open(page) as file:
                commands(checks, os.path.relpath(page, ROOT), file.read())
        spool(checks, place)
    sandbox(checks)


def blocks(text, language):
    return [textwrap.dedent(block) for block in re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.M | re.S)]


def configurations(checks, name, text, place):
    """Sections pass the program's own check; what is a part of one names keys of the manual."""
    with open(os.path.join(ROOT, "docs/man/expunged.conf.5")) as file:
        manual = file.read()
    for index, block in enumerate(blocks(text, "toml")):
        if re.search(r"^\[", block, re.M):
            path = os.path.join(place, "expunged.toml")
            with open(path, "w") as file:
                file.write(before(block) + block)
            done = subprocess.run([os.path.join(BINARIES, "expunged"), "--check-config", "--config", path],
                                  capture_output=True, text=True, timeout=HANG_S)
            checks.check(f"{name}: configuration {index + 1} is accepted", done.returncode == 0,
                         done.stdout + done.stderr)
        else:
            keys = re.findall(r"^(?:# )?([a-z_]+) = ", block, re.M)
            unknown = [key for key in keys if f".{key}" not in manual]
            checks.equal(f"{name}: keys of configuration {index + 1} exist", unknown, [])


def before(block):
    if block.startswith("[[store."):
        return STORE
    return KEYED if 'keyed_by = "app-db.' in block and 'name = "app-db"' not in block else ""


def commands(checks, name, text):
    """Without a daemon every command ends because there is none, not because it is written wrongly."""
    printed = re.findall(r"`(expungectl [^`]+)`", re.sub(r"\s*\n\s*", " ", re.sub(r"```.*?```", "", text, flags=re.S)))
    for block in blocks(text, "console"):
        lines = [line[2:].removeprefix("sudo ") for line in block.splitlines()]
        printed += [re.split(r"  #| [<>]", line)[0] for line in lines if line.startswith("expungectl ")]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        wrong = [error for error in pool.map(refusal, sorted(set(printed))) if error]
    if printed:
        checks.equal(f"{name}: {len(set(printed))} commands are written rightly", wrong, [])


@functools.cache
def refusal(command):
    words = [FILLED.get(word, word) for word in shlex.split(command)][1:]
    # A name without arguments stands for the command, and a shortened key for one of its kind.
    words += ["--help"] if "…" in command or len(words) < 3 and command.islower() else []
    try:
        done = subprocess.run([os.path.join(BINARIES, "expungectl"), *words], text=True, timeout=WAITS_S,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "EXPUNGED_SOCKET": "/nonexistent/control.sock"})
    except subprocess.TimeoutExpired:
        return None
    is_refused = done.returncode in (2, 64) or "Usage:" in done.stderr
    return f"{command}: {done.stderr.splitlines()[0]}" if is_refused else None


def spool(checks, place):
    """The examples of the spool, on a spool that the program makes."""
    subprocess.run([os.path.join(BINARIES, "expunged"), "--init-spool", "--state-directory", place],
                   check=True, capture_output=True, timeout=HANG_S)
    path = os.path.join(place, "spool/queue.db")
    with open(os.path.join(ROOT, "docs/guides/spool.md")) as file:
        text = file.read()
    for block in blocks(text, "console"):
        subprocess.run(["sh", "-ec", block[2:].replace(SPOOL, path)], check=True, capture_output=True, timeout=HANG_S)
    for block in blocks(text, "python"):
        exec(block.replace(SPOOL, path), {"code": "canary-code-5f00d"})
    database = sqlite3.connect(path)
    for block in blocks(text, "sql"):
        found = [database.execute(block, (row,)).fetchone()[0] for row in (1, 2)]
        checks.equal("docs/guides/spool.md: both requests are submitted", found, ["submitted"] * 2)
    database.close()


def sandbox(checks):
    """The commands of its guide in their order, at a sandbox that was begun as the guide says."""
    server = Sandbox(BINARIES)
    try:
        with open(os.path.join(ROOT, "docs/guides/sandbox.md")) as file:
            printed = [line[2:] for block in blocks(file.read(), "console") for line in block.splitlines()
                       if line.startswith("$ ")]
        for command in printed[1:]:
            line = command.replace("--directory sandbox", "--directory .")
            done = subprocess.run(["bash", "-c", line], cwd=server.directory, capture_output=True, text=True, timeout=HANG_S,
                                  env={**os.environ, "PATH": BINARIES + ":" + os.environ["PATH"]})
            checks.check(f"docs/guides/sandbox.md: {command[:70]}", done.returncode == 0, done.stderr)
    finally:
        server.close()
