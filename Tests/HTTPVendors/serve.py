#!/usr/bin/env python3
"""Stand-ins for the APIs of vendors, each below its own path, over TLS or on plain loopback.

usage: serve.py CERTIFICATE KEY    prints its port; ends when its standard input does
       serve.py --plain PORT       for the end-to-end tests

Beside the vendors, for tests:
  GET  /_state/VENDOR         {"victim": things left, "others": digest of all else, "calls": [...]}
  POST /_reset/VENDOR         begins anew; the body may have {"user": the victim's id}; answers like _state
  GET  /_things/VENDOR        {"id of a thing": {"owner": ...}, ...}; with POST these are all that there is
  POST /_fault/VENDOR         {"at": n, "kind": "500" | "429" | "cut" | "lost" | "html" | ...}
  POST /_hold/VENDOR          {"is_held": whether its jobs stay running}
"""
import hashlib, http.server, importlib, json, os, pathlib, ssl, sys, threading, time, urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from vendors.vendor import Answer

lock = threading.RLock()
names = [p.stem for p in pathlib.Path(__file__).with_name("vendors").glob("*.py") if p.stem not in ("vendor", "signature", "__init__")]
kinds = {name.replace("_", "-"): importlib.import_module(f"vendors.{name}").Vendor for name in names}
vendors, faults, calls = {}, {}, {}


def reset(name, user="ann"):
    vendors[name] = kinds[name](user)
    faults[name], calls[name] = {}, []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes; the second would wait 40 ms for the first one's delayed acknowledgement.
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def say(self, status, body, headers=()):
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        if data and "Content-Type" not in dict(headers):
            self.send_header("Content-Type", "application/json; charset=utf-8")
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        raw, _, query = self.path.partition("?")
        first, _, rest = raw.lstrip("/").partition("/")
        with lock:
            if first.startswith("_"):
                return self.administer(first, rest, body)
            if first not in vendors:
                return self.say(404, {"error": "no such vendor"})
            calls[first].append(f"{self.command} /{rest}" + (f"?{query}" if query else ""))
            fault = faults[first].pop(len(calls[first]), None) or faults[first].get(0)
            if fault and self.fail(fault):
                return
            answer = self.ask(first, rest, query, body)
            if fault == "lost":
                self.close_connection = True
                return
        self.say(answer.status, answer.body, answer.headers)

    def ask(self, first, rest, query, body):
        vendor = vendors[first]
        vendor.base = f"{self.server.scheme}://{self.headers['Host']}/{first}"
        vendor.raw = (f"/{first}/{rest}", query, body)
        kind = (self.headers.get("Content-Type") or "").split(";")[0]
        data = None
        if kind == "application/json":
            try:
                data = json.loads(body)
            except ValueError:
                return Answer(400, {"error": "no JSON"})
        elif kind == "application/x-www-form-urlencoded":
            data = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
        pairs = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        return vendor.serve(self.command, "/" + rest, pairs, data, self.headers)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = serve

    def administer(self, first, name, body):
        data = json.loads(body or b"{}")
        if first == "_reset":
            reset(name, data.get("user", "ann"))
        elif first == "_fault":
            faults[name] = {data["at"]: data["kind"]}
            calls[name] = []
        elif first == "_hold":
            vendors[name].is_held = data["is_held"]
        elif first == "_things":
            if self.command == "POST":
                vendors[name].things = data
            return self.say(200, vendors[name].things)
        if first in ("_state", "_reset"):
            vendor = vendors[name]
            others = json.dumps(vendor.others(), sort_keys=True).encode()
            return self.say(200, {"victim": vendor.left(), "others": hashlib.sha256(others).hexdigest(),
                                  "calls": calls[name]})
        self.say(200, {})

    def fail(self, kind):
        """Whether the call ends here."""
        if kind in ("500", "502", "400", "401", "403", "404", "409"):
            self.say(int(kind), {"error": "fault"})
        elif kind in ("429", "503"):
            self.say(int(kind), {"error": "slow down"}, [("Retry-After", "2")])
        elif kind == "cut":
            self.close_connection = True
        elif kind == "html":
            self.say(200, b"<html>maintenance</html>", [("Content-Type", "text/html")])
        elif kind == "redirect":
            self.say(302, None, [("Location", "https://localhost:1/")])
        elif kind == "twice":
            self.say(200, b'{"a": 1, "a": 2}')
        elif kind == "big":
            self.say(200, b'{"a": "' + b"x" * (9 << 20) + b'"}')
        elif kind == "silent":
            time.sleep(2.5)
            self.close_connection = True
        else:
            return False
        return True


for name in kinds:
    reset(name)
plain = sys.argv[1] == "--plain"
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if plain else 0), Handler)
server.daemon_threads = True
# Clients go away in the middle, as the tests ask.
server.handle_error = lambda *arguments: None
server.scheme = "http" if plain else "https"
if not plain:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[1:3])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
os._exit(0)
