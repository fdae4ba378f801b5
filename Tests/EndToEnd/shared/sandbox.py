"""The provider's stand-in, and what its own log says."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time

from checks import HANG_S, comes_true

CLIENT = "com.example.app"


class Sandbox:
    """One running expunged-sandbox; several daemons may talk to it."""

    def __init__(self, binaries, *flags):
        self.binaries, self.flags = binaries, flags
        self.directory = tempfile.mkdtemp(prefix="expunged-sandbox-")
        # Each code and token that it gave out: (provider, user there, when).
        self.given = {}
        self.prefixes = itertools.count(1)
        self.process = subprocess.Popen(
            [os.path.join(binaries, "expunged-sandbox"), "apple", "--directory", self.directory,
             "--client-id", CLIENT, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        comes_true(lambda: os.path.exists(self.path("endpoint")) or self.process.poll() is not None)
        assert os.path.exists(self.path("endpoint")), f"no sandbox; its process: {self.process.poll()}"
        with open(self.path("endpoint")) as file:
            self.endpoint = file.read().strip()

    def path(self, name):
        return os.path.join(self.directory, name)

    def ask(self, *arguments):
        done = subprocess.run(
            [os.path.join(self.binaries, "expunged-sandbox"), arguments[0], "--directory",
             self.directory, *arguments[1:]], capture_output=True, text=True, timeout=HANG_S, check=True)
        answer = json.loads(done.stdout) if done.stdout.startswith("{") else None
        self._note(arguments, answer or {})
        return answer

    def _note(self, arguments, answer):
        provider = arguments[arguments.index("--provider") + 1] if "--provider" in arguments else "apple"
        user = arguments[arguments.index("--user") + 1] if "--user" in arguments else None
        for one in [*answer.get("tokens", []), answer]:
            for kind in ("code", "refresh_token", "access_token"):
                if one.get(kind) and one.get("user", user):
                    self.given[one[kind]] = (provider, one.get("user", user), time.time())

    def live_grants(self, provider):
        """Users of whom something works, by the provider's own table."""
        return {grant["user"] for grant in self.ask("grants", "--provider", provider)["grants"]
                if grant["state"] == "live" and grant.get("live_tokens", 1)}

    def sign_in(self, user):
        return self.ask("sign-in", "--user", user, "--client-id", CLIENT)

    def refresh_tokens(self, count):
        """Fresh tokens of users whom nobody else has, each with its `subject`."""
        return self.ask("refresh-tokens", "--client-id", CLIENT, "--count", str(count),
                        "--user-prefix", f"user-{next(self.prefixes)}-")["tokens"]

    @contextlib.contextmanager
    def holds_data(self):
        """Its stores answer each call after two seconds: whoever asks one of them is met there."""
        self.ask("fault", "--fault-rate", "1", "--fault-kinds", "delay", "--fault-delay", "2s",
                 "--fault-endpoints", "data")
        try:
            yield
        finally:
            self.ask("fault", *self.flags)

    def fault(self, rate):
        self.ask("fault", "--fault-rate", str(rate))

    def calls(self):
        """Its own log, oldest first."""
        if not os.path.exists(self.path("logs.jsonl")):
            return []
        with open(self.path("logs.jsonl")) as log:
            # The last line may be half written.
            return [json.loads(line) for line in log if line.endswith("\n")]

    def revoked_at(self):
        """When each subject's first revocation was carried out, in milliseconds."""
        first = {}
        for call in self.calls():
            if call.get("endpoint") == "revoke" and call.get("outcome") == "revoked":
                first.setdefault(call["subject"], call["time_unix_ms"])
        return first

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
