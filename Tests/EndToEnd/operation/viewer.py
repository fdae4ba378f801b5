"""The viewers' socket and its web page: who may connect, what each route answers, that no answer has what
was planted, and what a browser shows behind a real proxy."""

import base64
import hashlib
import html
import html.parser
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request

from canaries import canary
from checks import HANG_S, comes_true
from scenario import scenario
from stage import ROOT, Stage
from store_servers import free_port

MEMBER, OUTSIDER, GROUP = 64_201, 64_202, 64_210
VIEWED = {
    "/", "/metrics", "/v1/health", "/v1/holds", "/v1/ledger", "/v1/ledger/entries/{from}", "/v1/openapi.json",
    "/v1/providers", "/v1/reports/{month}", "/v1/requests", "/v1/status", "/v1/stores"}
CONNECT = """
import os, socket, sys
os.setgroups([int(group) for group in sys.argv[3:]])
os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
peer = socket.socket(socket.AF_UNIX)
peer.connect(sys.argv[1])
peer.sendall(b"GET /v1/health HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
print(peer.recv(12).decode())
"""
FRAME = """<!DOCTYPE html><body style="margin: 0"><iframe id="page" width="390" height="2700" style="border: 0" srcdoc="{}">
</iframe><script>onload = () => {{ document.title = page.contentDocument.documentElement.scrollWidth }}</script>"""
NGINX = """
daemon off;
user root;
pid {place}/nginx.pid;
error_log {place}/error.log;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {place}; proxy_temp_path {place}; fastcgi_temp_path {place}; uwsgi_temp_path {place};
  scgi_temp_path {place};
  server {{
    listen 127.0.0.1:{port};
{location}
  }}
}}
"""


@scenario()
def viewer(checks, seed):
    stage = Stage(checks, seed)
    stage.unjudged = "requests stay open on purpose"
    try:
        plant(checks, stage)
        admits(checks, stage)
        answers(checks, stage)
        bundled(checks, stage)
        if shutil.which("nginx") is None:
            checks.skip("the page behind nginx: not installed")
        else:
            proxied(checks, stage)
    finally:
        stage.close(keep=bool(checks.failed))


def plant(checks, stage):
    """Requests in several states, and personal data wherever a caller or an operator can write some."""
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(f'[server]\nviewer_group = "{GROUP}"\n')
    os.chmod(stage.directory, 0o711)
    os.chmod(stage.path("runtime"), 0o711)
    stage.starts()
    done, waits, held, later = stage.new_users(4)
    stage.mail = f"{canary(stage.random)}@example.org"
    stage.reason = f"asked by {canary(stage.random)}"
    stage.canaries.add(stage.mail, stage.reason)
    stage.store(waits, stage.new_tokens(1)[0])
    ids = {"done": stage.delete(done)[1]["id"]}
    checks.check("a request completes", comes_true(lambda: state(stage, ids["done"]) == "completed"),
                 stage.http("GET", f"/v1/requests/{ids['done']}")[1])
    stage.http("POST", "/v1/providers/apple/pause", {})
    ids["waits"] = stage.delete(waits)[1]["id"]
    stage.http("POST", f"/v1/users/{held}/hold", {"reason": stage.reason})
    ids["held"] = stage.delete(held)[1]["id"]
    ids["mail"] = stage.http("POST", "/v1/requests", {
        "kind": "delete_account", "user_id": stage.mail, "options": {"grace_s": 864_000}})[1]["id"]
    ids["later"] = stage.http("POST", "/v1/requests", {
        "kind": "delete_account", "user_id": later, "options": {"grace_s": 864_000}})[1]["id"]
    placed = stage.http("PUT", "/v1/holds/case-7", {
        "store": "app-db", "table": "posts", "where": [f"body={stage.mail}"], "reason": stage.reason})
    checks.equal("the hold with planted data is there", placed[0], 200)
    stage.http("POST", f"/v1/requests/{ids['later']}/hold", {"reason": stage.reason})
    with open(stage.path("expunged.toml"), "a") as file:
        file.write(f'"{stage.mail}" = 1\n')
    checks.equal("a reload is refused with planted data", stage.http("POST", "/v1/configuration/reload", {})[0], 422)
    checks.check("a request waits", comes_true(lambda: state(stage, ids["waits"]) == "parked"), state(stage, ids["waits"]))
    checks.equal("the operator finds the user's request", len(found(stage, stage.mail)), 1)
    stage.ids = ids


def state(stage, request):
    return stage.http("GET", f"/v1/requests/{request}")[1]["state"]


def found(stage, user):
    return stage.http("GET", f"/v1/requests?user_id={urllib.request.quote(user)}")[1]["items"]


