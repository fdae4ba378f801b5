"""A receipt says what was configured at its end, whatever a reload changes, and prints as one harmless page."""

import datetime
import html.parser
import json
import os
import re
import sqlite3
import subprocess
import sys
import time

from rechecks import VERIFIER, receipt_verifies
from checks import HANG_S, comes_true
from scenario import scenario
from stage import ROWS_EACH, Stage

SCHEMAS = json.load(open(os.path.join(os.path.dirname(VERIFIER), "openapi.json")))["components"]["schemas"]
HOSTILE = """tax <script>alert(1)</script> & "10 years' onload=x"""
SCHEMA = """
CREATE TABLE bills (buyer TEXT NOT NULL, cents INTEGER);
CREATE INDEX bills_buyer ON bills (buyer);
CREATE TABLE profiles (owner TEXT NOT NULL, name TEXT);
CREATE INDEX profiles_owner ON profiles (owner);
CREATE TABLE notes (owner TEXT NOT NULL, made INTEGER NOT NULL);
CREATE INDEX notes_owner ON notes (owner);
"""
PARTIES = """[controller]
name = "Example <Apps>"
contact = "privacy@example.com"
[[recipient]]
name = "Analytics <Inc.>"
contact = "dpo@analytics.example"
"""
BACKUPS = 'backups_kept = "30d"\nresidual_copies_kept = "1d"\n'
KEPT = f"""
[[store.table]]
table = "bills"
column = "buyer"
action = "keep"
keep_reason = '''{HOSTILE}'''
"""
TABLES = """
[[store.table]]
table = "profiles"
column = "owner"
action = "anonymize"
keep_reason = "statistics"
set = { name = { strategy = "null" } }
[[store.table]]
table = "notes"
column = "owner"
action = "delete"
created_at_column = "made"
created_at_unit = "unix_ms"
"""
UPLOADS = """
[[store]]
name = "uploads"
kind = "files"
root = "{root}"
backups_kept = "7d"
paths = ["{{user_id}}.png"]
"""
AUDIT = """
[[store.table]]
table = "audit"
column = "actor_user_id"
action = "delete"
"""
# All that a page may consist of; without attributes, but for these.
TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "th", "td", "ul", "li", "br",
        "pre", "span", "thead", "tbody", "caption", "section", "details", "summary", "code"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "class", "name", "scope", "data-label"}
WITHOUT_END = {"meta", "br"}


def operator():
    """The login uid, which sudo does not change; without a login, the uid (proc_pid_loginuid(5))."""
    try:
        with open("/proc/self/loginuid") as file:
            login = int(file.read())
    except OSError:
        login = 0xFFFFFFFF
    return os.getuid() if login == 0xFFFFFFFF else login


def undocumented(value, name, path=""):
    """Members that docs/openapi.json does not know, or that it calls required and that are not there."""
    schema = SCHEMAS[name]
    found = [f"{path}.{member} is missing" for member in schema.get("required", []) if member not in value]
    for member, part in value.items():
        place = f"{path}.{member}"
        if member not in schema["properties"]:
            found.append(f"{place} is unknown")
            continue
        shape = schema["properties"][member]
        parts = [(shape, part)] if shape.get("type") != "array" else [(shape["items"], item) for item in part]
        for form, item in parts:
            kinds = {"string": str, "integer": int, "boolean": bool, "object": dict}
            if "$ref" in form:
                found += undocumented(item, form["$ref"].rsplit("/", 1)[-1], place)
            elif not isinstance(item, kinds[form["type"]]):
                found.append(f"{place} is no {form['type']}")
    return found



@scenario(gate={})
def receipts(checks, seed):
    os.environ["TZ"] = "UTC"
    stage = Stage(checks, seed)
    stage.judge.excuse("a row of bills", "bills are kept, and every receipt names them with the reason")
    stage.judge.excuse("a row of profiles", "profiles are anonymized but for the id, and every receipt names them")
    stage.judge.excuse("a row of notes", "notes of after the request stay, and every receipt counts them")
    try:
        play(checks, stage)
        stage.scan()
    finally:
        stage.close(keep=bool(checks.failed))


