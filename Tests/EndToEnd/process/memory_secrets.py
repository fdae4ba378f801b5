"""What the process memory of the daemon still holds after deletions have completed: read from /proc/PID/mem."""

import base64
import os
import re
import socket
import urllib.parse

from canaries import canary
from checks import comes_true
from sandbox import CLIENT, Sandbox
from scenario import scenario
from stage import BINARIES, Stage

USERS = 30


@scenario()
def memory_secrets(checks, seed):
    if os.geteuid() != 0:
        return checks.skip("the memory of a process: only root can read it")
    # A check whose answer was late would wait for a day otherwise.
    stage = Stage(checks, seed, Sandbox(BINARIES, "--refresh-limit", "off"))
    stage.owns_sandbox = True
    stage.starts()
    users, tokens = stage.new_users(USERS), stage.new_tokens(USERS)
    # Both channels: the socket and the spool.
    for number, (user, token) in enumerate(zip(users, tokens)):
        if number % 2:
            store_in_spool(stage, user, token)
        else:
            assert stage.store(user, token)[0] == 202
    comes_true(lambda: stage.spool_rows("SELECT count(*) FROM credentials WHERE length(secret) > 0") == [(0,)])
    while_open = found(stage, users, tokens)
    checks.check("a text in the memory is found", finds_planted(stage))
    for number, user in enumerate(users):
        if number % 2:
            stage.spool_delete(user)
        else:
            stage.delete(user)
    checks.check("all deletions complete", comes_true(lambda: not stage.rows_left() and stage.open_count() == 0), stage.http("GET", "/v1/status"))
    print(f"     in memory before: {while_open[0]} tokens, {while_open[1]} user ids;"
          f" at the end: {found(stage, users, tokens)[:2]}")
    # Unused connections to providers end after 20 s, those of the sockets after 30 s.
    comes_true(lambda: found(stage, users, tokens)[:2] == (0, 0), 600, pause=2)
    token_count, user_count, places = found(stage, users, tokens)
    checks.check(f"once unused connections have ended the memory holds none of {USERS} tokens", token_count == 0,
                 f"{token_count}\n" + "\n".join(places))
    checks.check(f"     and none of {USERS} user ids", user_count == 0, f"{user_count}\n" + "\n".join(places))
    stage.close()


def store_in_spool(stage, user, token):
    stage.spool_do(
        "INSERT INTO credentials (user_id, provider, kind, secret, client_id)"
        " VALUES (:user, 'apple', 'refresh_token', :secret, :client)",
        user=user, secret=token["refresh_token"], client=CLIENT)


def regions(pid):
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            span, mode, _, _, _, *name = line.split(maxsplit=5)
            if mode[0] == "r" and not (name and name[0].startswith("[v")):
                first, last = (int(end, 16) for end in span.split("-"))
                yield first, last, name[0].strip() if name else "heap"


def contents(pid):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for first, last, name in regions(pid):
            try:
                memory.seek(first)
                yield name, memory.read(last - first)
            except OSError:
                continue  # Gone meanwhile, or a device.


def forms(text):
    raw = text.encode()
    return {raw, urllib.parse.quote(text, safe="").encode(), base64.b64encode(raw)}


def found(stage, users, tokens):
    """(tokens, user ids, where) that are somewhere in the memory."""
    secrets = {form: token["refresh_token"] for token in tokens for form in forms(token["refresh_token"])}
    needles = {**secrets, **{form: user for user in users for form in forms(user)}}
    pattern = re.compile(b"|".join(re.escape(needle) for needle in needles))
    hits, places = set(), []
    for name, data in contents(stage.daemon.pid):
        for hit in pattern.finditer(data):
            hits.add(needles[hit[0]])
            kind = "token" if hit[0] in secrets else "user id"
            places.append(f"{kind} in {name}: {around(data, hit)}")
    return len(hits - set(users)), len(hits & set(users)), places[:20]


def around(data, hit):
    """What stands before it, which shows whose buffer it is, with all letters and digits of long words hidden."""
    text = data[max(0, hit.start() - 60):hit.start()] + b"|" + data[hit.end():hit.end() + 30]
    return re.sub(rb"[^ -~]+", b".", text).decode()


def finds_planted(stage):
    """Whether half a body, which the daemon keeps until the rest comes, is found."""
    planted = canary(stage.random)
    with socket.socket(socket.AF_UNIX) as half:
        half.connect(stage.path("runtime/control.sock"))
        half.sendall(f"POST /v1/requests HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n{planted}".encode())
        return comes_true(lambda: found(stage, [planted], [])[1] == 1)
