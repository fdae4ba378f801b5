"""Users' folders on a disk that fails inside the purge, and with something mounted in the middle of them.

Judged by what is in the folders, never by what the daemon believes.
"""

import collections
import os
import shutil
import subprocess
import time

from checks import comes_true
from preload import preload
from scenario import scenario
from stage import GONE, Stage
from store_servers import Files

USERS = 12
CALLS = {"unlinkat", "statx", "openat2", "getdents64", "readdir"}
# One call in so many fails; a user has some 250 of them.
ONE_IN = 23
# Files that stay; with many more no pass over them would ever be without a fault.
NEWER = 6
KILLS = 4
# A run until the next kill.
INJECTED_MIN = 20
PATIENCE_S = 60


@scenario()
def folders(checks, seed):
    stage = Stage(checks, seed)
    files = Files(stage.path("files-store"))
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(f'\n[[store]]\nname = "files"\n{files.section(stage)}')
    try:
        failing_disk(checks, stage, files)
        mounts(checks, stage, files)
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))


def new_users(stage, files, count, word):
    users = [f"{word}-{number}-{stage.random.getrandbits(80):020x}" for number in range(count)]
    stage.canaries.add(*users)
    neighbours = [name for user in users for name in (user + "x", user[:-1])]
    files.prepare(users + neighbours)
    return users


def held(files, user):
    """What there is of one user, and of nobody whose name is longer."""
    return {path for path in files.items() if user in path.replace(".png", "").split("/")}


def others(files, users):
    return {path: content for path, content in files.items().items()
            if not set(users) & set(path.replace(".png", "").split("/"))}


def show(stage, request):
    return stage.http("GET", f"/v1/requests/{request}")[1]


def step_of(shown):
    return next(step for step in shown["steps"] if step.get("store") == "files" and step["kind"] == "purge")


# A disk that fails


def failing_disk(checks, stage, files):
    users = new_users(stage, files, USERS, "user")
    whole = {user: len(held(files, user)) for user in users}
    before = others(files, users)
    library, report = preload("fault", stage.directory), stage.path("report")
    faults = {"LD_PRELOAD": library, "FAULT_ROOT": files.root, "FAULT_CALLS": "folders", "FAULT_AT": str(ONE_IN),
              "FAULT_ACTION": "eio", "FAULT_REPORT": report}
    stage.start(**faults)
    checks.check("the daemon starts on a disk that fails now and then", stage.comes_up(), stage.log()[-2000:])
    stage.run("expungectl", "stores", "pause", "files")
    requests = {user: stage.delete(user)[1]["id"] for user in users}
    # What the user of a new account writes stays, and must be looked through each time. The times of files are behind the
    # clock by some milliseconds.
    answered = time.time()
    comes_true(lambda: time.time() > answered + 0.1)
    kept = set()
    for user in users:
        folder = os.path.join(files.root, "files", user)
        kept.add(folder)
        for number in range(NEWER):
            kept.add(os.path.join(folder, f"newer-{number}"))
            with open(os.path.join(folder, f"newer-{number}"), "w") as file:
                file.write("made after the request")
    stage.run("expungectl", "stores", "resume", "files")
    watch = Watch(stage, files, requests, (whole, kept))
    for number in range(1, KILLS + 1):
        # Retried by hand, so that no fault has to wait for the one before.
        comes_true(lambda: watch.look(is_hurried=True) or injected(report).total() >= INJECTED_MIN * number
                   and (number < KILLS or set(injected(report)) == CALLS), pause=0.01)
        stage.kill()
        stage.start(**faults)
        stage.comes_up()
    stage.kill()
    found = injected(report)
    checks.check(f"{found.total()} calls inside the root failed, of each kind: "
                 + ", ".join(f"{call} {count}" for call, count in sorted(found.items())), set(found) == CALLS, found)
    left = sum(len(held(files, user) - kept) for user in users)
    checks.check(f"users were half erased in between ({watch.halves} times seen), {left} entries wait", watch.halves)
    stage.starts()
    ended = comes_true(lambda: watch.look(is_hurried=True), PATIENCE_S, 0.1)
    checks.check("once the disk is well every deletion comes to its end", ended,
                 [step_of(show(stage, request)) for request in requests.values()])
    checks.check(f"meanwhile the requests said: {', '.join(sorted(watch.errors))}",
                 "unusable_answer" in watch.errors and "misconfigured" not in watch.errors)
    checks.check("none was completed with something left", not watch.early, watch.early[:10])
    left = set().union(*(held(files, user) for user in users))
    checks.check("of theirs only what is newer than the request is left", left == kept, sorted(left ^ kept)[:10])
    checks.check("what everybody else has is as it was", others(files, users) == before)
    stage.stop()


class Watch:
    """Looks at the requests again and again, and at the folders of those that say they are completed."""

    def __init__(self, stage, files, requests, expected):
        self.stage, self.files, self.requests, (self.whole, self.kept) = stage, files, requests, expected
        self.errors, self.early, self.halves = set(), [], 0

    def look(self, is_hurried=False):
        """Whether all are completed."""
        try:
            shown = {user: show(self.stage, request) for user, request in self.requests.items()}
        except GONE:
            return False
        for user, request in shown.items():
            count = len(held(self.files, user) - self.kept)
            self.halves += 0 < count < self.whole[user]
            self.errors |= {step["last_error"] for step in request["steps"] if step.get("last_error")}
            if request["state"] == "completed" and count:
                self.early.append((user, count))
            elif is_hurried and request["state"] != "completed":
                try:
                    self.stage.http("POST", f"/v1/requests/{request['id']}/retry")
                except GONE:
                    return False
        return all(request["state"] == "completed" for request in shown.values())