def play(checks, stage):
    root = prepare(stage)
    stage.configuration = PARTIES + stage.configuration
    write_configuration(stage, BACKUPS, KEPT + TABLES + UPLOADS.format(root=root))
    stage.starts()
    proven, abandoned = complete(checks, stage, root), abandon(checks, stage, root)
    before = {request: documents(stage, request) for request in (proven, abandoned)}
    receipt = stage.http("GET", f"/v1/requests/{proven}/receipt")[1]
    checks.equal("every member of the receipt is documented", undocumented(receipt, "Receipt"), [])
    page_states(checks, before[proven][1], receipt)
    page_names_abandoned(checks, before[abandoned][1])
    page_alone(checks, stage, proven)

    stage.configuration = stage.configuration.replace("<Apps>", "<Games>").replace("Analytics", "Statistics")
    write_configuration(stage, 'backups_kept = "90d"\n', TABLES)
    done = stage.run("expungectl", "reload")
    checks.check("a reload changes controller, recipient and backups, and takes a kept table and a store away",
                 done.returncode == 0, done.stderr)
    later = complete(checks, stage, root)
    for request, old in before.items():
        checks.equal("the receipts of before say the same to the byte, up to the ledger",
                     [cut(text) for text in documents(stage, request)], [cut(text) for text in old])
        receipt_verifies(checks, stage, request)
    new = stage.http("GET", f"/v1/requests/{later}/receipt")[1]
    checks.equal("a later one says what is configured now",
                 ([item["table"] for item in new["not_erased"]], [store["store"] for store in new["stores"]],
                  days(new), new["controller"]["name"], [party["name"] for party in new["recipients"]]),
                 (["profiles", "notes"], ["app-db"], 90, "Example <Games>", ["Statistics <Inc.>"]))
    left = new["stores"][0]["residual_copies"]
    checks.check("the write-ahead log has no end without a word about it, and so has the last copy",
                 ["until" in copy for copy in left] == [False] and "write-ahead log" in left[0]["what"]
                 and new["erasure_horizon_unknown"] == ["app-db"] and "erasure_horizon" not in new, new["stores"])
    stage.stop()
    stage.starts()
    checks.equal("a restart changes nothing", cut(documents(stage, proven)[0]), cut(before[proven][0]))
    forget_identity(checks, stage, root)
    unmapped(checks, stage, root, new)


def unmapped(checks, stage, root, before):
    """What a check finds without a rule is on later receipts, also after kill -9, until the rules change."""
    said = lambda request: stage.http("GET", f"/v1/requests/{request}/receipt")[1]
    checks.check("without a check the receipt says so", "searched_on" not in before["stores"][0]
                 and "NOT examined for data that no rule reaches: 'app-db'" in before["summary"], before)
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("CREATE TABLE audit (actor_user_id TEXT NOT NULL)")
        app.execute("CREATE INDEX audit_actor ON audit (actor_user_id)")
    done = stage.run("expungectl", "stores", "check")
    checks.check("a check finds a column without a rule", "audit.actor_user_id" in done.stdout, done.stdout + done.stderr)
    stage.kill()
    stage.starts()
    request = complete(checks, stage, root)
    receipt = said(request)
    store = receipt["stores"][0]
    checks.check("the receipt names it as not looked for", "audit.actor_user_id" in store["unmapped"]
                 and store["verified"] and "NOT looked for in 'app-db'" in receipt["summary"], receipt)
    checks.equal("every member of the receipt is documented", undocumented(receipt, "Receipt"), [])
    checks.check("     so does its page", "audit.actor_user_id" in documents(stage, request)[1])
    receipt_verifies(checks, stage, request)
    write_configuration(stage, 'backups_kept = "90d"\n', TABLES + AUDIT)
    done = stage.run("expungectl", "reload")
    checks.check("a reload gives it a rule", done.returncode == 0, done.stderr)
    receipt = said(complete(checks, stage, root))
    checks.check("no search under the new rules is claimed", "searched_on" not in receipt["stores"][0], receipt)


