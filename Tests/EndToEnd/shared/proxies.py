"""A proxy over TLS before the server of a store."""

import http.client
import http.server

from checks import HANG_S
from store_servers import serve_over_tls


class Proxy:
    """Passes every call on to a port of this machine; a subclass may answer some of them itself."""

    def __init__(self, port, context, certificate, key):
        self.to, self.context = port, context
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                kept = {name: value for name, value in self.headers.items()
                        if name.lower() not in ("host", "connection", "content-length")}
                status, headers, text = proxy.answer(self.command, self.path, body, kept)
                self.send_response(status)
                for name, value in headers:
                    if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = handle_one

        self.server = serve_over_tls(Handler, certificate, key)
        self.port = self.server.server_port

    def answer(self, method, path, body, headers):
        """(status, headers, body)."""
        return self.pass_on(method, path, body, headers)

    def pass_on(self, method, path, body=b"", headers=None):
        connection = http.client.HTTPSConnection("localhost", self.to, timeout=HANG_S, context=self.context)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        found = answer.status, answer.getheaders(), answer.read()
        connection.close()
        return found

    def close(self):
        self.server.shutdown()