def admits(checks, stage):
    """Who may connect is for the file system to say."""
    path = stage.path("runtime/viewer.sock")
    mode = os.stat(path)
    checks.equal("the socket belongs to the group", (mode.st_mode & 0o777, mode.st_gid), (0o660, GROUP))

    def connect(socket_path, uid, *groups):
        done = subprocess.run([sys.executable, "-c", CONNECT, socket_path, str(uid), *map(str, groups)],
                              capture_output=True, text=True)
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    checks.equal("a member of the group is answered", connect(path, MEMBER, GROUP), "HTTP/1.1 200")
    checks.check("another user is not", "Permission denied" in connect(path, OUTSIDER), connect(path, OUTSIDER))
    for name in ("control", "submit"):
        said = connect(stage.path(f"runtime/{name}.sock"), MEMBER, GROUP)
        checks.check(f"the group opens no {name}.sock", "Permission denied" in said, said)


def ask(stage, method, path, body=None):
    """(status, fields, body) as they are on the wire."""
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(HANG_S)
    peer.connect(stage.path("runtime/viewer.sock"))
    text = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
    peer.sendall(head.encode() + b"\r\n" + text)
    answer = b""
    while chunk := peer.recv(65536):
        answer += chunk
    peer.close()
    head, _, rest = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    return int(lines[0].split()[1]), dict(line.split(": ", 1) for line in lines[1:]), rest


def answers(checks, stage):
    with open(os.path.join(ROOT, "docs/openapi.json")) as file:
        paths = json.load(file)["paths"]
    values = {"{id}": stage.ids["waits"], "{user_id}": stage.mail.replace("@", "%40"), "{from}": "0", "{name}": "app-db",
              "{provider}": "apple", "{identity}": stage.ids["waits"], "{code}": "c", "{month}": "2026-11", "{message_id}": "1",
              "{view}": "all"}
    said, allowed, wrong = {}, set(), []
    for pattern, operations in paths.items():
        path = pattern
        for name, value in values.items():
            path = path.replace(name, value)
        for method, operation in operations.items():
            status, fields, body = ask(stage, method.upper(), path, {} if method in ("post", "put") else None)
            said[f"{method} {pattern}"] = json.dumps(fields).encode() + body
            if "viewer" in operation["x-roles"]:
                allowed.add(pattern)
                if status != 200 or method != "get":
                    wrong.append((method, pattern, status, body[:200]))
            elif status != 403 or b"only reads" not in body:
                wrong.append((method, pattern, status, body[:200]))
    checks.equal("each route answers 200 to viewers, or 403 with the reason", wrong, [])
    checks.equal("these routes are open to viewers", sorted(allowed - VIEWED), [])
    checks.check("and no other", len(said) > 40 and {"/", "/metrics", "/v1/status"} <= allowed, sorted(allowed))
    said["user_id"] = ask(stage, "GET", f"/v1/requests?user_id={values['{user_id}']}")[2]
    checks.check("a viewer cannot look for a user", b'"forbidden"' in said["user_id"], said["user_id"])
    for name, request in stage.ids.items():
        said[f"page of {name}"] = b"\n".join(ask(stage, "GET", f"/?request={request}")[2:])
        checks.check(f"the page shows the request that is {name}", request.encode() in said[f"page of {name}"])
    said["typed"] = ask(stage, "GET", f"/?request={stage.mail}".replace("@", "%40"))[2]
    checks.check("what is typed is not repeated", b"This is no request id" in said["typed"])
    hits = [(name, hit[:6]) for name, text in said.items() for hit in stage.canaries.found(text)]
    checks.equal(f"none of {len(stage.canaries)} planted texts is in {len(said)} answers", hits, [])
    whole = json.dumps([stage.http("GET", path)[1] for path in ("/v1/requests", "/v1/holds", "/v1/status")]).encode()
    seen = stage.canaries.found(whole)
    checks.check("operators see them, so the search can find them",
                 {stage.mail, stage.reason} <= set(seen), [hit[:6] for hit in seen])
    checks.check("the page counts what is there", b"<strong>4</strong> open" in said["get /"],
                 re.findall(rb"<strong>.*", said["get /"]))
    policy(checks, *ask(stage, "GET", "/"))


def bundled(checks, stage):
    """Made by an operator, who sees more than what may leave the machine."""
    place, programs = stage.path("bundle"), stage.path("programs")
    os.mkdir(programs)
    # There is no unit whose sandbox the check could use.
    check = shlex.join([*stage.arguments(), "--check", "--json"])
    for name, line in (("journalctl", "echo 2026-11-23T03:00:00+0000 expunged[1]: Started."),
                       ("expunged", f"[ $1 = --version ] || exec {check}")):
        with open(f"{programs}/{name}", "w") as file:
            file.write(f"#!/bin/sh\n{line}\n")
            os.chmod(file.fileno(), 0o755)
    path = f"{programs}:{os.environ['PATH']}"
    done = stage.run("expungectl", "support-bundle", f"{place}.tar", PATH=path)
    with tarfile.open(f"{place}.tar") as archive:
        archive.extractall(place)
    place += "/expunged-support"
    made = (done.returncode, len(os.listdir(place)))
    checks.equal("an operator makes a support bundle of ten files", made, (0, 10))
    hits = stage.canaries.found_in_files([place])
    checks.equal("nothing that was planted is in it", hits, [])
    with open(f"{place}/status.json") as file:
        checks.check("it has the alarms", "configuration_refused" in json.load(file)["alarms"])
    with open(f"{place}/check.json") as file:
        found = json.load(file)
    checks.check("it has the check's findings about the refused file",
                 any("code" in one and "line" in one for one in found), found)


