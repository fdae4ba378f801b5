"""What operators get wrong: `expunged --check` names place, reason and remedy, and the service serves everything else.

`Tests/Daemon/CheckTests.swift` has the mistakes in the older sections. A line that ends with `# here` is the wrong one.
"""

import http.server
import json
import os
import re
import sqlite3
import subprocess
import threading
import time

from checks import HANG_S, comes_true
from scenario import scenario
from stage import ROOT, Stage

SUBSCRIBER = """
[[subscriber]]
name = "crm"
url = "https://localhost:9/crm"
secret_credential = "crm-messages"
"""
HTTP = """
[[store]]
name = "api"
kind = "http"
base_url = "https://localhost:9/"
allow_private_addresses = true
key_credential = "api-token"
[store.auth]
scheme = "bearer"
[[store.erase]]
name = "user"
method = "DELETE"
path = "/users/{user_id}"
[[store.verify]]
name = "user"
method = "GET"
path = "/users/{user_id}"
gone = [404]
"""
LISTING = """
[[store]]
name = "api"
kind = "http"
base_url = "http://localhost:{port}/"
allow_plain_http = true
key_credential = "api-token"
timeout = "30s"
[store.auth]
scheme = "bearer"
[[store.erase]]
name = "user"
method = "DELETE"
path = "/users/{{user_id}}"
[[store.verify]]
name = "things"
method = "GET"
path = "/things"
query = {{ owner = "{{user_id}}", after = "{{cursor}}" }}
items = "/items"
id = "/id"
match = {{ "/owner" = "{{user_id}}" }}
next = "/next"
"""
# A rule that the first table cannot have a second time.
LIKES = """
[[store.table]]
table = "likes"
column = "author_id"
action = "delete"
"""
MYSQL = """
[[store]]
name = "my"
kind = "mysql"
socket = "/run/nobody/mysqld.sock"
database = "app"
username = "expunged"
"""
RULE = """
[[store.table]]
table = "posts"
column = "author_id"
action = "delete"
"""
MAIL = '\n[mail]\nfrom = "a@example.com"\n'
CORRECT, ADD, NAME = "correct the value", "add the key", "correct the name"


def changed(text, old, new):
    """`text` with one line replaced by the wrong one."""
    assert f"{old}\n" in text, old
    return text.replace(f"{old}\n", f"{new} # here\n", 1)


def without(text, head, line):
    """`text` without a line that it needs; the problem stands at the head of its section."""
    assert f"{line}\n" in text, line
    return changed(text, head, head).replace(f"{line}\n", "", 1)