def forget_identity(checks, stage, root):
    """An operator has the only identity of a user forgotten: then its token lives on, and the receipt says so."""
    user = new_user(stage, root)
    identity = stage.http("GET", f"/v1/users/{user}/identities")[1]["items"][0]["identity_id"]
    done = stage.run("expungectl", "forget", user, identity)
    checks.check("an identity is forgotten", done.returncode == 0, done.stderr)
    request = stage.delete(user)[1]["id"]
    checks.check("     the deletion completes", comes_true(lambda: show(stage, request)["state"] == "completed"),
                 show(stage, request))
    receipt = stage.http("GET", f"/v1/requests/{request}/receipt")[1]
    checks.equal("every member of the receipt is documented", undocumented(receipt, "Receipt"), [])
    checks.check("     the summary of the receipt says what was not revoked, and why",
                 "NOT revoked: apple (forgotten by an operator)" in receipt["summary"], receipt["summary"])
    checks.equal("     it names who had it forgotten",
                 [(item["provider"], item["uid"]) for item in receipt.get("forgotten", [])], [("apple", operator())])
    checks.check("     it verifies, and nothing proves that line", "forgotten" in verified(stage, receipt))
    page = stage.run("expungectl", "receipt", request, "--html").stdout
    checks.check("     so does its page", f"Operator {operator()} removed a link without revocation" in page, page[:500])


def verified(stage, receipt):
    """What the verifier that shares no code with the daemon says of a receipt; empty when it refuses it."""
    path = stage.path("receipt.json")
    with open(path, "w") as file:
        json.dump(receipt, file)
    done = subprocess.run([sys.executable, VERIFIER, receipt["ledger"]["key"], "--receipt", path],
                          capture_output=True, text=True, timeout=HANG_S)
    return done.stdout if done.returncode == 0 else ""


def prepare(stage):
    with sqlite3.connect(stage.app) as app:
        app.executescript(SCHEMA)
    root = stage.path("uploads")
    os.makedirs(root)
    with open(os.path.join(root, ".expunged-root"), "w") as file:
        file.write("uploads\n")
    with open(stage.path("expunged.toml")) as file:
        stage.configuration = file.read()
    return root


def write_configuration(stage, backups, tables):
    """The first [[store]] of the stage is the last section of its file."""
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(stage.configuration.replace('name = "app-db"\n', 'name = "app-db"\n' + backups) + tables)


def new_user(stage, root):
    """One with rows in every table, and a picture."""
    user = stage.new_users(1)[0]
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("INSERT INTO bills VALUES (?, 100), (?, 200)", (user, user))
        app.execute("INSERT INTO profiles VALUES (?, 'somebody')", (user,))
        app.execute("INSERT INTO notes VALUES (?, ?)", (user, unix_ms() - 3_600_000))
    with open(os.path.join(root, f"{user}.png"), "w") as file:
        file.write("picture")
    stage.store(user, stage.new_tokens(1)[0])
    return user


def delete(stage, user):
    """A deletion after which the application writes a note of the user's later life."""
    stage.http("POST", "/v1/stores/app-db/pause")
    request = stage.delete(user)[1]["id"]
    # The request is not newer than its answer, and the note is.
    answered = unix_ms()
    comes_true(lambda: unix_ms() > answered, pause=0.001)
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("INSERT INTO notes VALUES (?, ?)", (user, unix_ms()))
    stage.http("POST", "/v1/stores/app-db/resume")
    return request


def unix_ms():
    return time.time_ns() // 1_000_000


def complete(checks, stage, root):
    request = delete(stage, new_user(stage, root))
    completes(checks, stage, request)
    return request


