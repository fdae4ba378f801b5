"""One running OAuth server that others wrote, and what the test does there besides the daemon."""

import base64
import hashlib
import json
import os
import re
import secrets
import shutil
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from browser import Browser
from checks import HANG_S, comes_true

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ENVIRONMENT = os.path.join(ROOT, ".build/oauth-servers")
REDIRECT = "https://app.example.invalid/callback"


class OAuthServer:
    """A child process; `clients` and `users` exist in it from the start."""

    def __init__(self, program, clients, users, authorize, scope):
        self.authorize, self.scope, self.clients = authorize, scope, clients
        self.directory = tempfile.mkdtemp(prefix="expunged-oauth-")
        self.passwords = {user: secrets.token_urlsafe(18) for user in users}
        self.certify()
        with open(self.path("settings.json"), "w") as file:
            json.dump({"users": self.passwords, "clients": clients, "redirect_uri": REDIRECT}, file)
        python = os.path.join(ENVIRONMENT, "bin/python")
        assert os.path.exists(python), f"{python} is missing: scripts/setup test"
        self.output = open(self.path("server.log"), "w")
        self.process = subprocess.Popen(
            [python, "-B", os.path.join(HERE, program), self.directory], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.output)
        assert comes_true(self.has_come, 60) and self.process.poll() is None, self.said()
        with open(self.path("endpoint")) as file:
            self.issuer = file.read()
        self.context = ssl.create_default_context(cafile=self.path("ca.pem"))
        self.metadata = json.loads(self.fetch("/.well-known/oauth-authorization-server")[1])

    def path(self, name):
        return os.path.join(self.directory, name)

    def has_come(self):
        return os.path.exists(self.path("endpoint")) or self.process.poll() is not None

    def said(self):
        with open(self.path("server.log")) as file:
            return file.read()[-3000:]

    def certify(self):
        """A root of the test's own, and a certificate of it for 127.0.0.1."""
        new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
               "-nodes", "-days", "2"]
        for arguments in (
                ["-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=test root"],
                ["-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=127.0.0.1", "-CA", "ca.pem",
                 "-CAkey", "ca-key.pem", "-addext", "subjectAltName=IP:127.0.0.1",
                 "-addext", "basicConstraints=critical,CA:FALSE"]):
            subprocess.run(new + arguments, cwd=self.directory, check=True, capture_output=True)

    # As the application

    def fetch(self, path, form=None, client=None):
        """(status, body) of a call at a path or URL."""
        headers = {}
        if client:
            pair = f"{client}:{self.clients[client]}".encode()
            headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        request = urllib.request.Request(
            urllib.parse.urljoin(self.issuer, path),
            urllib.parse.urlencode(form).encode() if form else None, headers)
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.context))
        try:
            with opener.open(request, timeout=HANG_S) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def sign_in(self, user, client):
        """A code as the application gets it, with what its exchange needs."""
        verifier = secrets.token_urlsafe(48)
        digest = hashlib.sha256(verifier.encode()).digest()
        query = {
            "response_type": "code", "client_id": client, "redirect_uri": REDIRECT,
            "scope": self.scope, "state": "state", "nonce": secrets.token_urlsafe(12),
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256"}
        back = Browser(self.context, REDIRECT).authorize(
            f"{self.issuer}{self.authorize}?{urllib.parse.urlencode(query)}",
            {"login": user, "username": user, "password": self.passwords[user],
             "answer": "accept", "allow": "Authorize"})
        return {"code": back["code"], "code_verifier": verifier, "redirect_uri": REDIRECT}

    def exchange(self, signed_in, client):
        status, body = self.fetch(
            self.metadata["token_endpoint"], dict(signed_in, grant_type="authorization_code"), client)
        assert status == 200, (status, body)
        return json.loads(body)

    def revoke(self, token, client):
        """What the user or another process does behind the daemon's back."""
        status, body = self.fetch(self.metadata["revocation_endpoint"], {"token": token}, client)
        assert status == 200, (status, body)

    def refuses(self, refresh_token, client):
        status, body = self.fetch(
            self.metadata["token_endpoint"],
            {"grant_type": "refresh_token", "refresh_token": refresh_token}, client)
        return status == 400 and json.loads(body).get("error") == "invalid_grant"

    # As the judge

    def tokens(self, user, client):
        """What its own store says of a user's tokens at a client."""
        self.process.stdin.write("tokens\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("tokens "):
                return [token for token in json.loads(line[7:])
                        if (token["user"], token["client"]) == (user, client)]
        raise AssertionError("the server has ended: " + self.said())

    def calls(self):
        """`METHOD path status` of each call, oldest first."""
        with open(self.path("calls.log")) as file:
            return re.findall(r"((?:GET|POST) \S+ \d+)$", file.read(), re.MULTILINE)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()
        shutil.rmtree(self.directory)
