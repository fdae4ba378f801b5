"""The two contenders: how each is set up, started, given the work, and stopped."""

import base64
import os
import pathlib
import select
import socket
import subprocess
import sys
import threading
import time

import data
from provider import Provider

HERE = pathlib.Path(__file__).parent
TEAM_ID = "ABCDE12345"
KEY_ID = "KEY1234567"
START_S = 60
STOP_S = 30
POLL_S = 0.02

CONFIGURATION = """
[requests]
grace_period = "{grace}"
max_deletions_per_hour = 1000000000

[[provider]]
name = "apple"
kind = "apple"
team_id = "{team}"
key_id = "{key}"
client_ids = ["com.example.app"]
private_key_credential = "apple-key.p8"
base_url = "{url}"
ca_file = "{ca}"
concurrency = {concurrency}

[[store]]
name = "app-db"
kind = "sqlite"
path = "{app}"
{tables}
[journal]
level = "warning"
"""
TABLE = '[[store.table]]\ntable = "{}"\ncolumn = "{}"\naction = "delete"\n'


class Failure(Exception):
    """A contender did not do its work; the text says how."""


def make_signing_key(path: pathlib.Path) -> None:
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-out", str(path)],
        check=True, capture_output=True, timeout=60,
    )
    path.chmod(0o600)


class SpoolWatch:
    """Looks at the states in a spool; reads only after a commit of somebody else."""

    def __init__(self, path: pathlib.Path) -> None:
        self._database = data.open_spool(path)
        self._version = -1

    def wait(self, table: str, ends: tuple[str, ...], timeout_s: float, alive) -> float:
        """Until every row has one of the states `ends`; returns the time of `monotonic()`."""
        marks = ", ".join("?" * len(ends))
        query = f"SELECT 1 FROM {table} WHERE state NOT IN ({marks}) LIMIT 1"
        deadline = time.monotonic() + timeout_s
        while True:
            version = self._database.execute("PRAGMA data_version").fetchone()[0]
            if version != self._version:
                self._version = version
                if self._database.execute(query, ends).fetchone() is None:
                    self._version = -1
                    return time.monotonic()
            alive()
            if time.monotonic() > deadline:
                raise Failure(f"after {timeout_s:g} s the {table} are {self.states(table)}")
            time.sleep(POLL_S)

    def states(self, table: str) -> dict[str, int]:
        return dict(
            self._database.execute(
                f"SELECT state || coalesce(' ' || detail, ''), count(*) FROM {table} GROUP BY 1"
            )
        )

    def close(self) -> None:
        self._database.close()


