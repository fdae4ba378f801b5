"""Messages to subscribers and mail: each change arrives, signed; a receiver that fails delays nothing and loses nothing.

Judged by the receiver, which checks signatures by itself, the mail server, and the bytes of state.db.
"""

import contextlib
import json
import os
import random
import re
import shutil
import sqlite3
import stat
import threading
import time

from checks import HOLDS_BARS, comes_true
from mail_server import MailServer
from receiver import Receiver
from scenario import scenario
from stage import GONE, Stage

FAULTS = ("hang", "redirect", "reset", "large", "garbage", 500, 503, 429, 404, 302)
WAITS_S = 600
KILLS, REQUESTS_EACH = 12, 2
LANGUAGES = {"en": "deleted", "de": "gelöscht", "fr": "supprimé", "es": "eliminada", "it": "eliminato"}
REFUSED = ("ann@example.com\r\nBcc: eve@example.com", "ann@example.com, eve@example.com", "\u00e4nn@example.com",
           "a" * 65 + "@example.com", "ann", "ann@example.com>\r\nRCPT TO:<eve@example.com", "")


@scenario(bars=True)
def messages(checks, seed):
    for part in (delivers, faults, killed, mails, by_sendmail):
        stage = Stage(checks, seed)
        closers = []
        try:
            part(checks, stage, closers)
        finally:
            for closer in closers:
                closer.close()
            stage.close()


def subscribed(stage, closers, name="app", **more):
    receiver = Receiver(stage, name, **more)
    closers.append(receiver)
    return receiver


def say(stage, *arguments):
    return stage.run("expungectl", *arguments)


def delivers(checks, stage, closers):
    # Each comes at the first try, however slow the machine is.
    receiver = subscribed(stage, closers, timeout="30s")
    if not stage.starts():
        return
    users = stage.new_users(20)
    ids = [stage.delete(user)[1]["id"] for user in users]
    checks.check("every request completes", comes_true(lambda: stage.open_count() == 0, WAITS_S))
    checks.check("the receiver gets the end of each", comes_true(lambda: all(
        receiver.states().get(request, [None])[-1] == "completed" for request in ids), WAITS_S), receiver.states())
    states = receiver.states()
    checks.check("a request's states come in their order, from accepted to completed", all(
        states[request][0] == "accepted" and states[request][-1] == "completed" for request in ids), states)
    checks.equal("no message has a wrong signature, path or time", receiver.refused, [])
    bodies = b"".join(one.body for one in receiver.seen)
    checks.check("no message names a user", not any(user.encode() in bodies for user in users))
    listed = json.loads(say(stage, "messages", "list", "--json").stdout)["items"]
    checks.check("the delivery log has them", {one["state"] for one in listed} == {"delivered"}
                 and all(one["http_status"] == 200 and one["attempts"] == 1 for one in listed), listed[:3])
    one = listed[0]["id"]
    before = len(receiver.seen)
    done = say(stage, "messages", "redeliver", one)
    checks.equal("a message is delivered again", done.returncode, 0)
    checks.check("under the same id", comes_true(lambda: len(receiver.seen) > before, WAITS_S)
                 and receiver.seen[-1].id == one, receiver.seen[-1].id)
    checks.check("an unknown message is not found", say(stage, "messages", "redeliver", "msg_999999_0123456789abcdef").returncode != 0)
    checks.check("an alarm arrives as a message", alarm(stage, receiver))


def alarm(stage, receiver):
    stage.http("POST", "/v1/intake/pause")
    stage.http("POST", "/v1/stores/app-db/pause")
    return comes_true(lambda: any(one.type.startswith("alarm.") and one.data["text"] for one in receiver.seen), WAITS_S)


