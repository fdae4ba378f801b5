"""Counts what held and what did not."""

import os
import sys
import time
import traceback


class Checks:
    """Prints PASS or FAIL per check; a scenario that dies is one failure and the others go on."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.failures = []

    def check(self, text, holds, detail=""):
        """Notes whether something held; `detail` is shown only when it did not."""
        if holds:
            self.passed += 1
            print(f"PASS {text}", flush=True)
        else:
            self.failed += 1
            shown = [f"FAIL {text}", *(f"     {line}" for line in str(detail).strip().splitlines()[-25:])]
            print("\n".join(shown), flush=True)
            self.failures += shown
        return bool(holds)

    def equal(self, text, found, expected):
        return self.check(text, found == expected, f"expected {expected!r}, found {found!r}")

    def skip(self, text):
        """Says aloud what was not tried; where CI is set nothing may be left out."""
        self.skipped += 1
        print(f"SKIP {text}", flush=True)
        if "CI" in os.environ:
            self.check(f"nothing is skipped: {text}", False)

    @property
    def summary(self):
        skipped = f", {self.skipped} SKIPPED" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"

    def scenario(self, name, body):
        """Runs one scenario and says how long it took."""
        print(f"---- {name}", flush=True)
        start = time.monotonic()
        try:
            body()
        except Exception as error:  # A broken scenario is a failed check, not the end of the run.
            traceback.print_exc(file=sys.stdout)
            self.check(name, False, error)
        print(f"     {time.monotonic() - start:.1f} s", flush=True)


class TimedOut(Exception):
    pass


# A limit of a wait is there so that a hang ends. No load of the machine may reach it, so none is shorter.
HANG_S = 120
# Whether times, rates and memory are judged, too: only where nothing else runs on the machine.
HOLDS_BARS = "BARS" in os.environ


def comes_true(condition, timeout=HANG_S, pause=0.02):
    """Whether `condition` becomes true before anybody would call it a hang."""
    return within(max(timeout, HANG_S), condition, pause)


def within(seconds, condition, pause=0.02):
    """Whether `condition` becomes true in so many seconds, where the time is what is tried, or the wait may be in vain."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def wait_for(what, condition, timeout=HANG_S, pause=0.05):
    """Asks again until `condition` answers something true, and answers that.

    The other side is a real service manager in another process: there is nothing to await.
    """
    timeout = max(timeout, HANG_S)
    end = time.monotonic() + timeout
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise TimedOut(f"waited {timeout:.0f} s for {what}; it is {answer!r}")
        time.sleep(pause)
