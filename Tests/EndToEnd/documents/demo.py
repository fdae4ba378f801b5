"""`make demo` as a stranger meets it: it holds what it says, and neither its end nor Ctrl-C leaves anything behind."""

import fcntl
import os
import re
import signal
import subprocess
import tempfile
import threading

from checks import HANG_S, comes_true
from scenario import scenario
from stage import BINARIES, ROOT

SCRIPT = os.path.join(ROOT, "scripts/demo")
# Ctrl-C comes when so many expectations held: in the second of the demo's five parts, while the daemon works.
CUT_AFTER = 9


@scenario(gate={})
def demo(checks, _):
    plays(checks)
    is_cut(checks)


def environment(place):
    return {**os.environ, "TMPDIR": place, "EXPUNGED_BIN": BINARIES}


def plays(checks):
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run([SCRIPT], env=environment(place), capture_output=True, text=True, timeout=600)
        held = re.search(r"(\d+) expectations held, in ", done.stdout)
        checks.check("every expectation of the demo holds", done.returncode == 0 and held
                     and int(held[1]) == done.stdout.count(" ok  "), done.stdout[-1500:] + done.stderr)
        left(checks, "after its end", place)


def is_cut(checks):
    with tempfile.TemporaryDirectory() as place:
        # The pipe has room for one write (O_DIRECT in pipe(2)): the demo gets no further than is read here.
        out, into = os.pipe2(os.O_CLOEXEC | os.O_DIRECT)
        fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
        # The signal below goes to the whole process group, as Ctrl-C at a terminal does. A shell lets its background
        # processes ignore it, and children inherit that: so the default is set again.
        demo = subprocess.Popen([SCRIPT], env=environment(place), stdout=into, stderr=subprocess.STDOUT,
                                start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        os.close(into)
        with open(out) as said:
            count = 0
            for line in said:
                count += " ok  " in line
                if count == CUT_AFTER:
                    break
            os.killpg(demo.pid, signal.SIGSTOP)
            checks.check("its programs are at work", count == CUT_AFTER and len(working_in(place)) >= 2, (count, working_in(place)))
            fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, 1 << 16)
            os.killpg(demo.pid, signal.SIGINT)
            os.killpg(demo.pid, signal.SIGCONT)
            rest = []
            reader = threading.Thread(target=lambda: rest.extend(said), daemon=True)
            reader.start()
            demo.wait(HANG_S)
            reader.join(HANG_S)
        checks.check("Ctrl-C ends the demo with 130 and no traceback",
                     demo.returncode == 130 and not any("Traceback" in line for line in rest), (demo.returncode, rest[-30:]))
        left(checks, "after Ctrl-C", place)


def left(checks, when, place):
    checks.check(f"no process is left {when}", comes_true(lambda: not working_in(place)),
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