# Name; what is added to the file; what the reason and the remedy say.
WRONG = [
    ("a subscriber without TLS", changed(SUBSCRIBER, 'url = "https://localhost:9/crm"', 'url = "http://localhost/crm"'),
     "subscriber.crm.url", CORRECT),
    ("a subscriber without a secret", without(SUBSCRIBER, "[[subscriber]]", 'secret_credential = "crm-messages"'),
     "secret_credential", ADD),
    ("a subscriber to an unknown topic", SUBSCRIBER + 'events = ["request"] # here\n',
     "subscriber.crm.events", CORRECT),
    ("a subscriber that is called like the mail", changed(
        SUBSCRIBER, 'name = "crm"', 'name = "mail"'), "mail", CORRECT),
    ("two subscribers of one name", SUBSCRIBER + changed(
        SUBSCRIBER, 'name = "crm"', 'name = "crm"'), "same name", "rename"),
    ("a subscriber given up at once", SUBSCRIBER + 'retry_for = "1s" # here\n', "subscriber.crm.retry_for", CORRECT),
    ("mail from nobody", MAIL.replace("a@example.com\"", "expunged\" # here"), "mail.from", CORRECT),
    ("mail with a second header", MAIL.replace("a@example.com\"", "a@example.com\\nBcc: b@example.com\" # here"),
     "mail.from", CORRECT),
    ("mail to a name", MAIL + 'to = ["the admins"] # here\n', "mail.to", CORRECT),
    ("a mail server elsewhere", MAIL + 'server = "mail.example.com:25" # here\n', "mail.server", CORRECT),
    ("mail by a program of no path", MAIL + 'sendmail = "msmtp" # here\n', "mail.sendmail", CORRECT),
    ("mail with a misspelt key", MAIL.replace("from", "form").replace("com\"", "com\" # here"), "form", NAME),
    ("a recipient without a name", "\n[[recipient]] # here\n", "name", ADD),
    ("an API without an address", without(HTTP, "[[store]]", 'base_url = "https://localhost:9/"'), "base_url", ADD),
    ("an API without a secret", without(HTTP, "[[store]]", 'key_credential = "api-token"'), "key_credential", ADD),
    ("an API of an unknown preset", changed(
        HTTP, 'kind = "http"', 'kind = "http"\npreset = "strip"'), "strip", CORRECT),
    ("an API of an unknown scheme", changed(HTTP, 'scheme = "bearer"', 'scheme = "bear"'), "bear", CORRECT),
    ("an API of an unknown method", changed(HTTP, 'method = "DELETE"', 'method = "PURGE"'), "method", CORRECT),
    ("an API whose path is elsewhere", changed(
        HTTP, 'path = "/users/{user_id}"', 'path = "https://evil.example/{user_id}"'),
     "path", CORRECT),
    ("an API whose call is about nobody", changed(
        HTTP, 'path = "/users/{user_id}"', 'path = "/users"'), "path", "change"),
    ("a MySQL server at two addresses", MYSQL + 'address = "localhost" # here\n' + RULE, "socket already", "exclude"),
    ("a MySQL server without a user", without(MYSQL, "[[store]]", 'username = "expunged"') + RULE, "username", ADD),
    ("a MySQL server elsewhere without TLS", MYSQL.replace(
        'socket = "/run/nobody/mysqld.sock"', 'address = "db.example.com"') + 'tls = "off" # here\n' + RULE,
     "loopback", "change"),
    ("a MySQL socket of no path", changed(
        MYSQL, 'socket = "/run/nobody/mysqld.sock"', 'socket = "mysqld.sock"') + RULE, "absolute path", CORRECT),
    ("via no column", LIKES + 'via = "users" # here\n', "via", CORRECT),
    ("a template without its column", LIKES + 'id_template = "{tenant}" # here\n', "id_template", CORRECT),
    ("a condition of nothing", LIKES + "where = { kind = { } } # here\n", "it needs one of equals", ADD),
    ("a condition that excludes itself", LIKES + 'where = { kind = { equals = "a", null = true } } # here\n',
     "where", "exclude"),
    ("a group of viewers that is no name", '\n[server]\nviewer_group = "two words" # here\n', "viewer_group", CORRECT),
    ("a key that is there twice", '\n[controller]\nname = "Example"\nname = "Other" # here\n', "name", "correct line"),
]
# The file is valid; the check finds it by the machine and the stores. Name, text, place, reason, remedy.
NAMED = [
    ("a group of viewers that is none", '\n[server]\nviewer_group = "nobodys" # here\n',
     "server.viewer_group", "no group 'nobodys'", "groupadd"),
    ("a condition on no column", LIKES + 'where = { nokind = { equals = "a" } }\n', "store.app-db", "'nokind'", "names"),
    ("via a table without a rule", LIKES + 'via = "users.id"\n', "store.app-db", "users", "names"),
    ("via no column of a table", LIKES + 'via = "posts.nothing"\n', "store.app-db", "nothing", "names"),
    ("a template with no column", LIKES + 'id_template = "{nothing}:{author_id}"\n', "store.app-db", "nothing", "names"),
]
# Name, variable, value, reason, remedy.
VARIABLES = [
    ("a misspelt variable", "EXPUNGED_JOURNAL_LEVL", "info", "did you mean 'EXPUNGED_JOURNAL_LEVEL'?", NAME),
    ("a variable with an unknown word", "EXPUNGED_JOURNAL_LEVEL", "loud", "journal.level", CORRECT),
    ("a variable with no duration", "EXPUNGED_REQUESTS_GRACE_PERIOD", "soon", "requests.grace_period", CORRECT),
    ("a variable with no number", "EXPUNGED_SERVER_CONNECTIONS_MAX", "many", "server.connections_max", CORRECT),
    ("a variable of a section that repeats", "EXPUNGED_SUBSCRIBER_URL", "https://x.example", "stays in the file", NAME),
    ("a variable without its section", "EXPUNGED_GRACE_PERIOD", "1d", "did you mean 'EXPUNGED_REQUESTS_GRACE_PERIOD'?",
     NAME),
    ("a secret as a variable", "EXPUNGED_MAIL_PASSWORD", "secret", "no such variable", NAME),
]


