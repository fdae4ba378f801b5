"""The service is stopped and started again while applications ask: the sockets stay open, as systemd keeps them.

Judged by the applications: each call is answered, by one process or by the next one.
"""

import fcntl
import os
import socket
import subprocess
import threading
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from scenario import scenario
from stage import Stage

RESTARTS = 20
CLIENTS = 6
ROLES = ("control", "submit", "viewer")
# Above those that the service gets, which begin at 3 (sd_listen_fds(3)).
DESCRIPTORS_FROM = 20
# For so long after SIGTERM nothing is closed on which a request may be on its way. Whoever is not given a processor for
# longer than that asks again (RFC 9112, 9.3.1).
GRACE_S = 0.25
CLOSED = "the connection is closed"
ASKS = b"GET /v1/status HTTP/1.1\r\nHost: expunged\r\nConnection: %s\r\n\r\n"


@scenario(gate={}, bars=True)
def restarts(checks, seed):
    stage = Stage(checks, seed)
    sockets = [listening(stage, role) for role in ROLES]
    try:
        start(stage, sockets)
        checks.check("the service starts with sockets of its manager", stage.comes_up(), stage.log()[-2000:])
        # When each process was asked to stop, and when it had.
        stops = []
        clients = [Client(stage, stops, keeps=number % 2 == 0) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        ended = [again(stage, sockets, clients, stops) for _ in range(RESTARTS)]
        checks.equal(f"it is stopped and started {RESTARTS} times", set(ended), {0})
        for client in clients:
            client.ends.set()
        for client in clients:
            client.join()
        for name, kind in (("by itself", False), ("on a connection that is kept", True)):
            asked = [client for client in clients if client.keeps == kind]
            checks.check(f"each of {sum(client.count for client in asked)} calls is answered, each {name}",
                         all(client.count >= RESTARTS for client in asked)
                         and not any(client.unanswered for client in asked),
                         [client.unanswered for client in asked])
            late = sum(client.late for client in asked)
            if HOLDS_BARS:
                checks.equal("     at the first try", late, 0)
            print(f"     {late} were asked again: a stop came long before they were through")
        user = stage.new_users(1)[0]
        checks.equal("and a deletion is taken", stage.delete(user)[0], 202)
    finally:
        stage.close()
        for place in sockets:
            place.close()


def listening(stage, role):
    with socket.socket(socket.AF_UNIX) as place:
        place.bind(stage.path(f"runtime/{role}.sock"))
        place.listen(128)
        return socket.socket(fileno=fcntl.fcntl(place.fileno(), fcntl.F_DUPFD_CLOEXEC, DESCRIPTORS_FROM))


def start(stage, sockets):
    numbers = [place.fileno() for place in sockets]
    redirected = " ".join(f"{index + 3}<&{number}" for index, number in enumerate(numbers))
    with open(stage.path("daemon.log"), "ab") as output:
        stage.daemon = subprocess.Popen(
            ["bash", "-c", f'LISTEN_PID=$$ exec "$@" {redirected}', "bash", *stage.arguments()],
            stdout=output, stderr=output, pass_fds=numbers,
            env=dict(os.environ, LISTEN_FDS=str(len(ROLES)), LISTEN_FDNAMES=":".join(ROLES)))


def again(stage, sockets, clients, stops):
    """As systemd restarts a service; answers the status of the process that ended."""
    stop = [time.monotonic(), float("inf")]
    stops.append(stop)
    stage.daemon.terminate()
    status = stage.daemon.wait(HANG_S)
    stop[1] = time.monotonic()
    start(stage, sockets)
    assert stage.comes_up(), stage.log()[-2000:]
    # Each has begun another call since, so that every process meets calls of all of them.
    counts = [client.count for client in clients]
    assert comes_true(lambda: all(client.count > count for client, count in zip(clients, counts))), \
        ("each client asks the new process", counts, [client.count for client in clients])
    return status


class Client(threading.Thread):
    """Asks all the time; `keeps` its connection until the service closes it."""

    def __init__(self, stage, stops, keeps):
        super().__init__(daemon=True)
        self.place = stage.path("runtime/submit.sock")
        self.keeps = keeps
        self.ends = threading.Event()
        self.stops = stops
        self.count = self.late = 0
        self.unanswered = []
        self.connection = self.connected_at = None

    def run(self):
        while not self.ends.is_set():
            self.count += 1
            answer = self.answer()
            while answer in ("", CLOSED) and self.is_late():
                self.late += 1
                answer = self.answer()
            if not answer.startswith("HTTP/1.1 200 "):
                self.unanswered.append(f"call {self.count}: {answer[:60]!r}")
        self.connection = None

    def answer(self):
        """The head of the answer, or what came instead of one."""
        try:
            return self.ask()
        except ConnectionError:
            self.connection = None
            return CLOSED
        except OSError as error:
            self.connection = None
            return repr(error)

    def is_late(self):
        """Whether the process that closed it was asked to stop long before."""
        begun = next((begun for begun, ended in self.stops if ended > self.connected_at), float("inf"))
        return time.monotonic() > begun + GRACE_S

    def ask(self):
        if self.connection is None:
            self.connected_at = time.monotonic()
            self.connection = socket.socket(socket.AF_UNIX)
            self.connection.settimeout(HANG_S)
            self.connection.connect(self.place)
        self.connection.sendall(ASKS % (b"keep-alive" if self.keeps else b"close"))
        head, body = self.read_head()
        length = next((int(line.split(":")[1]) for line in head.lower().split("\r\n")
                       if line.startswith("content-length:")), 0)
        while len(body) < length:
            chunk = self.connection.recv(65536)
            if not chunk:
                break
            body += chunk
        if not self.keeps or "connection: close" in head.lower() or not head:
            self.connection.close()
            self.connection = None
        return head

    def read_head(self):
        text = b""
        while b"\r\n\r\n" not in text:
            chunk = self.connection.recv(65536)
            if not chunk:
                return text.decode(), b""
            text += chunk
        head, _, body = text.partition(b"\r\n\r\n")
        return head.decode(), body
