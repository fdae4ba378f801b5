"""A machine with a real systemd: a Debian container of systemd-nspawn, on the host's network."""

import json
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from checks import HANG_S, TimedOut, wait_for

PACKAGES = (
    "systemd,systemd-sysv,dbus,libjemalloc2,libpq5,libmariadb3,libsqlite3-0,libssl3,libsystemd0,libstdc++6,zlib1g,"
    "sqlite3,curl,ca-certificates,procps,make,binutils,sudo"
)
RELEASES = ("bookworm", "trixie")
# The release's own daily work, which would change files at a time of its own.
DAILY = ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer")
SYSTEMD = "/usr/lib/systemd/systemd"


def install_tools():
    """Installs what the test needs on the host, where it is missing."""
    wanted = {
        "mmdebstrap": "mmdebstrap", "systemd-nspawn": "systemd-container", "strace": "strace",
    }
    missing = [package for tool, package in wanted.items() if shutil.which(tool) is None]
    if missing:
        subprocess.run(
            ["apt-get", "install", "-y", "--no-install-recommends", *missing], check=True)


class Machine:
    """One container; a directory of its own, removed at the end."""

    def __init__(self, cache, source, release=RELEASES[0]):
        self.cache = cache
        self.source = source
        self.release = release
        self.root = None
        self.leader = None
        self._nspawn = None
        self._console = None

    # Making and booting

    def image(self):
        """The file of the image; made first when the cache has none."""
        os.makedirs(self.cache, exist_ok=True)
        # The name has what the content depends on: another list of packages is another image.
        tag = f"{self.release}-{abs(hash_text(PACKAGES)) % 10**8:08d}"
        tarball = os.path.join(self.cache, f"{tag}.tar")
        if not os.path.exists(tarball):
            fresh = f"{tarball}.{os.getpid()}.new.tar"
            subprocess.run(
                ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}",
                 self.release, fresh], check=True)
            os.rename(fresh, tarball)
        return tarball

    def make(self):
        """Unpacks the image."""
        tarball = self.image()
        self.root = tempfile.mkdtemp(prefix="machine-", dir=self.cache)
        os.chmod(self.root, 0o755)
        subprocess.run(["tar", "-xf", tarball, "-C", self.root, "--numeric-owner"], check=True)
        # journalctl -f and a restart must not lose entries to the rate limit or to memory.
        # Every real machine has this file; a minimal base system has not.
        with open(os.path.join(self.root, "etc/hosts"), "w") as hosts:
            hosts.write("127.0.0.1 localhost\n")
        for timer in DAILY:
            unit = os.path.join(self.root, "etc/systemd/system", timer)
            os.symlink("/dev/null", unit)
        drop_in = os.path.join(self.root, "etc/systemd/journald.conf.d")
        os.makedirs(drop_in)
        with open(os.path.join(drop_in, "test.conf"), "w") as file:
            file.write("[Journal]\nStorage=volatile\nRateLimitBurst=0\n")

    def boot(self):
        """Boots and waits until systemd has finished starting."""
        # Without a terminal the boot hangs silently.
        main, other = pty.openpty()
        self._nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "-D", self.root, "--boot", "--register=no", "--keep-unit",
             "--resolv-conf=off", f"--bind-ro={self.source}:/src"],
            stdin=other, stdout=other, stderr=other, start_new_session=True)
        os.close(other)
        self._console = bytearray()
        threading.Thread(target=self._read_console, args=(main,), daemon=True).start()
        self.leader = wait_for("systemd in the container", self._find_leader, 30)
        state = wait_for("the end of the boot", self._boot_state, 60, 0.2)
        return state

    def _read_console(self, descriptor):
        try:
            while chunk := os.read(descriptor, 4096):
                self._console += chunk
                del self._console[:-20000]
        except OSError:
            pass  # The other end is gone: the container stopped.
        finally:
            os.close(descriptor)

    @property
    def console(self):
        return bytes(self._console or b"").decode("utf-8", "replace")

    def _find_leader(self):
        if self._nspawn.poll() is not None:
            raise TimedOut(f"systemd-nspawn ended with {self._nspawn.returncode}: {self.console}")
        waiting = [self._nspawn.pid]
        while waiting:
            pid = waiting.pop()
            try:
                if os.readlink(f"/proc/{pid}/exe").endswith(SYSTEMD):
                    return pid
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/children") as file:
                        waiting += [int(child) for child in file.read().split()]
            except OSError:
                continue
        return None

    def _boot_state(self):
        answer = self.run("systemctl", "is-system-running", check=False)
        state = answer.stdout.strip()
        return state if state in ("running", "degraded") else None

    # Inside

    def _enter(self, arguments, user=None):
        words = ["nsenter", "-t", str(self.leader), "-m", "-u", "-i", "-n", "-p", "-C", "--"]
        if user:
            words += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"]
        return words + list(arguments)

    def run(self, *arguments, user=None, check=True, input=None, timeout=HANG_S):
        """Runs a command inside, as root or as `user`, and answers its result with text output."""
        result = subprocess.run(
            self._enter(arguments, user), capture_output=True, text=True, input=input,
            timeout=timeout, cwd="/", env=environment())
        if check and result.returncode != 0:
            raise RuntimeError(
                f"{' '.join(arguments)}: exit {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    def start(self, *arguments, user=None, **options):
        """Starts a command inside and does not wait; the caller waits for it or ends it."""
        return subprocess.Popen(
            self._enter(arguments, user), text=True, cwd="/", env=environment(), **options)

    def systemctl(self, *arguments, **options):
        return self.run("systemctl", *arguments, **options)

    def show(self, unit, name):
        """One property of a unit."""
        return self.systemctl("show", "--value", "-p", name, unit).stdout.strip()

    def failed_units(self):
        return self.systemctl("--failed", "--no-legend", "--plain").stdout

    def host_pid(self, pid):
        """The number that a process of the container has on the host."""
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/status") as file:
                    numbers = next(line.split()[1:] for line in file if line.startswith("NSpid:"))
                same = os.readlink(f"/proc/{entry}/ns/pid") == os.readlink(
                    f"/proc/{self.leader}/ns/pid")
            except (OSError, StopIteration):
                continue
            if same and numbers[-1] == str(pid):
                return int(entry)
        return None

    def journal(self, *matches):
        """The entries that match, oldest first."""
        text = self.run("journalctl", "-o", "json", "--no-pager", *matches, check=False).stdout
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def write(self, path, text, mode=0o644):
        """Writes a file inside, as root."""
        place = self.root + path
        os.makedirs(os.path.dirname(place), exist_ok=True)
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(descriptor, mode)
            file.write(text)

    # Ending

    def stop(self):
        """Ends the container and waits for it, then removes its directory."""
        if self._nspawn is not None and self._nspawn.poll() is None:
            # RTMIN+4 asks systemd to power off; the kernel's way is the last resort.
            if self.leader is not None:
                for number, patience in ((signal.SIGRTMIN + 4, 20), (signal.SIGKILL, 10)):
                    try:
                        os.kill(self.leader, number)
                        self._nspawn.wait(patience)
                        break
                    except (subprocess.TimeoutExpired, ProcessLookupError):
                        continue
            if self._nspawn.poll() is None:
                self._nspawn.kill()
                self._nspawn.wait(10)
        if self.root is not None:
            time.sleep(0.1)
            shutil.rmtree(self.root, ignore_errors=True)


def environment():
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}


def hash_text(text):
    """A number that is the same in every run, unlike hash()."""
    value = 5381
    for character in text:
        value = (value * 33 + ord(character)) & 0xFFFFFFFF
    return value
