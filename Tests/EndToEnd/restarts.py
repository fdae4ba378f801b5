"""The service is stopped and started again while applications ask: the sockets stay open, as systemd keeps them.

Judged by the applications: each call is answered, by one process or by the next one.
"""

import fcntl
import os
import socket
import subprocess
import threading

from checks import HANG_S, comes_true
from stage import Stage

RESTARTS = 20
CLIENTS = 6
ROLES = ("control", "submit", "viewer")
# Above those that the service gets, which begin at 3 (sd_listen_fds(3)).
DESCRIPTORS_FROM = 20
ASKS = b"GET /v1/status HTTP/1.1\r\nHost: expunged\r\nConnection: %s\r\n\r\n"


def restarts(checks, seed):
    stage = Stage(checks, seed)
    sockets = [listening(stage, role) for role in ROLES]
    try:
        start(stage, sockets)
        checks.check("the service starts with sockets of its manager", stage.comes_up(), stage.log()[-2000:])
        clients = [Client(stage, keeps=number % 2 == 0) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        ended = [again(stage, sockets, clients) for _ in range(RESTARTS)]
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


def again(stage, sockets, clients):
    """As systemd restarts a service; answers the status of the process that ended."""
    stage.daemon.terminate()
    status = stage.daemon.wait(HANG_S)
    start(stage, sockets)
    assert stage.comes_up(), stage.log()[-2000:]
    # Each has begun another call since, so that every process meets calls of all of them.
    counts = [client.count for client in clients]
    assert comes_true(lambda: all(client.count > count for client, count in zip(clients, counts))), counts
    return status


class Client(threading.Thread):
    """Asks all the time; `keeps` its connection until the service closes it."""

    def __init__(self, stage, keeps):
        super().__init__(daemon=True)
        self.place = stage.path("runtime/submit.sock")
        self.keeps = keeps
        self.ends = threading.Event()
        self.count = 0
        self.unanswered = []
        self.connection = None

    def run(self):
        while not self.ends.is_set():
            self.count += 1
            try:
                answer = self.ask()
            except OSError as error:
                answer, self.connection = repr(error), None
            if not answer.startswith("HTTP/1.1 200 "):
                self.unanswered.append(f"call {self.count}: {answer[:60]!r}")
        self.connection = None

    def ask(self):
        if self.connection is None:
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
