"""What systemd says about our files without running them."""

import os
import re
import shutil
import subprocess
import tempfile

UNITS = ("expunged.service", "expunged-control.socket", "expunged-submit.socket", "expunged-viewer.socket",
         "expunged-replay.service", "expunged-replayed.target", "expunged-metrics.service",
         "expunged-metrics.timer", "expunged-backup.service", "expunged-backup.timer", "expunged-sandbox.service")
EXPOSURE_MAX = 1.2
# A path in the source tree, or a command that only works there.
OF_SOURCE = re.compile(r"(?<![\w/.-])(?:Benchmarks|Config|Sources|Tests|completions|debian|scripts|systemd)/[\w./-]*\w"
                       r"|^[$#] (?:sudo )?make \S+", re.M)


def exposure(text):
    """The score in the last line of systemd-analyze security."""
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", text)
    return float(found.group(1)) if found else None


def check_sandbox(checks, path):
    """How exposed a service is, and what keeps it out of the swap and within its bounds."""
    name = os.path.basename(path)
    security = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", path], capture_output=True, text=True)
    score = exposure(security.stdout)
    checks.check(
        f"exposure of {name} is {score}, at most {EXPOSURE_MAX}",
        score is not None and score <= EXPOSURE_MAX, security.stdout)
    with open(path) as file:
        lines = file.read().splitlines()
    for setting in ("MemorySwapMax=0", "MemoryMax=", "TasksMax="):
        checks.check(f"     {name} sets {setting}", any(line.startswith(setting) for line in lines), lines)


def check_deb(checks, source):
    """What scripts/deb says in a clone without a Package.resolved: of nothing fetched, and of an unnamed source."""
    with tempfile.TemporaryDirectory() as clone:
        for name in ("scripts/deb", "debian/copyright"):
            os.makedirs(os.path.join(clone, os.path.dirname(name)))
            shutil.copy(os.path.join(source, name), os.path.join(clone, name))
        os.mkdir(f"{clone}/.build")
        for fetched, said in (((), ".build/checkouts is not there: run 'swift package resolve' first"),
                              (("GRDB.swift", "swift-unnamed"), "debian/copyright does not name: swift-unnamed")):
            for package in fetched:
                os.makedirs(f"{clone}/.build/checkouts/{package}")
            done = subprocess.run([f"{clone}/scripts/deb"], capture_output=True, text=True,
                                  env={**os.environ, "RELEASE_DIR": clone})
            checks.equal(f"scripts/deb stops where {len(fetched)} sources are fetched", (done.returncode, done.stderr),
                         (1, f"deb: {said}\n"))


def check_documents(checks, source):
    """Each link, page and path in an installed text, and each page in a program's text, leads to an installed file."""
    with tempfile.TemporaryDirectory() as root:
        for name in ("expunged", "expungectl", "expunged-sandbox"):
            with open(f"{root}/{name}", "w") as file:
                os.chmod(file.fileno(), 0o755)
        done = subprocess.run(
            ["make", "-s", "-C", source, "install-service", "install-sandbox", f"DESTDIR={root}/to", f"RELEASE_DIR={root}",
             "INSTALL_PROGRAM=install -m 0755"], capture_output=True, text=True)
        checks.equal("make installs the files", (done.returncode, done.stderr), (0, ""))
        documents, lost, count = f"{root}/to/usr/share/doc/expunged", [], 0
        texts = [*os.walk(f"{root}/to/usr"), *os.walk(os.path.join(source, "Sources"))]
        for folder, _, names in texts:
            for path in (os.path.join(folder, name) for name in names):
                if not path.startswith(root) and not path.endswith(".swift"):
                    continue
                with open(path, errors="replace") as file:
                    text = file.read()
                if path.endswith(".swift"):
                    # Comments are for who has the source tree.
                    text = re.sub(r"^ *//.*$", "", text, flags=re.M)
                links = re.findall(r"\]\(([^):#\s]+)(?:#[^)\s]*)?\)", text) if path.endswith(".md") else []
                places = [os.path.join(folder, link) for link in links]
                pages = re.findall(r"(?<![\w/.-])docs/[\w/\\-]+\.md", text)
                places += [os.path.join(documents, page.replace("\\", "")) for page in pages]
                if path.startswith(root):
                    # Its own files, by their whole paths; those of the source tree only on a page that says so.
                    whole = re.findall(r"(?<![\w/.-])/usr/(?!local/)[\w/.\\-]*?\bexpung[\w/.\\-]*\w", text)
                    places += [f"{root}/to" + place.replace("\\", "") for place in whole]
                    if not re.search(r"\bsource\s+tree\b", text):
                        places += OF_SOURCE.findall(text)
                lost += [(path, place) for place in places if not os.path.exists(place)]
                count += len(places)
        checks.check(f"{count} links and paths lead to installed files", count > 400 and not lost, lost)


