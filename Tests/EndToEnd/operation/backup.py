"""Backups of a running service, and what a restore makes of them: judged by the copies themselves."""

import base64
import hashlib
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time

from checks import HOLDS_BARS, comes_true
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, GONE, HANG_S, ROOT, Stage

UNIT = os.path.join(ROOT, "systemd/expunged-backup.service")
SCRIPT = os.path.join(ROOT, "systemd/expunged-backup")
VERIFIER = os.path.join(ROOT, "docs/verify-ledger.py")
MEMBERS = ["manifest.json", "state.db", "hash.key", "ledger.key"]
BACKUPS, KILLS, WRITERS = 12, 25, 4
# The longest time that a commit may wait for a reader's snapshot, and what a slow machine adds.
WAIT_MAX_S = 2.5
HIDDEN = ".expunged-copy-"


@scenario(bars=True)
def backup(checks, seed):
    # A check whose answer was late would wait for a day otherwise.
    stage = Stage(checks, seed, Sandbox(BINARIES, "--refresh-limit", "off"))
    stage.owns_sandbox = True
    stage.starts()
    os.makedirs(stage.path("backups"))
    with Load(stage) as load:
        comes_true(lambda: len(load.acknowledged) > 50)
        copies = [one_backup(checks, stage, load, number) for number in range(BACKUPS)]
        killed(checks, stage)
        taken(checks, stage, copies[-1])
        scheduled(checks, stage)
    if HOLDS_BARS:
        checks.check("no commit waits long for a backup", load.slowest < WAIT_MAX_S, f"{load.slowest:.2f} s")
    print(f"     {len(load.acknowledged)} requests, the slowest took {load.slowest * 1000:.0f} ms")
    key = stage.http("GET", "/v1/ledger")[1]["key"]
    for number, (path, before) in enumerate(copies):
        sound(checks, stage, number, path, before, key)
    refused(checks, stage, copies[0][0])
    restored(checks, stage, *copies[-1])
    # The newest requests are in no backup: their spool or client submits them again.
    stage.unjudged = "the state is older than the requests"
    stage.close(keep=bool(checks.failed))


