"""What one uid on the sockets can do to others: judged by the answer times of a second uid and of an operator,
and by the memory of the daemon."""

import json
import os
import subprocess
import sys
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from scenario import scenario
from stage import Stage

HOSTILE, NEIGHBOR = 54321, 54322
IDLE = 300
MUTE = 208
# Requests that a list shows; a page of them has about a megabyte.
LISTED = 1000
# One answer of an idle daemon takes milliseconds; a debug build on a busy machine some more.
ANSWER_MAX_S = 1.0
# Of all mute connections together, in KiB; their answers have about 200 MiB.
GROWTH_MAX = 48 * 1024
# The interpreter may lie where only root can read it, so the process becomes the uid after its imports.
BECOME = """
import encodings.idna, http.client, json, os, select, socket, sys, time
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
"""
# Opens connections, says so, and then at each line how many the server has not closed or refused.
CLIENT = BECOME + r"""
path, count, text = sys.argv[2], int(sys.argv[3]), sys.argv[4].encode()
held = []
for _ in range(count):
    one = socket.socket(socket.AF_UNIX)
    try:
        one.connect(path)
        one.settimeout(5)
        if text:
            one.sendall(text)
        held.append(one)
    except OSError:
        pass
print(json.dumps(len(held)), flush=True)
for line in sys.stdin:
    open_ones = len(held)
    for one in held:
        poll = select.poll()
        poll.register(one, select.POLLIN if not text else 0)
        for _, event in poll.poll(0):
            refused = event & select.POLLIN and b" 503 " in one.recv(64, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            open_ones -= 1 if refused or event & (select.POLLHUP | select.POLLERR) else 0
    print(json.dumps(open_ones), flush=True)
"""
# Asks like any application, and says how long the slowest answer took.
ASK = BECOME + r"""
path, seconds, method, place, body = sys.argv[2], float(sys.argv[3]), *sys.argv[4:7]
slowest, statuses, end = 0.0, {}, time.monotonic() + seconds
while True:
    start = time.monotonic()
    one = http.client.HTTPConnection("localhost")
    one.sock = socket.socket(socket.AF_UNIX)
    one.sock.settimeout(120)
    try:
        one.sock.connect(path)
        one.request(method, place, body or None, {"Content-Type": "application/json"})
        answer = one.getresponse()
        answer.read()
        status = answer.status
    except OSError as error:
        status = type(error).__name__
    one.close()
    statuses[status] = statuses.get(status, 0) + 1
    slowest = max(slowest, time.monotonic() - start)
    if time.monotonic() > end:
        break
    time.sleep(0.05)
print(json.dumps([slowest, statuses]))
"""


class Client:
    """A process of another uid that opens connections and keeps them."""

    def __init__(self, stage, uid, count, text="", role="submit"):
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(uid), stage.path(f"runtime/{role}.sock"), str(count), text],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.opened = json.loads(self.process.stdout.readline())

    def still_open(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def ask(stage, uid, seconds, role="submit", method="GET", place="/v1/status", body=""):
    """(slowest answer in seconds, how many of each status)"""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(uid), stage.path(f"runtime/{role}.sock"), str(seconds), method, place, body],
        stdout=subprocess.PIPE, text=True, timeout=seconds + 2 * HANG_S)
    return json.loads(done.stdout)