@scenario()
def mistakes(checks, seed):
    stage = Stage(checks, seed)
    stage.unjudged = "requests wait for stores that are broken"
    try:
        with open(stage.path("expunged.toml")) as file:
            plain = file.read()
        with sqlite3.connect(stage.app) as app:
            app.execute("CREATE TABLE likes (author_id TEXT PRIMARY KEY, kind TEXT)")
        checks.check("nothing is wrong before", not errors(stage), errors(stage))
        if not stage.starts():
            return
        for name, text, reason, remedy in WRONG:
            line = (plain + text).split("# here")[0].count("\n") + 1
            write(stage, plain + text)
            judged(checks, stage, name, f"expunged.toml:{line}", reason, remedy)
            done = stage.run("expungectl", "reload")
            checks.check(f"{name}: a reload is refused with its line",
                         done.returncode != 0 and f"expunged.toml:{line}" in done.stderr + done.stdout, done)
        for name, text, place, reason, remedy in NAMED:
            write(stage, plain + text)
            judged(checks, stage, name, place, reason, remedy)
        deletes(checks, stage, "with all that in the file a running service")
        write(stage, plain)
        for name, variable, value, reason, remedy in VARIABLES:
            judged(checks, stage, name, f"${variable}", reason, remedy, **{variable: value})
        stage.stop()
        for name, place, reason, remedy, make in BROKEN:
            write(stage, plain)
            text, undo = make(stage)
            write(stage, plain + text)
            judged(checks, stage, name, place, reason, remedy)
            stage.starts()
            deletes(checks, stage, f"{name}: the service")
            stage.stop()
            undo()
        endless(checks, stage, plain)
        print(f"     {len(WRONG) + len(NAMED) + len(VARIABLES)} wrong configurations, {len(BROKEN)} broken environments")
    finally:
        stage.close(keep=bool(checks.failed))


class Endless(http.server.BaseHTTPRequestHandler):
    """A list whose pages come slowly, each with another cursor for the next."""

    # Six pages take longer than the start waits for a check (Limits.startCheckMax, 20 s).
    PAGE_S = 4
    is_over = threading.Event()

    def do_GET(self):
        self.is_over.wait(self.PAGE_S)
        body = json.dumps({"items": [], "next": str(time.monotonic_ns())}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def endless(checks, stage, plain):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    secret(stage, "api-token", "a-token-of-the-api")
    write(stage, plain + LISTING.format(port=server.server_port))
    began = time.monotonic()
    stage.start()
    checks.check("an API whose list never ends does not keep the service from its start", stage.comes_up(), stage.log()[-1500:])
    print(f"     up after {time.monotonic() - began:.1f} s beside a list that never ends")
    checks.check("it is named", comes_true(lambda: "did not answer the check at the start" in stage.log()), stage.log()[-1500:])
    deletes(checks, stage, "beside it, the service")
    stage.stop()
    Endless.is_over.set()
    server.shutdown()


def write(stage, text):
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text)


def errors(stage, **environment):
    arguments = stage.arguments()
    done = subprocess.run([arguments[0], "--check", "--json", *arguments[1:]], capture_output=True, text=True,
                          timeout=HANG_S, env=dict(os.environ, **environment))
    found = [one for one in json.loads(done.stdout)["findings"] if one["severity"] == "error"]
    assert done.returncode == (1 if found else 0), done
    return found


def judged(checks, stage, name, place, reason, remedy, **environment):
    found = errors(stage, **environment)
    fitting = [one for one in found if place in one["place"] and reason in one["reason"] and remedy in one["remedy"]]
    checks.check(f"{name}: found with {place}, reason and remedy", fitting, json.dumps(found, indent=1))
    pages = re.findall(r"docs/[\w/.-]+\.md", " ".join(one["remedy"] for one in found))
    gone = [page for page in pages if not os.path.exists(os.path.join(ROOT, page))]
    checks.check(f"{name}: nothing else, and its pages exist", len(found) == len(fitting) and not gone, (found, gone))


