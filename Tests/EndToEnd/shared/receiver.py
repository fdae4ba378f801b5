"""A subscriber of the service: an HTTPS server that checks each signature by itself, and fails in every way."""

import base64
import collections
import hashlib
import hmac
import http.server
import json
import os
import secrets
import socket
import ssl
import threading
import time

from checks import HANG_S
from store_servers import make_certificate

OTHER_KEY = "whsec_" + base64.b64encode(b"another key of 32 bytes in length").decode()
Message = collections.namedtuple("Message", "id type data headers body at answer")

SECTION = """
[[subscriber]]
name = "{name}"
url = "https://localhost:{port}/{name}"
secret_credential = "{name}-messages"
ca_file = "{ca}"
allow_private_addresses = true
timeout = "{timeout}"
"""


class Receiver:
    """Adds its section to the stage's configuration; `answer` says what the next ones get."""

    def __init__(self, stage, name, timeout="30s", extra=""):
        self.name, self.seen, self.refused = name, [], []
        self.lock = threading.Lock()
        # A status, "hang", "redirect", "reset", "large" or "garbage".
        self.answer = 200
        self.secret = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        place = stage.path(f"receiver-{name}")
        os.makedirs(place)
        self.certificate, key = make_certificate(place)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        self.port, self.server = 0, None
        self.open()
        with open(stage.path(f"credentials/{name}-messages"), "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(self.secret + "\n")
        stage.canaries.add(self.secret[6:])
        with open(stage.path("expunged.toml"), "a") as file:
            file.write(SECTION.format(name=name, port=self.port, ca=self.certificate, timeout=timeout) + extra)

    def open(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        self.server.daemon_threads = True
        self.server.socket = self.context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def is_signed(self, headers, body):
        at = headers.get("webhook-timestamp", "0")
        key = base64.b64decode(self.secret[6:])
        code = hmac.new(key, f"{headers.get('webhook-id')}.{at}.".encode() + body, hashlib.sha256).digest()
        return abs(time.time() - int(at)) < 300 and \
            hmac.compare_digest("v1," + base64.b64encode(code).decode(), headers.get("webhook-signature", ""))

    def delivered(self):
        """Messages that were answered with success, by their id."""
        with self.lock:
            return {one.id: one for one in self.seen if one.answer == 200}

    def states(self):
        """The states of each request, as delivered, each once and in the order of the sequence."""
        states = collections.defaultdict(set)
        for one in self.delivered().values():
            if one.type.startswith("request."):
                states[one.data["request_id"]].add((one.data["sequence"], one.data["state"]))
        return {request: [state for _, state in sorted(found)] for request, found in states.items()}

    def _handler(receiver):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = HANG_S

            def log_message(self, *arguments):
                pass

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    pass

            def do_POST(self):
                if not receiver.server:  # A connection that was kept.
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = receiver.answer(self.path) if callable(receiver.answer) else receiver.answer
                is_good = receiver.is_signed(headers, body) and self.path == f"/{receiver.name}"
                content = json.loads(body)
                with receiver.lock:
                    (receiver.seen if is_good else receiver.refused).append(
                        Message(headers.get("webhook-id"), content["type"], content["data"], headers, body, time.time(),
                                answer if is_good else None))
                getattr(self, f"do_{answer}", lambda: self.say(answer if is_good else 401))()

            def say(self, status, *headers, body=b""):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_hang(self):
                # Until the other side has given up.
                self.close_connection = True
                self.rfile.read(1)

            def do_redirect(self):
                self.say(302, ("Location", f"https://localhost:{receiver.port}/elsewhere"))

            def do_reset(self):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                self.connection.close()
                self.close_connection = True

            def do_large(self):
                self.say(200, body=b"x" * (1 << 20))

            def do_garbage(self):
                self.wfile.write(b"\0\xff" * 400)
                self.close_connection = True

        return Handler