def resident_kib(stage, field="VmRSS"):
    with open(f"/proc/{stage.daemon.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field))


@scenario(alone=True, bars=True)
def neighbors(checks, seed):
    if os.geteuid() != 0:
        return checks.skip("other uids on the sockets: only root can become them")
    stage = Stage(checks, seed)
    stage.starts()
    open_to_all(stage)
    idle_connections(checks, stage)
    operators(checks, stage)
    mute_connections(checks, stage)
    streams(checks, stage)
    stage.close()


@scenario(gate={})
def descriptors(checks, seed):
    if os.geteuid() != 0:
        return checks.skip("other uids on the sockets: only root can become them")
    for limit in (200, 1024):
        stage = Stage(checks, seed)
        stage.start("prlimit", f"--nofile={limit}:{limit}")
        if checks.check(f"the daemon starts with {limit} descriptors", stage.comes_up(), stage.log()[-2000:]):
            used_up(checks, stage)
        stage.close()


def used_up(checks, stage):
    """Two uids keep all connections that they get, on every socket."""
    open_to_all(stage)
    clients = [Client(stage, uid, IDLE, role=role) for uid in (HOSTILE, NEIGHBOR) for role in ("submit", "control")]
    checks.check("     of two uids' idle connections the last ones are refused",
                 comes_true(lambda: all(client.still_open() < IDLE for client in clients)))
    answers(checks, "     root is answered", ask(stage, 0, 2, "control"), 200)
    user = stage.new_users(1)[0]
    checks.equal("     a deletion is accepted", stage.delete(user)[0], 202)
    checks.check("     and carried out", comes_true(lambda: stage.open_count() == 0), stage.http("GET", "/v1/status"))
    for client in clients:
        client.close()


def open_to_all(stage):
    """As if every uid here were in the groups of both sockets."""
    for place in (stage.directory, stage.path("runtime")):
        os.chmod(place, 0o711)
    for role in ("submit", "control"):
        os.chmod(stage.path(f"runtime/{role}.sock"), 0o666)


def deletion(stage):
    return json.dumps({"kind": "delete_account", "user_id": stage.new_users(1)[0]})


def answers(checks, text, found, status):
    slowest, statuses = found
    checks.check(text, statuses.keys() == {str(status)}, f"slowest {slowest:.2f} s, {statuses}")
    if HOLDS_BARS:
        checks.check(f"     within {ANSWER_MAX_S:.0f} s", slowest < ANSWER_MAX_S, slowest)
    print(f"     slowest {slowest * 1000:.0f} ms of {sum(statuses.values())}")


def idle_connections(checks, stage):
    hostile = Client(stage, HOSTILE, IDLE)
    refused = comes_true(lambda: hostile.still_open() < IDLE)
    checks.check(f"of {IDLE} idle connections of one uid the last ones are refused", refused)
    print(f"     {hostile.still_open()} are open")
    answers(checks, "     an operator is answered", ask(stage, 0, 1, "control"), 200)
    answers(checks, "     another uid's deletion is accepted",
            ask(stage, NEIGHBOR, 0, method="POST", place="/v1/requests", body=deletion(stage)), 202)
    hostile.close()


def operators(checks, stage):
    clients = [Client(stage, HOSTILE + 10 + number, IDLE, role="control") for number in range(6)]
    checks.check("on the socket for operators many uids are bounded together",
                 comes_true(lambda: sum(client.still_open() for client in clients) < 6 * IDLE))
    print(f"     {sum(client.still_open() for client in clients)} are open")
    answers(checks, "     root is answered there", ask(stage, 0, 1, "control"), 200)
    answers(checks, "     an application is answered", ask(stage, NEIGHBOR, 1), 200)
    for client in clients:
        client.close()


def mute_connections(checks, stage):
    for user in stage.new_users(LISTED):
        assert stage.delete(user)[0] == 202
    checks.check(f"{LISTED} deletions are carried out", comes_true(lambda: stage.open_count() == 0), stage.http("GET", "/v1/status"))
    page = "GET /v1/requests?limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n"
    before = resident_kib(stage)
    hostile = Client(stage, HOSTILE, MUTE, page * 8)
    start = time.monotonic()
    answers(checks, f"{MUTE} connections of one uid ask for lists and never read: another uid is answered",
            ask(stage, NEIGHBOR, 4), 200)
    answers(checks, "     its deletion is accepted",
            ask(stage, NEIGHBOR, 0, method="POST", place="/v1/requests", body=deletion(stage)), 202)
    answers(checks, "     an operator gets a list", ask(stage, 0, 2, "control", place="/v1/requests?limit=100"), 200)
    growth = resident_kib(stage, "VmHWM") - before
    if HOLDS_BARS:
        checks.check("     the daemon's memory stays bounded", growth < GROWTH_MAX, f"{growth} KiB")
    print(f"     {growth} KiB at most")
    checks.check("     they are cut off", comes_true(lambda: hostile.still_open() == 0, pause=0.2), hostile.still_open())
    took = time.monotonic() - start
    if HOLDS_BARS:
        checks.check("     within 40 s", took <= 40, took)
    hostile.close()


def streams(checks, stage):
    watch = "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"
    before = resident_kib(stage)
    hostile = Client(stage, HOSTILE, 64, watch, role="control")
    for user in stage.new_users(LISTED):
        assert stage.delete(user)[0] == 202
    answers(checks, "64 event streams that nobody reads: another uid is answered", ask(stage, NEIGHBOR, 2), 200)
    growth = resident_kib(stage) - before
    if HOLDS_BARS:
        checks.check("     the daemon's memory stays bounded", growth < GROWTH_MAX, f"{growth} KiB")
    print(f"     {growth} KiB")
    hostile.close()