def abandon(checks, stage, root):
    """Given up on while the provider is paused: the link stays, and the receipt has the user's way to cut it."""
    user = new_user(stage, root)
    stage.http("POST", "/v1/providers/apple/pause")
    request = delete(stage, user)
    checks.check("a deletion waits for its provider", comes_true(
        lambda: show(stage, request).get("detail") == "provider_paused"), show(stage, request))
    done = stage.run("expungectl", "abandon", request, "--reason", HOSTILE)
    checks.check("a request that waits for its provider is abandoned", done.returncode == 0, done.stderr)
    completes(checks, stage, request)
    stage.http("POST", "/v1/providers/apple/resume")
    return request


def completes(checks, stage, request):
    checks.check("it completes", comes_true(
        lambda: show(stage, request)["state"] == "completed"
        and "scrubbed_at" in stage.http("GET", f"/v1/requests/{request}/receipt")[1]), show(stage, request))


def show(stage, request):
    return stage.http("GET", f"/v1/requests/{request}")[1]


def documents(stage, request):
    """What expungectl prints: JSON, and the page."""
    return (stage.run("expungectl", "receipt", request).stdout,
            stage.run("expungectl", "receipt", request, "--html").stdout)


def cut(text):
    """Without the ledger, which grows."""
    head, mark, _ = text.partition("<h2>Verification" if text.startswith("<") else '"ledger"')
    assert mark, text[:200]
    return re.sub(r'<tr><th scope="row">Issued.*', "", head)


def shown(time):
    """As the page writes a time of the receipt."""
    return f"{time[:10]} {time[11:19]} UTC"


def days(receipt):
    """From the end to the time when the last backup is gone."""
    end, gone = (datetime.datetime.fromisoformat(receipt["stores"][0][name].replace("Z", "+00:00"))
                 for name in ("verified_at", "backups_kept_until"))
    return (gone - end).days


