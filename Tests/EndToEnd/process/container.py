"""The container recipe without a container engine: its steps in an overlay of this machine, then the service as it
lays out: as its user, as process 1, configured by variables and without anything of systemd.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from scenario import scenario
from stage import BINARIES, ROOT, Stage

RECIPE = os.path.join(ROOT, "Config/container/Containerfile")
QUADLET = os.path.join(ROOT, "Config/container/expunged.container")
CATALOG = os.path.join(ROOT, "systemd/expunged.catalog")
# In every Debian image.
BASE = {"libc6", "libgcc-s1"}


def instructions(text):
    """The recipe's lines, whole: [("RUN", "apt-get …"), …]."""
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


class Image:
    """An overlay of this machine in namespaces of its own, in which the recipe's steps ran."""

    def __init__(self, directory):
        self.tree = os.path.join(directory, "layers/tree")
        self.env, self.volumes, self.user, self.stop = {}, [], "root", "SIGTERM"
        self.health, self.entry, self.packages = [], [], []
        layers = os.path.dirname(self.tree)
        os.makedirs(layers)
        script = (f"mount -t tmpfs tmpfs {layers} && mkdir {layers}/up {layers}/work {self.tree} && mount -t overlay"
                  f" overlay -o lowerdir=/,upperdir={layers}/up,workdir={layers}/work {self.tree} && mount -t proc"
                  f" proc {self.tree}/proc && mount --bind /dev {self.tree}/dev && mount -t tmpfs tmpfs"
                  f" {self.tree}/run && echo ready && exec sleep infinity")
        self.holder = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
                                       stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == "ready\n", "no overlay"

    def host(self, *command, **options):
        """A command of the host that sees the tree."""
        return subprocess.run(["nsenter", "-t", str(self.holder.pid), "-m", *command], capture_output=True, text=True,
                              timeout=HANG_S, **options)

    def inside(self, user, *command, groups="--init-groups", **more):
        """The words that run a command as a container would."""
        environment = {"PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", "container": "podman", **self.env, **more}
        uid, _, gid = user.partition(":")
        caps = [] if user == "root" else ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
        return ["nsenter", "-t", str(self.holder.pid), "-m", "chroot", self.tree, "setpriv", f"--reuid={uid}",
                f"--regid={gid or uid}", groups, *caps, "env", "-i",
                *(f"{name}={value}" for name, value in environment.items()), *command]

    def run(self, user, *command, timeout=HANG_S, **more):
        return subprocess.run(self.inside(user, *command, **more), capture_output=True, text=True, timeout=timeout)

    def build(self, checks):
        # The packages are here already; that they are the right ones is judged by what the programs need.
        self.host("sh", "-c", f"printf '#!/bin/sh\\necho \"$@\" >>/apt.log\\n' >{self.tree}/usr/local/sbin/apt-get;"
                              f" chmod 755 {self.tree}/usr/local/sbin/apt-get; rm -rf {self.tree}/etc/expunged")
        with open(RECIPE) as file:
            steps = instructions(file.read())
        for name, rest in steps:
            self.step(checks, name, rest)
        log = self.host("cat", f"{self.tree}/apt.log").stdout
        installs = [line.split() for line in log.splitlines() if line.startswith("install ")]
        self.packages = [word for line in installs for word in line[1:] if not word.startswith("-")]

    def step(self, checks, name, rest):
        if name == "FROM":
            checks.check("the image begins with Debian slim", re.search(r"debian:\w+-slim$", rest), rest)
        elif name == "RUN":
            done = self.run("root", "sh", "-c", rest)
            checks.check(f"step: {rest[:60]}", done.returncode == 0, done.stderr)
        elif name == "COPY":
            mode, source, target = re.fullmatch(r"--chmod=(\d+) (\S+) (\S+)", rest).groups()
            done = self.host("install", "-m", mode, os.path.join(BINARIES, source), self.tree + target)
            checks.check(f"step: COPY {source}", done.returncode == 0, done.stderr)
        elif name == "ENV":
            self.env.update(word.split("=", 1) for word in shlex.split(rest))
        elif name == "VOLUME":
            self.volumes = json.loads(rest)
        elif name == "USER":
            self.user = rest
        elif name == "STOPSIGNAL":
            self.stop = rest
        elif name == "HEALTHCHECK":
            self.health = json.loads(rest.partition(" CMD ")[2])
        elif name == "ENTRYPOINT":
            self.entry = json.loads(rest)
        else:
            raise ValueError(f"the test knows no instruction {name}")

    def close(self):
        self.holder.kill()
        self.holder.wait()