def faults(checks, stage, closers):
    """An endpoint that fails in every way: deletions go on, and all messages arrive once it works."""
    receiver = subscribed(stage, closers, timeout="20s")
    other = subscribed(stage, closers, "crm")
    if not stage.starts():
        return
    ids = []
    for fault in FAULTS:
        receiver.answer = fault
        user, = stage.new_users(1)
        began = time.monotonic()
        ids.append(stage.delete(user)[1]["id"])
        checks.check(f"{fault}: the deletion completes while it fails", comes_true(
            lambda: stage.http("GET", f"/v1/requests/{ids[-1]}")[1]["state"] == "completed"))
        if HOLDS_BARS:
            checks.check(f"{fault}: without waiting", time.monotonic() - began < 10)
        checks.check(f"{fault}: the receiver did it", comes_true(lambda: any(one.answer == fault for one in receiver.seen)))
        receiver.answer = 200
        checks.check(f"{fault}: once it is over, the messages arrive", comes_true(
            lambda: receiver.states().get(ids[-1], [None])[-1] == "completed", 600), receiver.states().get(ids[-1]))
    receiver.close()
    user, = stage.new_users(1)
    ids.append(stage.delete(user)[1]["id"])
    checks.check("nothing listens: the deletion completes", comes_true(lambda: stage.open_count() == 0))
    checks.check("another subscriber is not delayed", comes_true(lambda: all(
        other.states().get(request, [None])[-1] == "completed" for request in ids)), other.states())
    checks.check("the failure is in the journal", comes_true(
        lambda: re.search("messages to subscriber app fail: no (connection|answer)", stage.log())), stage.log()[-1500:])
    checks.check("and so is the recovery", "messages to subscriber app are delivered again" in stage.log())
    checks.check("a redirect is not followed", not any(one.type and one.headers.get("host") == "elsewhere" for one in receiver.refused)
                 and not receiver.refused, receiver.refused[:2])
    waiting = json.loads(say(stage, "messages", "list", "--waiting", "--json").stdout)["items"]
    checks.check("what waits is listed with its error", waiting and all(one["state"] == "waiting" for one in waiting)
                 and any("error" in one for one in waiting), waiting[:3])
    metrics = stage.http("GET", "/metrics")[1].decode()
    checks.check("metrics count what waits", 'expunged_messages_waiting{subscriber="app"}' in metrics
                 and 'outcome="redirected"' in metrics, metrics[-800:])
    receiver.answer = 200
    receiver.open()
    stage.stop()
    stage.starts()
    for one in waiting:
        say(stage, "messages", "redeliver", one["id"])
    checks.check("all arrive once the endpoint works", comes_true(lambda: all(
        receiver.states().get(request, [None])[-1] == "completed" for request in ids), WAITS_S), receiver.states())


def killed(checks, stage, closers):
    """kill -9 under load, again and again: each state that the spool or the API has shown was delivered at least once."""
    receiver = subscribed(stage, closers)
    source = random.Random(stage.random.random())
    receiver.answer = lambda path: source.choice((200, 200, 200, 503))
    if not stage.starts():
        return
    stop, ids = threading.Event(), {}

    def submit():
        while not stop.is_set():
            user, = stage.new_users(1)
            try:
                status, body = stage.delete(user)
                if status == 202:
                    ids[user] = body["id"]
            except GONE:  # The daemon is dead for a short time.
                time.sleep(0.05)

    load = threading.Thread(target=submit, daemon=True)
    load.start()
    for number in range(KILLS):
        taken = len(ids)
        if not checks.check(f"kill {number + 1}: {REQUESTS_EACH} more requests are accepted before it",
                            comes_true(lambda: len(ids) >= taken + REQUESTS_EACH), stage.log()[-1500:]):
            break
        time.sleep(source.uniform(0, 0.6))
        stage.kill()
        if not stage.starts():
            break
    receiver.answer = "hang"
    checks.check("a message is delivered, and its answer held back until a kill", comes_true(
        lambda: any(one.answer == "hang" for one in receiver.seen)), stage.log()[-1500:])
    stage.kill()
    receiver.answer = 200
    stage.starts()
    stop.set()
    load.join()
    checks.check("every request completes", comes_true(lambda: stage.open_count() == 0, WAITS_S))
    with contextlib.closing(sqlite3.connect(f"file:{stage.path('state/state.db')}?mode=ro", uri=True)) as state:
        requests = [row[0].hex() for row in state.execute("SELECT id FROM requests WHERE phase = 'completed'")]
        queued = {}
        for request, subject, sequence in state.execute(
                "SELECT request_id, subject, sequence FROM messages WHERE topic = 'request' ORDER BY sequence"):
            queued.setdefault(request.hex(), []).append(subject)
    named = {request: f"{request[:8]}-{request[8:12]}-{request[12:16]}-{request[16:20]}-{request[20:]}" for request in requests}
    lost = set(ids.values()) - set(named.values())
    checks.check(f"all {len(ids)} requests that were accepted are completed", ids and not lost, lost)
    done = comes_true(lambda: all(receiver.states().get(named[request]) == queued.get(request) for request in requests), 900, 0.5)
    missing = {request: (queued.get(request), receiver.states().get(named[request])) for request in requests
               if receiver.states().get(named[request]) != queued.get(request)}
    checks.check("each change of each request was delivered", done, list(missing.items())[:4])
    checks.check("each request has its begin and its end", all(
        queued[request][0] == "accepted" and queued[request][-1] == "completed" for request in requests))
    checks.equal("and every message was signed", receiver.refused, [])
    cut = {one.id for one in receiver.seen if one.answer == "hang"}
    checks.check("a message whose answer the kill cut off comes again, with the same id", cut and cut <= set(receiver.delivered()), cut)