def policy(checks, status, fields, body):
    style = body.split(b"<style>")[1].split(b"</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    checks.equal("the policy allows one style and nothing else", fields.get("content-security-policy"),
                 f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; base-uri 'none'; "
                 "frame-ancestors 'none'")
    checks.equal("the page is HTML that nobody keeps",
                 (status, fields.get("content-type"), fields.get("cache-control")),
                 (200, "text/html; charset=utf-8", "no-store"))
    tree = Tree(body.decode())
    checks.equal("every element is closed", tree.wrong, [])


class Tree(html.parser.HTMLParser):
    """Reads a page and notes elements that are not closed in order."""

    VOID = ("meta", "input", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong = [], []
        self.feed(text)
        self.wrong += self.open

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def proxied(checks, stage):
    """With the location that the guide prints, but for the path of the socket and the password."""
    with open(os.path.join(ROOT, "docs/guides/status-page.md")) as file:
        block = re.search(r"```nginx\n(.*?)```", file.read(), re.S).group(1)
    location = re.search(r"location .*?\n}", block, re.S).group(0)
    location = re.sub(r"\n\s*auth_basic[^\n]*", "", location)
    location = location.replace("/run/expunged/viewer.sock", stage.path("runtime/viewer.sock"))
    port = free_port()
    place = stage.path("nginx")
    os.makedirs(place)
    with open(f"{place}/nginx.conf", "w") as file:
        file.write(NGINX.format(place=place, port=port, location=location))
    proxy = subprocess.Popen(["nginx", "-c", f"{place}/nginx.conf", "-p", place],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        base = f"http://127.0.0.1:{port}"
        if not checks.check("the page comes through nginx", comes_true(lambda: get(f"{base}/expunged/")[0] == 200),
                            get(f"{base}/expunged/")):
            return
        status, fields, body = get(f"{base}/expunged/?request={stage.ids['waits']}")
        checks.check("so does a look-up", stage.ids["waits"].encode() in body, body[:500])
        policy(checks, status, fields, body)
        for path in ("/expunged/v1/status", "/v1/status", "/metrics", "/expunged/metrics"):
            checks.equal(f"nginx publishes no {path}", get(base + path)[0], 404)
        if shutil.which("chromium") is None:
            checks.skip("the page in a browser: no chromium")
        else:
            browsed(checks, stage, f"{base}/expunged/")
    finally:
        proxy.send_signal(signal.SIGTERM)
        proxy.wait(HANG_S)


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=HANG_S) as answer:
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, {}, b""
    except OSError as error:
        return 0, {}, repr(error).encode()


def browsed(checks, stage, url):
    """The browser draws it with its style, loads nothing else, and complains about nothing."""
    for name, path in (("page", ""), ("request", f"?request={stage.ids['waits']}")):
        done = draw(stage, f"{name}-wide", url + path)
        console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line and "favicon" not in line]
        checks.equal(f"the browser has no complaint about the {name}", console, [])
        # A window has at least 500 pixels: a frame has fewer, and measures whether the page fits.
        frame = stage.path(f"{name}.html")
        with open(frame, "w") as file:
            file.write(FRAME.format(html.escape(get(url + path)[2].decode())))
        draw(stage, f"{name}-narrow", f"file://{frame}")
        tree = browse(stage, "--dump-dom", f"file://{frame}").stdout
        width = re.search(r"<title>(\d+)</title>", tree)
        checks.check(f"the {name} fits 390 pixels", width and int(width[1]) <= 390, width)


def draw(stage, name, url):
    picture = stage.path(f"{name}.png")
    done = browse(stage, f"--screenshot={picture}", url)
    stage.checks.check(f"the browser draws {name}", os.path.exists(picture) and os.path.getsize(picture) > 20_000,
                       done.stderr)
    if "VIEWER_PICTURES" in os.environ:
        shutil.copy(picture, os.environ["VIEWER_PICTURES"])
    return done


def browse(stage, *words):
    return subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
         f"--user-data-dir={stage.path('browser')}", "--window-size=1100,2800", *words],
        capture_output=True, text=True, timeout=HANG_S)