def injected(report):
    if not os.path.exists(report):
        return collections.Counter()
    with open(report) as file:
        return collections.Counter(line.split(" ")[0] for line in file)


# Mounts


def mounts(checks, stage, files):
    """The daemon gets a mount namespace of its own, so that only it sees what is mounted, and nothing stays."""
    for wrapper in (["unshare", "-m"], ["unshare", "-r", "-m"]):
        if subprocess.run([*wrapper, "mount", "-t", "tmpfs", "none", files.root], capture_output=True).returncode == 0:
            break
    else:
        checks.check("this machine lets a test mount something in a namespace of its own (unshare -m as root, or"
                     " with user namespaces)", False)
        return
    users = new_users(stage, files, 5, "mount")
    folder, file, memory, free, way = users
    before = others(files, users)
    victims = stage.path("victims")
    os.makedirs(victims)
    for number in range(20):
        with open(os.path.join(victims, str(number)), "w") as made:
            made.write(f"of somebody else {number}")
    stage.start(*wrapper)
    checks.check("the daemon starts in a mount namespace", stage.comes_up(), stage.log()[-2000:])
    inside = Namespace(stage, is_mapped="-r" in wrapper)
    at = {user: os.path.join(files.root, "files", user) for user in users}
    places = [f"{at[folder]}/0", f"{at[file]}/4/x", f"{at[memory]}/a/b/2"]
    stage.run("expungectl", "stores", "pause", "files")
    requests = {user: stage.delete(user)[1]["id"] for user in users[:4]}
    # Newer than the request: that is no reason to leave what it hides, which is older.
    with open(os.path.join(victims, "newer"), "w") as made:
        made.write("made after the request")
    kept = contents(victims)
    inside.run("mount", "--bind", victims, places[0])
    inside.run("mount", "--bind", os.path.join(victims, "newer"), places[1])
    inside.run("mount", "-t", "tmpfs", "none", places[2])
    inside.run("touch", f"{places[2]}/on-tmpfs")
    stage.run("expungectl", "stores", "resume", "files")
    watch = Watch(stage, files, requests, ({user: len(held(files, user)) for user in users}, set()))
    checks.check("a user without a mount is erased beside them", comes_true(
        lambda: watch.look() or show(stage, requests[free])["state"] == "completed", PATIENCE_S, 0.1))
    kept_back = [requests[user] for user in (folder, file, memory)]
    tried = comes_true(lambda: all(step_of(show(stage, request))["attempts"] >= 3 for request in kept_back),
                       PATIENCE_S, 0.1)
    states = [(show(stage, request)["state"], step_of(show(stage, request)).get("last_error"))
              for request in kept_back]
    checks.check("a folder, a file and a tmpfs mounted in a user's folder: tried again and again, not completed",
                 tried and states == [("purging", "unusable_answer")] * 3, states)
    checks.check("what each hides, and where, is still there", all(
        os.path.exists(place) for place in places) and all(held(files, user) for user in (folder, file, memory)))
    checks.check("nothing on the mounted side went", contents(victims) == kept
                 and os.path.exists(f"/proc/{inside.pid}/root{places[2]}/on-tmpfs"))
    said = stage.run("expungectl", "stores", "check", "files")
    checks.check("'expungectl stores check' says what is in the way",
                 "something is mounted at 3 places below" in said.stdout, said.stdout + said.stderr)
    for place in places:
        inside.run("umount", place)
    checks.check("after umount they finish by themselves", comes_true(watch.look, 2 * PATIENCE_S, 0.2),
                 [step_of(show(stage, request)) for request in kept_back])
    checks.equal("with nothing left", sum(len(held(files, user)) for user in users[:4]), 0)
    checks.check("and the mounted side as it was", contents(victims) == kept)
    on_the_way(checks, stage, files, (inside, way, before))
    stage.stop()


def on_the_way(checks, stage, files, scene):
    """A disk mounted over all users' folders is everybody's failure."""
    inside, user, before = scene
    place = os.path.join(files.root, "files")
    inside.run("mount", "-t", "tmpfs", "none", place)
    request = stage.delete(user)[1]["id"]
    checks.check("a mount over the folder of all users pauses the store", comes_true(
        lambda: show(stage, request).get("detail") == "store_paused", PATIENCE_S, 0.1), show(stage, request))
    inside.run("umount", place)
    stage.run("expungectl", "stores", "resume", "files")
    checks.check("it goes on when that is gone and somebody says so", comes_true(
        lambda: show(stage, request)["state"] == "completed", PATIENCE_S, 0.1) and not held(files, user))
    checks.check("what everybody else has is as it was, after all mounts", others(files, [user]) == before)


class Namespace:
    """Runs programs where the daemon sees its mounts."""

    def __init__(self, stage, is_mapped):
        self.pid, self.options = stage.daemon.pid, ["-U", "--preserve-credentials"] if is_mapped else []

    def run(self, *command):
        subprocess.run(["nsenter", "-t", str(self.pid), "-m", "-r", *self.options, shutil.which(command[0]), *command[1:]],
                       check=True, capture_output=True)


def contents(folder):
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as file:
            found[name] = file.read()
    return found
