"""The provider's stand-in on the host's loopback, which the container shares."""

import json
import os
import shutil
import ssl
import subprocess
import tempfile
import urllib.request

from checks import HANG_S, wait_for


class Provider:
    """One running expunged-sandbox and the commands that play its users and its failures."""

    def __init__(self, program):
        self.directory = tempfile.mkdtemp(prefix="expunged-provider-")
        self.secrets = []
        with open(self.path("output"), "w") as output:
            self.process = subprocess.Popen(
                [program, "apple", "--directory", self.directory], stdout=output, stderr=output)
        self.endpoint = wait_for("the sandbox's endpoint", self._read_endpoint, 20)
        context = ssl.create_default_context(cafile=self.path("ca.pem"))
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))

    def path(self, name):
        return os.path.join(self.directory, name)

    def text(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def _read_endpoint(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"expunged-sandbox ended: {self.text('output')}")
        return os.path.exists(self.path("endpoint")) and self.text("endpoint").strip()

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.endpoint}/sandbox/{path}", data, {"Content-Type": "application/json"})
        with self._opener.open(request, timeout=HANG_S) as answer:
            return json.load(answer)

    def sign_in(self, user):
        """Lets a user sign in and answers the authorization code."""
        answer = self.ask("sign-in", {"user": user, "client_id": "com.example.app"})
        self.secrets.append(answer["code"])
        return answer["code"]

    def fail(self, **plan):
        """Fails calls from now on; without arguments none."""
        self.ask("faults", plan)

    def calls(self):
        """The log of all calls, oldest first."""
        return self.ask("log?limit=100000")["records"]

    def grants(self, user):
        return self.ask(f"grants?user={user}")["grants"]

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