class NotifySocket:
    """Stands in for systemd: says when the service is ready, and takes the watchdog's signs."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.is_ready = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._socket.close()

    def _read(self) -> None:
        while True:
            message = self._socket.recv(4096)
            if not message:
                return
            if b"READY=1" in message.split(b"\n"):
                self.is_ready.set()


class Daemon:
    """expunged in a directory of its own, as systemd would start it."""

    name = "expunged"

    def __init__(self, binary: pathlib.Path, directory: pathlib.Path, provider: Provider,
                 app_template: pathlib.Path, *, grace: str = "0s", concurrency: int = 64,
                 more: str = "") -> None:
        self.binary = binary
        self.directory = directory
        self.app = directory / "app.db"
        self.state = directory / "state"
        self.spool = self.state / "spool" / "queue.db"
        self.process: subprocess.Popen | None = None
        self._configuration = directory / "expunged.toml"
        self._notify: NotifySocket | None = None
        for folder in (directory, self.state, directory / "run", directory / "credentials"):
            folder.mkdir()
        data.copy_database(app_template, self.app)
        make_signing_key(directory / "credentials" / "apple-key.p8")
        key = directory / "credentials" / "vault-key"
        key.write_bytes(base64.b64encode(os.urandom(32)) + b"\n")
        key.chmod(0o600)
        tables = "".join(TABLE.format(table, owner) for table, owner in data.OWNER.items())
        self._configuration.write_text(
            CONFIGURATION.format(
                grace=grace, team=TEAM_ID, key=KEY_ID, url=provider.url, ca=provider.ca_file,
                concurrency=concurrency, app=self.app, tables=tables,
            ) + more
        )
        self._run("--check-config", "--config", str(self._configuration))
        self._run("--init-spool", "--state-directory", str(self.state))

    def start(self) -> None:
        socket_path = self.directory / "notify"
        socket_path.unlink(missing_ok=True)
        self._notify = NotifySocket(socket_path)
        environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("LISTEN_", "WATCHDOG_", "JOURNAL_"))
        }
        environment["NOTIFY_SOCKET"] = str(socket_path)
        # WatchdogSec=30s, as the unit has it.
        environment["WATCHDOG_USEC"] = "30000000"
        environment["SWIFT_BACKTRACE"] = "enable=no"
        self.process = subprocess.Popen(
            [str(self.binary), "--config", str(self._configuration),
             "--state-directory", str(self.state),
             "--runtime-directory", str(self.directory / "run"),
             "--credentials-directory", str(self.directory / "credentials")],
            env=environment, stdin=subprocess.DEVNULL,
            stdout=(self.directory / "stdout.log").open("a"),
            stderr=(self.directory / "stderr.log").open("a"),
        )
        deadline = time.monotonic() + START_S
        while not self._notify.is_ready.wait(0.01):
            self.check_alive()
            if time.monotonic() > deadline:
                raise Failure(f"expunged is not ready after {START_S} s")

    def store_tokens(self, user_numbers: range, timeout_s: float, provider: str = "apple",
                     token=data.refresh_token) -> float:
        """Hands over refresh tokens through the spool; returns the seconds until all are sealed."""
        watch = SpoolWatch(self.spool)
        start = time.monotonic()
        data.submit_credentials(self.spool, user_numbers, provider, token)
        end = watch.wait("credentials", ("sealed", "rejected"), timeout_s, self.check_alive)
        states = watch.states("credentials")
        watch.close()
        if states != {"sealed": states.get("sealed", 0)}:
            raise Failure(f"the credentials are {states}")
        return end - start

    def prepare(self, user_count: int) -> None:
        self.start()
        self.store_tokens(range(0, 2 * user_count, 2), 60 + user_count / 200)

    def go(self) -> None:
        """It has seen the commit by itself."""

    def ends_by_itself(self) -> bool:
        return False

    def check_alive(self) -> None:
        assert self.process is not None
        if self.process.poll() is not None:
            raise Failure(
                f"expunged ended with {self.process.returncode}; see {self.directory}/stderr.log"
            )

    def stop(self) -> None:
        if self.process is not None:
            end(self.process)
            self.process = None
        if self._notify is not None:
            self._notify.close()
            self._notify = None

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            [str(self.binary), *arguments], capture_output=True, text=True, timeout=START_S
        )
        if done.returncode != 0:
            raise Failure(f"expunged {arguments[0]}: {done.stderr.strip()}")


class Peer:
    """The script, see peer.py."""

    name = "peer"

    def __init__(self, python: pathlib.Path, directory: pathlib.Path, provider: Provider,
                 app_template: pathlib.Path, *, options: list[str] | None = None) -> None:
        self.directory = directory
        self.app = directory / "app.db"
        self.spool = directory / "queue.db"
        self.process: subprocess.Popen | None = None
        self._python = python
        self._provider = provider
        self._options = options or []
        directory.mkdir()
        data.copy_database(app_template, self.app)
        data.make_spool(self.spool)
        make_signing_key(directory / "key.p8")

    def prepare(self, user_count: int) -> None:
        tokens = self.directory / "tokens.db"
        data.make_token_store(tokens, user_count)
        self.process = subprocess.Popen(
            [str(self._python), str(HERE / "peer.py"), "--url", self._provider.url,
             "--ca", str(self._provider.ca_file), "--key", str(self.directory / "key.p8"),
             "--team-id", TEAM_ID, "--key-id", KEY_ID, "--app", str(self.app),
             "--spool", str(self.spool), "--tokens", str(tokens), *self._options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=(self.directory / "stderr.log").open("a"),
        )
        is_readable, _, _ = select.select([self.process.stdout], [], [], START_S)
        if not is_readable or self.process.stdout.readline() != b"ready\n":
            raise Failure(f"the peer does not start; see {self.directory}/stderr.log")

    def go(self) -> None:
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def ends_by_itself(self) -> bool:
        """Waits for that."""
        self.process.wait(STOP_S)
        return True

    def check_alive(self) -> None:
        if self.process.poll() not in (None, 0):
            raise Failure(f"the peer failed; see {self.directory}/stderr.log")

    def stop(self) -> None:
        if self.process is not None:
            end(self.process)
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        print(f"process {process.pid} did not end within {STOP_S} s", file=sys.stderr)
        process.kill()
        process.wait()