class Page(html.parser.HTMLParser):
    """The words of each cell, paragraph and list item, by the heading above it; fails where a browser would guess."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.style = [], [], ""
        self.heading, self.rows, self.words = "", {"": []}, {"": ""}
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS or any(name not in ATTRIBUTES for name, _ in attributes):
            self.wrong.append(self.get_starttag_text())
        if tag not in WITHOUT_END:
            self.open.append(tag)
        if tag in ("h1", "h2"):
            self.heading = ""
        elif tag == "tr":
            self.rows[self.heading].append([])
        elif tag == "td" or tag == "th" and ("scope", "row") in attributes:
            self.rows[self.heading][-1].append("")
        elif tag == "br":
            self.handle_data("\n")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")
        if tag in ("h1", "h2"):
            self.rows.setdefault(self.heading, [])
            self.words.setdefault(self.heading, "")

    def handle_data(self, data):
        if not self.open:
            return
        if self.open[-1] == "style":
            self.style += data
        elif self.open[-1] in ("h1", "h2"):
            self.heading += data
        elif "td" in self.open or "tbody" in self.open and "th" in self.open:
            self.rows[self.heading][-1][-1] += data
        else:
            self.words[self.heading] += data

    def table(self, heading):
        """Without the row of its titles."""
        return [row for row in self.rows.get(heading, []) if row]


def page_states(checks, text, receipt):
    page = Page(text)
    harmless(checks, text, page)
    checks.equal("the page has the sections of a receipt", list(page.rows)[2:], [
        "Links to sign-in services", "Erased", "Kept, and why", "Copies that remain for a time",
        "Recipients to inform", "Checked again", "What this page does not cover", "Verification"])
    link = receipt["identities"][0]
    checks.equal("the verdict of each identity, with its evidence", page.table("Links to sign-in services"), [
        [f"{link['provider']}\n{link['client_id']}", f"Cut ({link['verdict']})\n{link['evidence']}", shown(link["decided_at"])]])
    checks.equal("the counts of each store", page.table("Erased"), [
        [store["store"], table["table"], {"d": "deleted", "a": "anonymized"}[table["action"][0]], str(table["rows"]),
         shown(store["verified_at"])]
        for store in receipt["stores"] for table in store["tables"] if table["action"][0] in "da"])
    counts = {row[1]: row[3] for row in page.table("Erased")}
    checks.check("among them the user's rows and picture",
                 counts["posts"] == str(ROWS_EACH) and counts["{user_id}.png"] == "1", counts)
    checks.equal("what was kept and why, word for word, and what is newer", page.table("Kept, and why"), [
        ["app-db", "bills (buyer)", "2", HOSTILE], ["app-db", "profiles (owner)", "1", "anonymized: statistics"],
        ["app-db", "notes", "1", receipt["not_erased"][-1]["reason"]]])
    checks.check("the controller and the contact", "Example &lt;Apps&gt;" in text and "privacy@example.com" in text, text[:1500])
    checks.check("the summary mentions that data is kept", "Some data is kept" in text, text[:2000])
    checks.check("what is not in scope", len(receipt["not_in_scope"]) >= 4 and all(
        line in page.words["What this page does not cover"] for line in receipt["not_in_scope"]), page.words)
    copies = page.table("Copies that remain for a time")
    checks.check("the date when the last copy is gone", days(receipt) == 30
                 and shown(receipt["erasure_horizon"]) in [row[3] for row in copies], copies)
    checks.equal("and that of each store", [(row[0], row[1]) for row in copies], [
        (store["store"], "until " + shown(store["backups_kept_until"])) for store in receipt["stores"]])
    proof = receipt["ledger"]
    checks.check("the proof: each entry, the key and the checkpoint",
                 page.table("Verification") == [[str(entry["index"]), entry["entry"]] for entry in proof["entries"]]
                 and proof["key"] in page.words["Verification"] and proof["checkpoint"] in page.words["Verification"], page.words)


def page_names_abandoned(checks, text):
    page = Page(text)
    harmless(checks, text, page)
    row = page.table("Links to sign-in services")[0]
    checks.check("an abandoned link is not revoked, and the user reads how to cut it",
                 row[1].startswith("NOT cut (abandoned)") and "https://" in row[2], row)
    checks.check("with the reason, word for word", HOSTILE in page.words["Decisions"], page.words)


def page_alone(checks, stage, request):
    """The page as a file is enough for the verifier; one changed digit in its data is found."""
    key = stage.http("GET", f"/v1/requests/{request}/receipt")[1]["ledger"]["key"]
    page = stage.run("expungectl", "receipt", request, "--html", "--language", "de", "--time-zone", "Europe/Berlin").stdout
    checks.check("a page in German, in the time of Berlin", '<html lang="de">' in page and re.search(" CES?T<", page), page[:2000])
    for name, text, is_sound in (("as it is", page, True), ("with a changed count", page.replace("&quot;rows&quot;:5", "&quot;rows&quot;:4"), False)):
        path = stage.path("receipt.html")
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([sys.executable, VERIFIER, key, "--receipt", path], capture_output=True, text=True, timeout=HANG_S)
        checks.equal(f"the verifier judges the page alone, {name}", done.returncode == 0, is_sound)
    wrong = stage.run("expungectl", "receipt", request, "--html", "--time-zone", "Europe/Nowhere")
    checks.check("an unknown time zone is refused", wrong.returncode == 64 and "Europe/Berlin" in wrong.stderr, wrong.stderr)


def harmless(checks, text, page):
    checks.check("the page is whole, and has nothing in it but text and tables", not page.wrong, page.wrong)
    lower = text.lower()
    checks.check("no script, no address to load, nothing hostile as it was",
                 not any(word in lower for word in ("<script", "src=", "href=", "url(", "@import", "javascript:"))
                 and HOSTILE not in text and "default-src 'none'" in text)
    checks.check("it has rules for paper", "@media print" in page.style and "@page" in page.style, page.style)