def deletes(checks, stage, text):
    user, = stage.new_users(1)
    token, = stage.new_tokens(1)
    stage.store(user, token)
    accepted = stage.delete(user)[0] in (200, 201, 202)
    checks.check(f"{text} revokes and erases everywhere else", accepted and comes_true(
        lambda: token["subject"] in stage.sandbox.revoked_at() and user not in stage.rows_left()),
                 stage.log()[-1500:])


# Broken environments: each answers what it adds to the file, and how it is undone.

def nothing():
    pass


def secret(stage, name, text):
    path = stage.path(f"credentials/{name}")
    with open(path, "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text + "\n")
    return lambda: os.remove(path)


def link(stage, name):
    path = stage.path(f"credentials/{name}")
    os.symlink(stage.path("nowhere"), path)
    return lambda: os.remove(path)


KEY = "whsec_" + "YWJj" * 10
PRIVATE = HTTP.replace("allow_private_addresses = true\n", "")
REACHED = SUBSCRIBER + "allow_private_addresses = true\n"
BROKEN = [
    ("no secret of a subscriber", "subscriber.crm.secret_credential", "missing", "/etc/expunged/credentials",
     lambda stage: (REACHED, nothing)),
    ("a short secret of a subscriber", "subscriber.crm", "crm-messages", "openssl rand -base64 32",
     lambda stage: (REACHED, secret(stage, "crm-messages", "c2hvcnQ="))),
    ("a secret that is a link to nothing", "subscriber.crm.secret_credential", "crm-messages", "credentials",
     lambda stage: (REACHED, link(stage, "crm-messages"))),
    ("a subscriber that refuses", "subscriber.crm.url", "no connection", "start the web service",
     lambda stage: (REACHED, secret(stage, "crm-messages", KEY))),
    ("a subscriber whose certificate nobody vouches for", "subscriber.crm.url", "not trusted", "ca_file",
     lambda stage: (REACHED.replace("https://localhost:9", stage.sandbox.endpoint), secret(stage, "crm-messages", KEY))),
    ("a subscriber's CA file that is gone", "subscriber.crm.ca_file", "no such file", "PEM",
     lambda stage: (REACHED + 'ca_file = "/nowhere/ca.pem"\n', secret(stage, "crm-messages", KEY))),
    ("a mail server that refuses", "mail.server", "no mail server at localhost:9", "correct server",
     lambda stage: (MAIL + 'server = "localhost:9"\n', nothing)),
    ("no program for mail", "mail.sendmail", "/nowhere/sendmail", "msmtp",
     lambda stage: (MAIL + 'sendmail = "/nowhere/sendmail"\n', nothing)),
    ("a MySQL socket that is missing", "store.my", "no server answers", "start the server",
     lambda stage: (MYSQL + RULE, nothing)),
    ("no password for MySQL", "store.my.password_credential", "missing", "/etc/expunged/credentials",
     lambda stage: (MYSQL + 'password_credential = "my-password"\n' + RULE, nothing)),
    ("a group of applications that is none at the start", "server.submit_group", "no group 'nobodys'", "groupadd",
     lambda stage: ('\n[server]\nsubmit_group = "nobodys"\n', nothing)),
    ("an API that refuses connections", "store.api", "no connection", "docs/stores/http.md",
     lambda stage: (HTTP, secret(stage, "api-token", "a-token-of-the-api"))),
    ("an API at a private address", "store.api", "allow_private_addresses", "set allow_private_addresses = true",
     lambda stage: (PRIVATE, secret(stage, "api-token", "a-token-of-the-api"))),
    ("an API of your own whose certificate nobody vouches for", "store.api", "not trusted", "ca_file",
     lambda stage: (HTTP.replace("https://localhost:9/", stage.sandbox.endpoint),
                    secret(stage, "api-token", "a-token-of-the-api"))),
    ("no token of an API", "store.api", "missing", "/etc/expunged/credentials",
     lambda stage: (HTTP, nothing)),
]
