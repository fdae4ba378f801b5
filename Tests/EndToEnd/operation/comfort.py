"""What an operator types and reads: short ids, 80 columns, suggestions, waiting and watching, in a
terminal of 80 columns and in a pipe."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

from checks import HANG_S, comes_true
from sandbox import CLIENT
from scenario import scenario
from stage import BINARIES, ROOT, Stage

COLUMNS = 80
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@scenario()
def comfort(checks, seed):
    stage = Stage(checks, seed)
    stage.unjudged = "a scheduled request stays open"
    stage.begun = time.time()
    stage.starts()
    done, held, later = stage.new_users(3)
    for user, token in zip((done, held), stage.new_tokens(2)):
        stage.store(user, token)
    stage.delete(done)
    stage.http("POST", f"/v1/users/{held}/hold", {"reason": "case"})
    stage.delete(held)
    stage.run("expungectl", "delete-account", "日本" * 30, "--option", "grace_s=3600")
    stage.run("expungectl", "delete-account", later, "--option", "grace_s=7200")
    stage.http("PUT", "/v1/users/coded/identities/apple", {
        "kind": "authorization_code", "secret": "made-up", "client_id": CLIENT})
    comes_true(lambda: stage.http("GET", "/v1/users/coded/identities")[1]["items"][0]["state"] == "dead")
    stage.delete("coded")
    comes_true(lambda: states(stage).get("completed") and states(stage).get("parked"))
    lists(checks, stage)
    prefixes(checks, stage)
    shows(checks, stage)
    mistypes(checks, stage)
    waits(checks, stage)
    watches(checks, stage)
    progresses(checks, stage)
    sentences(checks, stage)
    stage.close()


def requests(stage):
    return stage.http("GET", "/v1/requests")[1]["items"]


def states(stage):
    return {item["state"]: item["id"] for item in requests(stage)}


def columns(line):
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
               for char in line)


def fits(text):
    return all(columns(line) <= COLUMNS for line in ESCAPE.sub("", text).replace("\r", "").split("\n"))


def in_terminal(stage, *words, until=None):
    """(exit status or minus the signal, all that was written) in a terminal of 80 columns.

    Ctrl-C is typed as soon as `until` holds of what was written, and then again and again.
    """
    process, terminal = pty.fork()
    if process == 0:
        # Whoever runs this in the background of a shell has it ignored, and a program inherits that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, COLUMNS, 0, 0))
        os.execve(os.path.join(BINARIES, "expungectl"), ["expungectl", *words], dict(
            os.environ, EXPUNGED_SOCKET=stage.path("runtime/control.sock"), TERM="xterm", TZ="Asia/Tokyo"))
    written, end, typed = b"", time.monotonic() + HANG_S, 0
    while time.monotonic() < end:
        if until and time.monotonic() > typed + 5 and until(written.decode(errors="replace")):
            os.write(terminal, b"\x03")
            typed = time.monotonic()
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # The other end is closed.
            break
        if not chunk:
            break
        written += chunk
    else:
        os.kill(process, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(terminal)
    return status, written.decode(errors="replace")


def lists(checks, stage):
    piped = stage.run("expungectl", "list")
    checks.check("a list in a pipe has 80 columns and no colors", fits(piped.stdout) and "\x1b" not in piped.stdout
                 and piped.stdout.count("\n") == 6, piped.stdout)
    status, shown = in_terminal(stage, "list")
    checks.check("     and in a terminal", status == 0 and fits(shown) and "日本" in shown, shown)
    checks.check("     with states, reasons and ages", "parked (on_hold)" in shown
                 and re.search(r" \d+[sm]  ", shown), shown)
    hours = [time.strftime("%H:", time.gmtime(at + 9 * 3600)) for at in (stage.begun, time.time())]
    checks.check("     in local time", any(f"  {hour}" in shown for hour in hours), (hours, shown))
    ids = [line.split()[0] for line in piped.stdout.splitlines()[1:]]
    checks.check("     every short id finds its request", all(
        stage.run("expungectl", "show", short).returncode == 0 for short in ids), ids)


def prefixes(checks, stage):
    ids = sorted(item["id"] for item in requests(stage))
    many = stage.run("expungectl", "cancel", ids[0][:4])
    checks.check("an ambiguous id is refused with its candidates", many.returncode == 64
                 and f"the ids of {len(ids)} requests begin with" in many.stderr and fits(many.stderr), many.stderr)
    none = stage.run("expungectl", "show", "ffff")
    checks.check("an id that no request has is not found", none.returncode == 3, none.stderr)
    status, page = stage.http("GET", f"/v1/requests?id_prefix={ids[1][:18]}")
    checks.check("the service finds ids by their beginning", status == 200
                 and [item["id"] for item in page["items"]] == [ids[1]], page)


def shows(checks, stage):
    by_state = states(stage)
    scheduled = stage.run("expungectl", "show", by_state["scheduled"]).stdout
    checks.check("show says when a scheduled request begins", re.search(
        r"begins: \d{4}-.*\(in (1h|2h|\d{1,2}m)\)", scheduled), scheduled)
    parked = stage.run("expungectl", "show", by_state["parked"]).stdout
    why = ("waits for: the end of a hold", "waits since: ", "expungectl release --hold user.")
    checks.check("show says why a request waits, since when, and what to do", all(
        text in parked for text in why), parked)
    coded = stage.run("expungectl", "show", requests(stage)[0]["id"]).stdout
    checks.check("     and what became of a code", "code: apple: that of 20" in coded
                 and "was refused by the provider" in coded and re.search(r"revoke apple +parked +0 ", coded), coded)
    checks.check("     and that nothing was called", re.search(r"check apple +parked +0 ", parked), parked)
    done = stage.run("expungectl", "show", by_state["completed"]).stdout
    checks.check("a store that was purged and verified once says 1 for each", re.search(
        r"purge app-db +done +1 .*\nverify app-db +done +1 ", done), done)


def mistypes(checks, stage):
    wrong = stage.run("expungectl", "stauts")
    checks.check("a mistyped command gets a suggestion", wrong.returncode == 64
                 and wrong.stderr.endswith("hint: did you mean 'status'?\n"), wrong.stderr)
    status = stage.run("expungectl", "--json", "status")
    checks.check("--json may stand before the command", status.returncode == 0
                 and json.loads(status.stdout)["state"] == "running", status.stderr)
    script = f". {ROOT}/completions/expungectl.bash; COMP_WORDS=(expungectl providers check ''); COMP_CWORD=3;" \
        " COMP_LINE='expungectl providers check '; COMP_POINT=25; _expungectl; echo \"${COMPREPLY[@]}\""
    names = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=dict(
        os.environ, PATH=f"{BINARIES}:{os.environ['PATH']}", EXPUNGED_SOCKET=stage.path("runtime/control.sock")))
    checks.check("the shell completes names of providers", "apple" in names.stdout.split(), names.stdout + names.stderr)


def waits(checks, stage):
    by_state = states(stage)
    done, parked = by_state["completed"], by_state["parked"]
    for words, code in (((done,), 0), ((done, parked), 10), ((parked, done), 10)):
        ended = stage.run("expungectl", "wait", *words)
        checks.check(f"wait for {len(words)} ends with {code}", ended.returncode == code, ended.stderr)


def watches(checks, stage):
    once = stage.run("expungectl", "watch", "--once")
    checks.check("watch --once prints the state", once.returncode == 0 and fits(once.stdout)
                 and "\x1b" not in once.stdout and "PROVIDER" in once.stdout, once.stdout)
    status, shown = in_terminal(stage, "watch", "--interval", "1", until=lambda text: text.count("\x1b[2J") >= 2
                                and "a minute completed" in text and "\x1b[1m" in text)
    checks.check("watch ends with Ctrl-C", status in (-signal.SIGINT, 130), status)
    checks.check("     shows several states with a rate, in color, within 80 columns", fits(shown)
                 and shown.count("\x1b[2J") >= 2 and "a minute completed" in shown and "\x1b[1m" in shown, shown)
    program = os.path.join(BINARIES, "expungectl")
    piped = subprocess.run(["bash", "-c", f"{program} watch --interval 1 | head -1"], capture_output=True, text=True,
                           timeout=HANG_S, env=dict(os.environ, EXPUNGED_SOCKET=stage.path("runtime/control.sock")))
    checks.check("     and ends when nobody reads", piped.stdout.startswith("expunged "), piped.stderr)
    stage.stop()
    gone = stage.run("expungectl", "watch", "--once")
    checks.check("     without a service, watch --once says so", gone.returncode == 5, gone.stderr)
    stage.starts()


def progresses(checks, stage):
    for words in (("ledger", "verify"), ("vault", "rotate"), ("replay", "--since", "2026-01-01T00:00:00Z", "--drill")):
        piped = stage.run("expungectl", *words)
        checks.check(f"{' '.join(words[:2])} shows no progress in a pipe", piped.returncode == 0
                     and not piped.stderr and "\r" not in piped.stdout, piped.stderr)
        status, shown = in_terminal(stage, *words)
        checks.check("     and ends in a terminal", status == 0, shown)


def sentences(checks, stage):
    for words in (("providers", "check", "apple"), ("stores", "check", "app-db")):
        works = stage.run("expungectl", *words)
        checks.check(f"{' '.join(words)} says in a sentence that it works", works.returncode == 0
                     and works.stdout.startswith(f"'{words[2]}' works: "), works.stdout)
    stage.sandbox.close()
    for words in ((), ("--json",)):
        broken = stage.run("expungectl", *words, "providers", "check", "apple")
        said = json.loads(broken.stdout)["summary"] if words else broken.stdout.split("\n")[0]
        checks.check("     and of a provider that is not there host, reason and remedy", broken.returncode == 1
                     and re.fullmatch(r"'apple' does not work: unreachable: host '.*':"
                                      r" connection refused at port \d+; check .*", said), said)