def check_purge(checks, source):
    """What a purge of the package keeps: all, once there is a key, a state or a proof of a service that ran."""
    with open(os.path.join(source, "debian/expunged.postrm")) as file:
        script = file.read()
    state, logs = "lib/expunged", "log/expunged"
    cases = {
        "a service that never ran": (f"{state}/spool/queue.db",),
        "a state in a file": (f"{state}/state.db",),
        # A state in a server has only keys and checkpoints here.
        "the key of hashes": (f"{state}/spool/queue.db", f"{state}/hash.key"),
        "the key of the ledger": (f"{state}/ledger.key",),
        "a state that was moved": (f"{state}/state.db.moved",),
        "a state that a restore replaced": (f"{state}/replaced-1/state.db",),
        "checkpoints": (f"{logs}/checkpoints",),
        "the count of commits": (f"{logs}/commits",),
        "a state behind a link": (f"{state}/state.db",),
        "a link to a disk that is not mounted": (state,),
        "checkpoints behind a link": (f"{logs}/checkpoints",),
        "a link for checkpoints to a disk that is not mounted": (logs,),
    }
    for number, (name, paths) in enumerate(cases.items()):
        with tempfile.TemporaryDirectory() as root:
            linked = (logs if "checkpoints" in name else state) if "link" in name else None
            os.makedirs(f"{root}/var/lib")
            os.makedirs(f"{root}/var/log")
            if linked:
                os.symlink(f"{root}/large", f"{root}/var/{linked}")
            for path in paths:
                if path != linked:
                    place = os.path.realpath(f"{root}/var/{path}")
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                    open(place, "w").close()
            here = re.sub(r"(?<![\w.-])/(?=(?:etc|run|var)/)", f"{root}/", script)
            done = subprocess.run(["sh", "-c", here, "postrm", "purge"], capture_output=True, text=True)
            left = [path for path in paths if os.path.lexists(f"{root}/var/{path}")]
            checks.equal(f"a purge with {name}", (done.returncode, done.stderr, left, "rm -r " in done.stdout),
                         (0, "", list(paths) if number else [], number > 0))
            if linked:
                checks.check("     names where the link leads",
                             f"rm -r {os.path.realpath(root)}/large\n" in done.stdout, done.stdout)


def check_files(checks, source):
    """Units, users, directories and catalog, each read by the program that will read it."""
    check_deb(checks, source)
    check_documents(checks, source)
    check_purge(checks, source)
    units = os.path.join(source, "systemd")
    verify = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *[os.path.join(units, unit) for unit in UNITS]],
        capture_output=True, text=True)
    # The program is installed only in the container, where the same is asked again.
    complaints = [
        line for line in verify.stderr.splitlines() if "is not executable: No such file" not in line
    ]
    checks.equal("systemd-analyze verify has no complaint", complaints, [])

    for unit in UNITS:
        if unit.endswith(".service"):
            check_sandbox(checks, os.path.join(units, unit))

    with tempfile.TemporaryDirectory() as root:
        os.makedirs(f"{root}/etc")
        users = subprocess.run(
            ["systemd-sysusers", f"--root={root}", os.path.join(units, "expunged.sysusers")],
            capture_output=True, text=True)
        checks.check("systemd-sysusers reads the users", users.returncode == 0, users.stderr)
        with open(f"{root}/etc/group") as file:
            members = [line for line in file if line.startswith("expunged-submit:")]
        checks.check(
            "the service is a member of expunged-submit", members[0].strip().endswith(":expunged"),
            members)
        directories = subprocess.run(
            ["systemd-tmpfiles", f"--root={root}", "--create",
             os.path.join(units, "expunged.tmpfiles")], capture_output=True, text=True)
        mode = os.stat(f"{root}/var/lib/expunged/spool").st_mode & 0o7777
        checks.check(
            f"systemd-tmpfiles makes the spool's directory {mode:o}",
            directories.returncode == 0 and mode == 0o2770, directories.stderr)

    with tempfile.TemporaryDirectory() as root:
        place = os.path.join(root, "usr/lib/systemd/catalog")
        os.makedirs(place)
        with open(os.path.join(units, "expunged.catalog")) as file:
            text = file.read()
        with open(os.path.join(place, "expunged.catalog"), "w") as file:
            file.write(text)
        os.makedirs(os.path.join(root, "var/lib/systemd/catalog"))
        made = subprocess.run(
            ["journalctl", f"--root={root}", "--update-catalog"], capture_output=True, text=True)
        checks.check(
            "journalctl compiles the catalog", made.returncode == 0 and made.stderr.strip() == "",
            made.stderr)
