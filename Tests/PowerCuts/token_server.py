"""A provider whose tokens are a table, with a world of its own for each restart of the daemon."""

import http.server
import json
import ssl
import threading
import time
import urllib.parse


class TokenServer:
    """RFC 7009 and RFC 7662 at /WORLD/revoke and /WORLD/introspect."""

    def __init__(self, certificate, key, revoked):
        """`revoked` is called with each token of the first world before the daemon is answered."""
        self.worlds, self.lock = {}, threading.Lock()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_POST(self):
                form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                _, world, action = self.path.split("/")
                body = owner.answer(world, action, form["token"][0])
                self.send_response(200 if body is not None else 404)
                data = json.dumps(body or {}).encode()
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.revoked = revoked
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server = QuietServer(("127.0.0.1", 0), Handler, context)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, world, action):
        return f"https://localhost:{self.port}/{world}/{action}"

    def open(self, world, tokens, dead):
        """Makes a world in which the tokens live, all but the dead ones."""
        with self.lock:
            self.worlds[world] = {token: 0 if token in dead else None for token in tokens}

    def answer(self, world, action, token):
        with self.lock:
            table = self.worlds.get(world)
            if table is None:
                return None
            is_live = token in table and table[token] is None
            if action == "introspect":
                return {"active": is_live}
            if is_live:
                table[token] = time.time_ns()
                self.revoked(world, token)
            return {}

    def revoked_at(self, world):
        """When each token of a world ended, in nanoseconds; those that live are not there."""
        with self.lock:
            return {token: at for token, at in self.worlds[world].items() if at is not None}

    def forget(self, world):
        with self.lock:
            del self.worlds[world]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class QuietServer(http.server.ThreadingHTTPServer):
    """Greets in the thread of the connection, and minds no client that is killed."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, handler, context):
        super().__init__(address, handler)
        self.context = context

    def finish_request(self, request, client_address):
        with self.context.wrap_socket(request, server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)

    def handle_error(self, request, client_address):
        pass