MAIL = """
[mail]
from = "privacy@example.com"
to = ["ops@example.com"]
{way}
[controller]
name = "Example Apps GmbH"
contact = "privacy@example.com"
"""


def with_mail(stage, way):
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(MAIL.format(way=way))


def ask(stage, user, address, language=None):
    body = {"kind": "delete_account", "user_id": user, "notify_email": address}
    return stage.http("POST", "/v1/requests", {**body, **({"language": language} if language else {})}, f"key-{user}")


def holds(stage, text):
    """Where a text is in the files of the state."""
    found = []
    for folder, _, names in os.walk(stage.path("state")):
        for name in names:
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as file:
                    if text.encode() in file.read():
                        found.append(name)
    return found


def sealed(stage):
    found = []

    def is_read():
        try:
            with contextlib.closing(sqlite3.connect(f"file:{stage.path('state/state.db')}?mode=ro", uri=True)) as state:
                found[:] = [bytes(row[0]) for row in state.execute("SELECT sealed FROM addresses")]
            return True
        except sqlite3.DatabaseError:  # Reading the bytes of the file, as this test does, drops our own locks (fcntl(2)).
            return False

    assert comes_true(is_read, pause=0.1), "the state cannot be read"
    return found


def mails(checks, stage, closers):
    server = MailServer()
    closers.append(server)
    with_mail(stage, f'server = "127.0.0.1:{server.port}"')
    if not stage.starts():
        return
    for address in REFUSED:
        status, body = ask(stage, "nobody", address)
        checks.check(f"an address like {address[:24]!r} is refused", status == 400 and body["code"] == "malformed_field", body)
    server.mode = "defer"
    users = dict(zip(LANGUAGES, stage.new_users(len(LANGUAGES))))
    addresses = {language: f"Planted.{user}@mail.example.com" for language, user in users.items()}
    ids = {language: ask(stage, user, addresses[language], language)[1]["id"] for language, user in users.items()}
    checks.check("all complete", comes_true(lambda: stage.open_count() == 0, WAITS_S))
    checks.equal("no mail was taken yet", [mail.recipients for mail in server.mails if "ops@example.com" not in mail.recipients], [])
    boxes = sealed(stage)
    checks.equal("the addresses wait with their messages, after the completion", len(boxes), len(LANGUAGES))
    checks.check("but not in the clear", not any(holds(stage, address) for address in addresses.values()))
    checks.check("the box itself is in the file, so that this search can find one",
                 any(box in open(stage.path(f"state/{name}"), "rb").read() for box in boxes for name in
                     ("state.db", "state.db-wal") if os.path.exists(stage.path(f"state/{name}"))))
    stage.kill()
    server.mode = "break"
    stage.starts()
    waiting = json.loads(say(stage, "messages", "list", "--waiting", "--json").stdout)["items"]
    for one in waiting:
        say(stage, "messages", "redeliver", one["id"])
    checks.check("a mail breaks off", comes_true(lambda: server.broken > 0, 600), stage.log()[-1500:])
    server.mode = "take"
    stage.stop()
    stage.starts()
    for one in waiting:
        say(stage, "messages", "redeliver", one["id"])
    checks.check("each user gets the confirmation", comes_true(lambda: all(
        server.to(address) for address in addresses.values()), WAITS_S), [mail.recipients for mail in server.mails])
    for language, address in addresses.items():
        mail = server.to(address)[-1]
        text = mail.message.get_content()
        checks.check(f"{language}: in the user's language, with the number of the request",
                     LANGUAGES[language] in mail.message["subject"] + text and ids[language] in text
                     and mail.message["content-language"] == language, text)
        checks.check(f"{language}: it names the controller, and no user id", "Example Apps GmbH" in text
                     and users[language] not in text.replace(address, ""), text)
        checks.check(f"{language}: one recipient, an own sender and no answer from robots", mail.recipients == [address]
                     and mail.sender == "privacy@example.com" and mail.message["auto-submitted"] == "auto-generated", mail.raw[:400])
    checks.check("the addresses are destroyed", comes_true(lambda: sealed(stage) == []), len(sealed(stage)))
    checks.check("no byte of them is left in the state", comes_true(lambda: not any(
        box in open(stage.path(f"state/{name}"), "rb").read() for box in boxes for name in os.listdir(stage.path("state"))
        if name.startswith("state.db")), pause=0.5))
    checks.check("nor in any file or the journal", not any(holds(stage, a) for a in addresses.values())
                 and not any(address in stage.log() for address in addresses.values()))
    confirmation = next(one for one in json.loads(say(stage, "messages", "list", "--json").stdout)["items"]
                        if one["type"].startswith("confirmation."))
    checks.check("a confirmation is not delivered twice by an operator",
                 say(stage, "messages", "redeliver", confirmation["id"]).returncode != 0)
    refused_and_cancelled(checks, stage, server)
    stage.http("POST", "/v1/stores/app-db/pause")
    checks.check("alarms go to the operators", comes_true(lambda: server.to("ops@example.com"), WAITS_S))
    checks.check("a subject stays one line", all("\n" not in mail.message["subject"] for mail in server.mails))


