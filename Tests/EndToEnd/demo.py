"""`make demo` as a stranger meets it: it holds what it says, and neither its end nor Ctrl-C leaves anything behind."""

import os
import re
import signal
import subprocess
import tempfile

from checks import comes_true
from stage import ROOT

SCRIPT = os.path.join(ROOT, "scripts/demo")
# Well inside of the second of its five parts, with the daemon at work.
CUT_AFTER = 9


def demo(checks, _):
    plays(checks)
    is_cut(checks)


def plays(checks):
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run([SCRIPT], env={**os.environ, "TMPDIR": place}, capture_output=True,
                              text=True, timeout=120)
        held = re.search(r"(\d+) expectations held, in ", done.stdout)
        checks.check("every expectation of the demo holds", done.returncode == 0 and held
                     and int(held[1]) == done.stdout.count(" ok  "), done.stdout[-1500:] + done.stderr)
        left(checks, "after its end", place)


def is_cut(checks):
    with tempfile.TemporaryDirectory() as place:
        # A terminal sends Ctrl-C to all processes of the group; one that a shell put into the background
        # ignores it, and so would all that come of it.
        demo = subprocess.Popen([SCRIPT], env={**os.environ, "TMPDIR": place}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        count = 0
        for line in demo.stdout:
            count += " ok  " in line
            if count == CUT_AFTER:
                break
        checks.check("its programs are at work", len(working_in(place)) >= 2, working_in(place))
        os.killpg(demo.pid, signal.SIGINT)
        rest = demo.communicate(timeout=30)[0]
        checks.check("Ctrl-C ends the demo with 130 and no traceback",
                     demo.returncode == 130 and "Traceback" not in rest, (demo.returncode, rest[-1500:]))
        left(checks, "after Ctrl-C", place)


def left(checks, when, place):
    checks.check(f"no process is left {when}", comes_true(lambda: not working_in(place), 5),
                 working_in(place))
    checks.equal(f"no file is left {when}", os.listdir(place), [])


def working_in(place):
    """The processes that were started on files below a directory."""
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(place in word for word in command):
            found.append(os.path.basename(command[0]))
    return found