class Container(Stage):
    """A stage whose daemon runs in the image; its folders are the volumes."""

    def __init__(self, checks, seed):
        # The file says an hour: a deletion ends only if the variable wins.
        super().__init__(checks, seed, grace="1h")
        self.image = Image(self.directory)
        self.image.build(checks)
        self.mount()

    def initialize(self):
        """The daemon makes its spool itself."""

    def mount(self):
        tree = self.image.tree
        secrets = self.path("credentials")
        # As Kubernetes shows secrets: links into a folder that is replaced as a whole.
        os.mkdir(os.path.join(secrets, "..data"))
        for name in ("vault-key", "apple-key.p8"):
            os.rename(os.path.join(secrets, name), os.path.join(secrets, "..data", name))
            os.chmod(os.path.join(secrets, "..data", name), 0o440)
            os.symlink(f"..data/{name}", os.path.join(secrets, name))
        os.mkdir(self.path("log"))
        volumes = dict(zip(self.image.volumes, (self.path("state"), self.path("log"), self.path("runtime"))))
        self.checks.equal("the volumes are state, log and sockets", list(volumes),
                          ["/var/lib/expunged", "/var/log/expunged", "/run/expunged"])
        for inner, outer in volumes.items():
            # An empty volume takes over what the image has there, with owners and modes.
            self.image.host("sh", "-c", f"mkdir -p {tree}{inner}; cp -a {tree}{inner}/. {outer}/; chown"
                                        f" --reference={tree}{inner} {outer}; chmod --reference={tree}{inner} {outer}")
        volumes |= {"/run/secrets": secrets, "/srv/app": self.path("app")}
        for inner, outer in volumes.items():
            done = self.image.host("sh", "-c", f"mkdir -p {tree}{inner} && mount --bind {outer} {tree}{inner}")
            assert done.returncode == 0, done.stderr
        subprocess.run(["chown", "-R", "10001:10001", self.path("app"), secrets], check=True)
        with open(self.path("expunged.toml")) as file:
            text = file.read().replace(self.app, "/srv/app/app.db").replace(
                self.sandbox.path("ca.pem"), "/etc/expunged/ca.pem")
        # Apple throttles a check for a day that is repeated because its answer came too late.
        text = re.sub(r'timeout_(connect|total) = ".*"', r'timeout_\1 = "20s"', text)
        with open(self.path("container.toml"), "w") as file:
            file.write(text)
        os.chmod(self.path("container.toml"), 0o644)
        self.image.host("sh", "-c", f"mkdir -p {tree}/etc/expunged && install -m 0644 {self.path('container.toml')}"
                                    f" {tree}/etc/expunged/expunged.toml && install -m 0644"
                                    f" {self.sandbox.path('ca.pem')} {tree}/etc/expunged/ca.pem")

    def start(self, *wrapper, **environment):
        command = self.image.inside(self.image.user, *self.image.entry,
                                    **{"EXPUNGED_REQUESTS_GRACE_PERIOD": "0s", **environment})
        with open(self.path("daemon.log"), "ab") as output:
            self.daemon = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", *command],
                                           stdout=output, stderr=output, env={"PATH": os.environ["PATH"]})

    @property
    def pid(self):
        """Of the service, seen from outside: the child of unshare."""
        with open(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children") as file:
            return int(file.read().split()[0])

    def stop(self):
        """As an engine does it; answers the exit status."""
        if self.daemon is None or self.daemon.poll() is not None:
            return self.daemon and self.daemon.returncode
        os.kill(self.pid, getattr(signal, self.image.stop))
        try:
            return self.daemon.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            return self.daemon.wait()

    def close(self, keep=False):
        super().close(keep)
        self.image.close()


@scenario(bars=True)
def container(checks, seed):
    if os.geteuid() != 0:
        return checks.skip("container: it needs root for an overlay")
    stage = Container(checks, seed)
    try:
        packages(checks, stage)
        refusals(checks, stage)
        a_deletion(checks, stage)
        messages(checks, stage)
        quadlet(checks, stage)
    finally:
        stage.close()


def packages(checks, stage):
    """Each library that the programs load is of a package that the recipe installs."""
    needed = set()
    for name in ("expunged", "expungectl"):
        headers = subprocess.run(["readelf", "-d", os.path.join(BINARIES, name)], capture_output=True, text=True,
                                 check=True).stdout
        needed |= set(re.findall(r"\(NEEDED\).*\[(.+)\]", headers))
    # The release links Swift's own libraries statically.
    needed = {name for name in needed if not re.match(r"lib(swift|_?Foundation|dispatch|Blocks|Testing|XCTest)", name)}
    owners = {}
    for name in needed:
        found = subprocess.run(["dpkg-query", "-S", f"*/{name}"], capture_output=True, text=True).stdout
        owners[name] = {line.split(":")[0] for line in found.splitlines()}
    missing = {name: found for name, found in owners.items() if not found & (BASE | set(stage.image.packages))}
    checks.check(f"the recipe installs what {len(needed)} libraries need", needed and not missing, missing)


def refusals(checks, stage):
    """A wrong variable stops the start, and is named instead of a line."""
    def run(*arguments, **more):
        return stage.image.run(stage.image.user, *stage.image.entry, *arguments, **more)

    done = run("--check-config", EXPUNGED_JOURNAL_LEVL="info")
    checks.check("an unknown variable is refused with the nearest name", done.returncode == 78
                 and "$EXPUNGED_JOURNAL_LEVL" in done.stderr and "'EXPUNGED_JOURNAL_LEVEL'" in done.stderr, done.stderr)
    done = run("--check", EXPUNGED_SERVER_CONNECTIONS_MAX="many")
    checks.check("--check names the variable and the remedy", done.returncode == 1
                 and "error: $EXPUNGED_SERVER_CONNECTIONS_MAX: cannot use server.connections_max" in done.stdout
                 and "hint: correct the value in $EXPUNGED_SERVER_CONNECTIONS_MAX" in done.stdout, done.stdout)
    done = run(EXPUNGED_REQUESTS_DEADLINE="soon")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    checks.check("a start that is refused says so as JSON", done.returncode == 78 and [
        line["EXPUNGED_EVENT"] for line in lines] == ["configuration_refused"]
        and "$EXPUNGED_REQUESTS_DEADLINE" in lines[0]["MESSAGE"], done.stderr)
    for group, remedy in (("no-such-group", "create it"), ("0", "GroupAdd=")):
        done = stage.image.run(stage.image.user, "timeout", "--preserve-status", "30", *stage.image.entry,
                               EXPUNGED_SERVER_SUBMIT_GROUP=group)
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        checks.check(f"with the group '{group}' it serves, and says who is locked out and what to do", done.returncode == 0
                     and any(line["EXPUNGED_EVENT"] == "started" for line in lines)
                     and any("submit.sock" in line["MESSAGE"] and remedy in line["MESSAGE"] for line in lines), done.stderr)


def a_deletion(checks, stage):
    stage.starts()
    status = {name: os.stat(stage.path(f"runtime/{name}.sock")) for name in ("control", "submit", "viewer")}
    checks.equal("the sockets have owner, group and mode", {
        name: (found.st_uid, found.st_gid, found.st_mode & 0o777) for name, found in status.items()},
        {"control": (10001, 10003, 0o660), "submit": (10001, 10002, 0o660),
         "viewer": (10001, 10004, 0o660)})
    with open(f"/proc/{stage.pid}/status") as file:
        facts = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    checks.check("the service runs as its user and process 1, without a capability", facts["Uid"].split() == ["10001"] * 4
                 and facts["NSpid"].split()[-1] == "1" and int(facts["CapEff"], 16) == 0, facts)
    healthy = stage.image.run(stage.image.user, *stage.image.health)
    checks.check("the health check holds", healthy.returncode == 0, healthy.stderr)
    connect = ("import socket, sys; s = socket.socket(socket.AF_UNIX)\n"
               "for name in ('submit', 'control'):\n"
               "    try: s.connect(f'/run/expunged/{name}.sock'); print(name)\n"
               "    except PermissionError: pass\n    s = socket.socket(socket.AF_UNIX)\n")
    done = stage.image.run("20000:10002", "/usr/bin/python3", "-c", connect, groups="--clear-groups")
    checks.check("an application of the group reaches its own socket only", done.stdout == "submit\n",
                 done.stdout + done.stderr)
    user, other = stage.new_users(2)
    token = stage.new_tokens(1)[0]
    stage.store(user, token)
    status, answer = stage.delete(user)
    row = stage.spool_delete(other)
    done = comes_true(lambda: stage.http("GET", f"/v1/requests/{answer['id']}")[1]["state"] == "completed")
    checks.check("a deletion comes to its end", status in (200, 201, 202) and done, json.dumps(
        stage.http("GET", f"/v1/requests/{answer['id']}")[1], indent=1))
    checks.check("the spool's, too", comes_true(lambda: stage.spool_rows(
        "SELECT state FROM requests WHERE id = :row", row=row) == [("completed",)]), stage.log()[-2000:])
    checks.check("the rows are gone, and the provider saw the revocation", not stage.rows_left()
                 and token["subject"] in stage.sandbox.revoked_at(), stage.rows_left())
    begun = time.monotonic()
    checks.equal("the stop signal ends it in peace", stage.stop(), 0)
    ill = stage.image.run(stage.image.user, *stage.image.health)
    took_s = time.monotonic() - begun
    checks.check("then the health check fails", ill.returncode != 0, ill.stderr)
    if HOLDS_BARS:
        checks.check("     both in less than 20 s", took_s < 20, took_s)
    stage.starts()
    checks.check("after the next start the request is known", stage.http(
        "GET", f"/v1/requests/{answer['id']}")[1]["state"] == "completed")


def messages(checks, stage):
    """Each line is the JSON of an entry, with the ids of the catalog."""
    with open(CATALOG) as file:
        known = set(re.findall(r"^-- ([0-9a-f]{32})$", file.read(), re.M))
    wrong, events = [], set()
    for line in stage.log().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            wrong.append(line)
            continue
        if not all(isinstance(value, str) for value in entry.values()) or "MESSAGE" not in entry \
                or entry["PRIORITY"] not in "234567" or not entry["__REALTIME_TIMESTAMP"].isdigit():
            wrong.append(line)
        if int(entry["PRIORITY"]) <= 5 and entry.get("MESSAGE_ID") not in known:
            wrong.append(line)
        events.add(entry.get("EXPUNGED_EVENT"))
    checks.check("every line of the log is an entry as JSON", not wrong, "\n".join(wrong[:5]))
    checks.check("with the events of a life", {"started", "request_completed", "stopping"} <= events, events)


def quadlet(checks, stage):
    """The quadlet mounts what the recipe names; Podman's generator reads it where there is one."""
    with open(QUADLET) as file:
        text = file.read()
    mounts = {line.split(":")[1] for line in re.findall(r"^Volume=(.+)$", text, re.M)}
    checks.check("the quadlet has each volume of the recipe", set(stage.image.volumes) <= mounts, mounts)
    names = set(re.findall(r"^#?Environment=(\w+)", text, re.M))
    found = stage.image.run(stage.image.user, *stage.image.entry, "--check-config",
                            **{name: "journal" if name.endswith("FORMAT") else "notice" for name in names})
    checks.check("its variables are settings", names and found.returncode == 0, found.stderr)
    generator = "/usr/libexec/podman/quadlet"
    if not os.path.exists(generator):
        return
    folder = stage.path("quadlets")
    os.makedirs(folder)
    shutil.copy(QUADLET, folder)
    done = subprocess.run([generator, "-dryrun"], capture_output=True, text=True, timeout=HANG_S,
                          env=dict(os.environ, QUADLET_UNIT_DIRS=folder))
    checks.check("Podman makes a unit of it", done.returncode == 0 and "ExecStart=/usr/bin/podman run" in done.stdout,
                 done.stderr)
