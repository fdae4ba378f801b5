#!/usr/bin/env python3
"""A receiver of erasure webhooks over TLS, with an own check of the signature and with faults by path.

usage: webhook_receiver.py CERTIFICATE KEY SECRET    prints its port; ends when its standard input does
"""
import base64, hashlib, hmac, http.server, json, os, ssl, sys, threading

certificate, key, secret = sys.argv[1:4]
rows = {"ann": 5, "bob": 7}
removed = {}
seen = []
lock = threading.Lock()


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes; the second would wait 40 ms for the first one's delayed acknowledgement.
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def say(self, status, body, kind="application/json", headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        with lock:
            self.say(200, {"rows": rows, "seen": seen})

    def do_PUT(self):
        """All rows are those of the body, for tests."""
        with lock:
            rows.clear()
            rows.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.say(200, rows)

    def is_signed(self, body):
        sent, at = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        message = f"{sent}.{at}.".encode() + body
        code = base64.b64encode(hmac.new(base64.b64decode(secret), message, hashlib.sha256).digest()).decode()
        return hmac.compare_digest("v1," + code, self.headers["webhook-signature"] or "")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name = self.headers["webhook-id"]
        is_new = name not in [entry["id"] for entry in seen]
        with lock:
            seen.append({"id": name, "path": self.path, "signed": self.is_signed(body)})
        if not seen[-1]["signed"]:
            return self.say(401, {})
        question = json.loads(body)
        fault = getattr(self, "fault_" + self.path.strip("/"), None)
        if fault and fault(question, name, is_new):
            return
        self.answer(question, name)

    def answer(self, question, name):
        user = question.get("user_id")
        if question["operation"] == "diagnose":
            return self.say(200, {"outcome": "ok"})
        if question["operation"] == "verify":
            left = rows.get(user, 0)
            return self.say(200, {"outcome": "remaining", "count": left} if left else {"outcome": "clean"})
        if question["operation"] == "plan":
            return self.say(200, {"outcome": "planned", "entries": [{"name": "rows", "count": rows.get(user, 0)}]})
        if question["operation"] == "users":
            # One to a page.
            left = sorted(name for name in rows if name > question.get("after", ""))
            return self.say(200, {"outcome": "listed", "users": left[:1], "next": left[0] if left[1:] else None})
        with lock:
            removed[name] = removed.get(name, 0) + rows.get(user, 0)
            rows[user] = 0
        self.say(200, {"outcome": "purged", "entries": [{"name": "rows", "count": removed[name]}],
                       "residual_copies": [{"text": "backups of the CRM", "until": "2027-01-01T00:00:00Z"}]})

    def fault_cut(self, question, name, is_new):
        """Removes two rows, then the line goes dead; the second try of the same work goes on."""
        if not is_new or question["operation"] != "purge":
            return False
        with lock:
            rows[question["user_id"]] -= 2
            removed[name] = 2
        self.close_connection = True
        return True

    def fault_html(self, question, name, is_new):
        self.say(200, b"<html>welcome</html>", "text/html")
        return True

    def fault_truncated(self, question, name, is_new):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b'{"outcome":"purged"')
        self.close_connection = True
        return True

    def fault_unfinished(self, question, name, is_new):
        self.say(200, b'{"outcome":"purged"')
        return True

    def fault_big(self, question, name, is_new):
        self.say(200, b'{"outcome":"purged","x":"' + b"x" * 200_000 + b'"}')
        return True

    def fault_throttled(self, question, name, is_new):
        self.say(429, {}, headers=[("Retry-After", "90")])
        return True

    def fault_redirect(self, question, name, is_new):
        self.say(307, {}, headers=[("Location", "/")])
        return True

    def fault_silent(self, question, name, is_new):
        # Until the other side has given up.
        self.close_connection = True
        self.connection.settimeout(120)
        try:
            self.rfile.read(1)
        except OSError:
            pass
        return True


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
os._exit(0)