def refused_and_cancelled(checks, stage, server):
    server.mode = "refuse"
    user, = stage.new_users(1)
    ask(stage, user, f"gone.{user}@mail.example.com", "de")
    checks.check("an address that the server refuses is given up and destroyed", comes_true(
        lambda: stage.open_count() == 0 and sealed(stage) == [], WAITS_S))
    server.mode = "take"
    user, = stage.new_users(1)
    body = {"kind": "delete_account", "user_id": user, "options": {"grace_s": 3600},
            "notify_email": f"back.{user}@mail.example.com"}
    request = stage.http("POST", "/v1/requests", body)[1]["id"]
    checks.equal("an address waits with its request", len(sealed(stage)), 1)
    stage.http("POST", f"/v1/requests/{request}/cancel")
    checks.check("a cancelled request takes its address along", comes_true(lambda: sealed(stage) == []))
    checks.equal("and nobody gets a confirmation", server.to(f"back.{user}@mail.example.com"), [])
    status, body = stage.http("POST", "/v1/requests", {"kind": "revoke_tokens", "user_id": user, "notify_email": "a@b.example"})
    checks.check("revoke_tokens takes no address", status == 400 and body["code"] == "malformed_field", body)


def by_sendmail(checks, stage, closers):
    """The same with a sendmail: msmtp of Debian, which hands on by SMTP."""
    program = shutil.which("msmtp")
    if not program:
        checks.skip("mail by sendmail: msmtp is not installed")
        return
    server = MailServer()
    closers.append(server)
    settings = stage.path("msmtprc")
    with open(settings, "w") as file:
        file.write(f"account default\nhost 127.0.0.1\nport {server.port}\nauth off\ntls off\nfrom fallback@example.com\n")
    os.chmod(settings, 0o600)
    wrapper = stage.path("sendmail")
    with open(wrapper, "w") as file:
        file.write(f'#!/bin/sh\nexec {program} -C {settings} "$@"\n')
    os.chmod(wrapper, 0o755)
    with_mail(stage, f'sendmail = "{wrapper}"')
    if not stage.starts():
        return
    user, = stage.new_users(1)
    address = f"o'neil+{user}@mail.example.com"
    request = ask(stage, user, address, "fr")[1]["id"]
    checks.check("msmtp hands the confirmation on", comes_true(lambda: server.to(address), WAITS_S),
                 (stage.log()[-1500:], [mail.recipients for mail in server.mails]))
    mail = server.to(address)[0]
    checks.check("it is the whole message, from the configured sender", request in mail.message.get_content()
                 and mail.sender == "privacy@example.com", mail.raw[:500])
    checks.check("the address is destroyed", comes_true(lambda: sealed(stage) == []))