class Load:
    """Applications that submit deletions at full speed, and note which were acknowledged."""

    def __init__(self, stage):
        self.stage, self.acknowledged, self.slowest = stage, [], 0
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.submit, args=(number,)) for number in range(WRITERS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        for thread in self.threads:
            thread.join()

    def submit(self, number):
        count = 0
        while not self.ends.is_set():
            count += 1
            start = time.monotonic()
            try:
                status, body = self.stage.delete(f"load-{number}-{count}")
            except GONE:
                continue
            self.slowest = max(self.slowest, time.monotonic() - start)
            if status in (200, 201, 202):
                self.acknowledged.append(body["id"])


def expunged(stage, *arguments, before=None):
    return stage.run("expunged", *arguments, "--config", stage.path("expunged.toml"), "--state-directory",
                     stage.path("state"), "--credentials-directory", stage.path("credentials"), before=before)


def one_backup(checks, stage, load, number):
    before, path = list(load.acknowledged), stage.path(f"backups/{number}.tar")
    done = expunged(stage, "backup", path)
    checks.check(f"backup {number} beside {len(before)} requests", done.returncode == 0, done.stderr)
    return path, before


def killed(checks, stage):
    """Whenever it dies, there is no file or a whole one, and the next one clears up."""
    halves = 0
    for number in range(KILLS):
        path = stage.path(f"backups/killed-{number}.tar")
        process = subprocess.Popen(
            [os.path.join(BINARIES, "expunged"), "backup", path, "--state-directory", stage.path("state")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(stage.random.random() * 0.15)
        process.send_signal(signal.SIGKILL)
        process.wait()
        halves += os.path.exists(path) and not is_whole(path)
    checks.equal(f"{KILLS} killed backups leave no half file", halves, 0)
    done = expunged(stage, "backup", stage.path("backups/after.tar"))
    left = [name for name in os.listdir(stage.path("backups")) if name.startswith(HIDDEN)]
    checks.check("the next backup removes what they left", done.returncode == 0 and not left, (done.stderr, left))


def members(path):
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers()}


def is_whole(path):
    try:
        files = members(path)
        manifest = json.loads(files["manifest.json"])
        return list(files) == MEMBERS and all(
            hashlib.sha256(files[file["name"]]).hexdigest() == file["sha256"]
            and len(files[file["name"]]) == file["bytes"] for file in manifest["files"])
    except (tarfile.TarError, KeyError, ValueError):
        return False


def taken(checks, stage, copy):
    path = copy[0]
    with open(path, "rb") as file:
        content = file.read()
    done = expunged(stage, "backup", path)
    with open(path, "rb") as file:
        checks.check("a backup overwrites nothing and says so", done.returncode == 74
                     and "overwrites nothing" in done.stderr and file.read() == content, done.stderr)


def scheduled(checks, stage):
    """The script of the timer's unit: one more backup, and the oldest beyond KEEP go."""
    with open(UNIT) as file:
        commands = re.findall(r"^Exec\w+=(.*)$", file.read(), re.M)
    checks.equal("the timer's unit runs the script", commands,
                 ["/usr/lib/expunged/backup /usr/sbin/expunged /var/lib/expunged"])
    place = stage.path("scheduled")
    os.makedirs(place)

    def night(keep):
        done = subprocess.run(
            [SCRIPT, f"{BINARIES}/expunged", stage.path("state")], capture_output=True, text=True,
            env={**os.environ, "STATE_DIRECTORY": place, "KEEP": keep})
        return done.returncode, done.stderr

    def arrange(*numbers):
        for name in os.listdir(place):
            os.remove(os.path.join(place, name))
        # As if the clock had been far ahead.
        made = [f"expunged-{number:06}-2999-01-01T000000Z.tar" for number in numbers]
        for name in made + ["expunged-of-mine.tar"]:
            open(os.path.join(place, name), "w").close()
        return made

    def backups():
        return sorted(set(os.listdir(place)) - {"expunged-of-mine.tar"})

    old = arrange(7, 8)
    for keep in ("", "0", "00", "-1", "2w", "14 ", "10000"):
        status, text = night(keep)
        checks.check(f"KEEP={keep} is refused",
                     status == 78 and f"KEEP={keep} is no number" in text, text)
    checks.equal("     and nothing was made or removed", backups(), old)
    for keep, first, left in ((2, 9, old[1:]), (1, 10, []), (3, 11, None)):
        before = backups()
        checks.equal(f"the script backs up with KEEP={keep}", night(str(keep)), (0, ""))
        now = backups()
        checks.check("     the new backup and the newest old ones are left, whatever their times say",
                     now[:-1] == (before if left is None else left)
                     and now[-1].startswith(f"expunged-{first:06}-2")
                     and is_whole(os.path.join(place, now[-1])), now)
    checks.check("     and what has another name", "expunged-of-mine.tar" in os.listdir(place))
    arrange()
    checks.equal("the script makes the first backup", night("1"), (0, ""))
    checks.equal("     with the number 1", [name[:16] for name in backups()], ["expunged-000001-"])
    arrange(3)
    os.symlink("/not/mounted", os.path.join(place, "expunged-000007-2999-01-01T000000Z.tar"))
    checks.equal("a link to a disk that is away is an older backup", night("1"), (0, ""))
    checks.equal("     and the new one is left", [name[:16] for name in backups()],
                 ["expunged-000008-"])
    old = arrange(999999)
    status, text = night("1")
    checks.check("behind the last number nothing is made or removed",
                 status == 78 and "999999" in text and backups() == old, text)


def sound(checks, stage, number, path, before, key):
    """The archive by Python's tar, the database by its SQLite, the ledger by the independent verifier."""
    if not checks.check(f"copy {number}: the archive agrees with its manifest", is_whole(path)):
        return
    files = members(path)
    manifest, state = json.loads(files["manifest.json"]), stage.path(f"copy-{number}.db")
    checks.equal("     mode", oct(os.stat(path).st_mode & 0o777), "0o600")
    with open(stage.path("credentials/vault-key"), "rb") as file:
        vault_key = file.read().strip()
    with open(path, "rb") as file:
        everything = file.read()
    checks.check("     it has no vault key, and says so", manifest["contains_vault_key"] is False
                 and vault_key not in everything and base64.b64decode(vault_key) not in everything)
    with open(state, "wb") as file:
        file.write(files["state.db"])
    database = sqlite3.connect(state)
    checks.equal("     its pages are sound", database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
    kept = {row[0].hex() for row in database.execute("SELECT id FROM requests")}
    lost = [id for id in before if id.replace("-", "") not in kept]
    checks.equal(f"     it has each of {len(before)} requests acknowledged before", lost, [])
    entries = b"".join(row[0] + b"\n" for row in database.execute("SELECT leaves FROM ledger ORDER BY first"))
    checks.equal("     the manifest counts its entries", entries.count(b"\n"), manifest["ledger_entries"])
    # The checkpoints of the copy itself, since the service signs later ones.
    notes = "".join(row[0] + "\n" for row in database.execute("SELECT note FROM ledger_checkpoints ORDER BY id"))
    database.close()
    for name, text in (("entries", entries), ("notes", notes.encode())):
        with open(stage.path(name), "wb") as file:
            file.write(text)
    done = subprocess.run([sys.executable, "-B", VERIFIER, key, "--earlier", stage.path("entries"),
                           stage.path("notes")], capture_output=True, text=True)
    checks.equal("     docs/verify-ledger.py finds its ledger sound", (done.returncode, done.stderr), (0, ""))
    os.remove(state)


def refused(checks, stage, path):
    done = expunged(stage, "restore", path)
    checks.check("a running service keeps a restore out", done.returncode == 74
                 and "the service uses it" in done.stderr and "systemctl stop" in done.stderr, done.stderr)
    stage.stop()
    before = digests(stage)
    files = members(path)
    rewritten(files, stage.path("backups/other-key.tar"), {"hash.key": stage.random.randbytes(32)})
    with open(path, "rb") as file:
        whole = bytearray(file.read())
    middle = bytearray(whole)
    middle[len(whole) // 2] ^= 1
    cases = [
        ("a flipped bit", bytes(middle), 74, "damaged or cut off"),
        ("a cut file", bytes(whole[:len(whole) // 2]), 74, "damaged or cut off"),
        ("another file", b"not a backup\n" * 100, 74, "did not write it"),
        ("an empty file", b"", 74, "did not write it"),
    ]
    for what, content, status, text in cases:
        with open(stage.path("backups/bad.tar"), "wb") as file:
            file.write(content)
        done = expunged(stage, "restore", stage.path("backups/bad.tar"))
        checks.check(f"{what} is refused", done.returncode == status and text in done.stderr, done.stderr)
    done = expunged(stage, "restore", stage.path("backups/other-key.tar"))
    checks.check("a wrong hash.key is refused", done.returncode == 74 and "hash.key is not" in done.stderr, done.stderr)
    done = expunged(stage, "restore", stage.path("backups/nowhere.tar"))
    checks.check("a missing file is refused", done.returncode == 74 and "no such file" in done.stderr, done.stderr)
    checks.equal("     and nothing was changed", digests(stage), before)
    if os.geteuid() != 0:
        return checks.skip("only root can be another user without rights")
    for verb in ("backup", "restore"):
        done = expunged(stage, verb, path + (".new" if verb == "backup" else ""), before=lambda: os.setuid(65534))
        checks.check(f"a {verb} without rights is refused and names the remedy", done.returncode == 74
                     and "permission denied" in done.stderr and "root" in done.stderr, done.stderr)
    return None


def rewritten(files, path, changes):
    """An archive whose manifest agrees with other files."""
    files = dict(files, **changes)
    manifest = json.loads(files["manifest.json"])
    for file in manifest["files"]:
        file["sha256"] = hashlib.sha256(files[file["name"]]).hexdigest()
        file["bytes"] = len(files[file["name"]])
    files["manifest.json"] = json.dumps(manifest).encode()
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def digests(stage):
    found = {}
    for name in ("state.db", "hash.key", "ledger.key", "spool/queue.db"):
        with open(stage.path(f"state/{name}"), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def restored(checks, stage, path, before):
    # A key of the vault seals something only once a token is stored.
    stage.starts()
    user, token = stage.new_users(1)[0], stage.new_tokens(1)[0]
    checks.equal("a token is stored", stage.store(user, token)[0] // 100, 2)
    path = stage.path("backups/last.tar")
    done = expunged(stage, "backup", path)
    checks.check("a backup with a sealed token names its vault key", "needs vault key" in done.stdout, done)
    later = stage.delete(stage.new_users(1)[0])[1]["id"]
    stage.stop()
    key, spool = stage.path("credentials/vault-key"), digests(stage)["spool/queue.db"]
    os.rename(key, key + ".away")
    done = expunged(stage, "restore", path)
    checks.check("a missing vault key is named", done.returncode == 78
                 and re.search("vault key '[0-9a-f]{16}', which is missing", done.stderr), done.stderr)
    os.rename(key + ".away", key)
    done = expunged(stage, "restore", path)
    checks.check("with the key the backup is restored", done.returncode == 0, done.stderr)
    checks.check("     it names the next steps", all(text in done.stdout for text in (
        "UPDATE requests", "systemctl start", "accept-rollback", "cancel and hold again")), done.stdout)
    checks.equal("     the spool stayed", digests(stage)["spool/queue.db"], spool)
    kept = [name for name in os.listdir(stage.path("state")) if name.startswith("replaced-")]
    checks.check("     the former state is kept", len(kept) == 1 and os.path.exists(
        stage.path(f"state/{kept[0]}/state.db")), kept)
    files = [stage.path(f"state/{name}") for name in ("state.db", "hash.key", "ledger.key")]
    checks.equal("     mode and owner", {(os.stat(file).st_mode & 0o777, os.stat(file).st_uid) for file in files},
                 {(0o600, os.stat(stage.path("state")).st_uid)})
    logged = len(stage.log())
    os.rename(files[1], files[1] + ".away")
    stage.start()
    checks.check("     a start without hash.key fails", stage.daemon.wait(HANG_S) != 0)
    os.rename(files[1] + ".away", files[1])
    stage.starts()
    checks.equal("     the older state is noticed", stage.http("GET", "/v1/ledger")[1]["state"], "rolled_back")
    verified = stage.run("expungectl", "ledger", "verify")
    log = stage.log()[logged:]
    wrong = [text for text in ("ended uncleanly", "ledger damaged") if text in log]
    checks.equal("     and nothing is called a crash or damaged", (verified.returncode, wrong),
                 (13, []))
    found = [stage.http("GET", f"/v1/requests/{id}")[0] for id in before]
    checks.equal("     each request of before is there", set(found), {200})
    checks.equal("     a later one is not", stage.http("GET", f"/v1/requests/{later}")[0], 404)
    checks.equal("     an operator accepts", stage.http("POST", "/v1/ledger/accept-rollback")[0], 200)
    checks.check("     and the user of the stored token can be deleted", stage.delete(user)[0] // 100 == 2
                 and comes_true(lambda: user not in stage.rows_left()))
