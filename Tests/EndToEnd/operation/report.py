"""The monthly report: real requests and a planted history of fourteen months, counted again by SQL of our own in
zones with and without summer time; what is missing is named; the page prints, and names no user."""

import csv
import datetime
import io
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import time
import uuid
import zoneinfo

from checks import comes_true
from receipts import undocumented
from scenario import scenario
from stage import ROWS_EACH, Stage

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu")
VERDICTS = ("proven", "accepted", "already_gone", "token_dead", "unrevoked")
KEPT = """
[[store.table]]
table = "bills"
column = "owner"
action = "keep"
keep_reason = "tax law; ten years"
"""
RECIPIENT = """
[[recipient]]
name = "Analytics <Inc.>"
contact = "dpo@analytics.example"
purpose = "statistics"
"""
DAY = 86_400_000


def is_in_one_month():
    """Whether no month ends in the next minutes, of a clock in UTC or here."""
    now = datetime.datetime.now(datetime.timezone.utc)
    times = now, now + datetime.timedelta(minutes=20)
    return len({time.month for time in times}) == len({time.astimezone().month for time in times}) == 1


@scenario()
def report(checks, seed, count=4000):
    assert comes_true(is_in_one_month, 3600, 1), "a month ends"
    stage = Stage(checks, seed)
    stage.judge.excuse("a row of bills", "bills are kept, and the report says so")
    try:
        play(checks, stage, count)
        stage.scan(open_users=stage.users[3:4])
    finally:
        stage.close(keep=bool(checks.failed))


def play(checks, stage, count):
    with sqlite3.connect(stage.app) as app:
        app.execute("CREATE TABLE bills (owner TEXT NOT NULL, amount INTEGER)")
    with open(stage.path("expunged.toml")) as file:
        configuration = file.read()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write('[controller]\nname = "Example <Apps>"\ncontact = "privacy@example.com"\n' + RECIPIENT + configuration + KEPT)
    stage.starts()
    parked = live(checks, stage)
    month = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m")
    real = said(stage, month, "UTC")
    checks.equal("every member of the report is documented", undocumented(real, "Report"), [])
    checks.equal("what is kept has its reason, as the receipts say it", real["kept"], [
        {"store": "app-db", "table": "bills", "reason": "kept: tax law; ten years", "requests": 2, "rows": 4}])
    checks.equal("a parked request is named, with its reason",
                 [(row["request_id"], row["reason"]) for row in real["open"]["waiting"]], [(parked, "on_hold")])
    checks.equal("the recipient is to be informed", [row["name"] for row in real["recipients"]], ["Analytics <Inc.>"])
    receipt = stage.http("GET", f"/v1/requests/{completed(stage)}/receipt")[1]
    checks.equal("so the receipt says", receipt.get("recipients"), real["recipients"])
    checks.equal("that of a request without a month is refused", stage.http("GET", "/v1/reports/2026-13")[0], 400)
    checks.equal("and that of a month to come", stage.http("GET", "/v1/reports/9999-12")[0], 400)
    checks.equal("the first month that there is gets an answer", stage.http("GET", "/v1/reports/1970-01")[0], 200)
    checks.equal("and that of an unknown zone", stage.http("GET", "/v1/reports/2026-11?time_zone=Mars%2FX")[0], 400)

    stage.stop()
    plant(stage, count)
    stage.starts()
    for index, name in enumerate(months(14)):
        compare(checks, stage, name, ZONES[index % len(ZONES)])
    forms(checks, stage, months(2)[0])
    gaps(checks, stage, months(3)[0])


def live(checks, stage):
    """Two deletions, one revocation that is merged into a deletion, and one deletion on hold; answers the last."""
    users = stage.new_users(4)
    with sqlite3.connect(stage.app) as app:
        app.executemany("INSERT INTO bills VALUES (?, ?)", [(user, amount) for user in users[:2] for amount in (1, 2)])
    for user in users:
        stage.store(user, stage.new_tokens(1)[0])
    stage.http("POST", "/v1/providers/apple/pause")
    stage.http("POST", "/v1/requests", {"kind": "revoke_tokens", "user_id": users[1]}, "revoke")
    ids = [stage.delete(user)[1]["id"] for user in users[:2]]
    stage.http("POST", "/v1/providers/apple/resume")
    checks.check("two deletions complete", comes_true(lambda: all(
        stage.http("GET", f"/v1/requests/{request}")[1]["state"] == "completed" for request in ids), 20))
    stage.http("POST", f"/v1/users/{users[3]}/hold", {"reason": "case"})
    parked = stage.delete(users[3])[1]["id"]
    checks.check("one waits for the end of a hold", comes_true(
        lambda: stage.http("GET", f"/v1/requests/{parked}")[1]["state"] == "parked", 20))
    return parked


def completed(stage):
    return stage.http("GET", "/v1/requests?state=completed&limit=1")[1]["items"][0]["id"]


def said(stage, month, zone):
    done = stage.run("expungectl", "report", "--month", month, "--time-zone", zone, "--json")
    return json.loads(done.stdout)


def months(count):
    """The last ones, the current one last."""
    today = datetime.date.today()
    index = today.year * 12 + today.month - 1
    return [f"{place // 12}-{place % 12 + 1:02}" for place in range(index - count + 1, index + 1)]


# The planted history

def plant(stage, count):
    """Requests of the last fourteen months, as the service would have left them."""
    random, now = stage.random, int(time.time() * 1000)
    state = sqlite3.connect(stage.path("state/state.db"))
    scope = state.execute("SELECT max(id) FROM scopes").fetchone()[0]
    made = []
    for _ in range(count):
        accepted = now - int(random.random() * 420 * DAY)
        ended = accepted + int(math.exp(random.uniform(math.log(500), math.log(60 * DAY))))
        made.append((ended if ended < now - DAY and random.random() < 0.98 else None, accepted))
    made.sort(key=lambda pair: pair[0] or now)
    sequence, sums = 0, {"completed": 0, "cancelled": 0}
    with state:
        # Those of before end last.
        state.execute("UPDATE requests SET end_sequence = end_sequence + ?", (sum(1 for ended, _ in made if ended),))
        for ended, accepted in made:
            row = request(random, accepted, ended, now, scope)
            if ended:
                sequence += 1
                sums[row["phase"]] += 1
                row["end_sequence"] = sequence
            insert(state, "requests", row)
            work(state, random, row)
        state.execute("UPDATE totals SET completed = completed + ?, cancelled = cancelled + ?",
                      (sums["completed"], sums["cancelled"]))
    state.close()


def request(random, accepted, ended, now, scope):
    is_deletion = random.random() < 0.9
    identifier = uuid.UUID(int=(accepted << 80) | (7 << 76) | random.getrandbits(76)).bytes
    row = {
        "id": identifier, "kind": "delete_account" if is_deletion else "revoke_tokens",
        "user_hash": random.randbytes(32), "user_id": None if ended else f"planted-{identifier.hex()}", "generation": 1,
        "origin": "spool",
        "slot": b"" if is_deletion and not ended else identifier, "created_at": accepted - random.randrange(1000),
        "accepted_at": accepted, "not_before": accepted, "deadline_at": accepted + 30 * DAY, "lane": "",
        "open_revocations": 0, "updated_at": ended or accepted, "ended_at": ended, "phase": "completed"}
    if ended and random.random() < 0.1:
        row["phase"] = "cancelled"
        row["end_detail"] = None if is_deletion or random.random() < 0.5 else "merged"
    elif ended:
        row["scope"] = scope
    elif random.random() < 0.5:
        row |= {"phase": "revoking", "park_reason": "on_hold", "has_own_hold": 1}
    else:
        row |= {"phase": "scheduled", "due_at": now + 300 * DAY, "not_before": now + 300 * DAY}
    return row


def work(state, random, row):
    for position in range(random.randrange(3)):
        insert(state, "revocations", {
            "request_id": row["id"], "position": position, "identity_id": random.randbytes(16),
            "provider": ("apple", "google")[position], "client_id": "c", "is_shared": 0, "credentials": "[]",
            "verdict": random.choice(VERDICTS) if row["ended_at"] else "proven", "attempts": 1, "failures": 0})
    if row["kind"] != "delete_account":
        return
    kept, newer = random.randrange(4), random.randrange(3) // 2
    counts = [["posts", "delete", ROWS_EACH, newer], ["bills", "keep", kept, 0]]
    insert(state, "purges", {
        "request_id": row["id"], "position": 0, "store": "app-db", "step": "verified" if row["ended_at"] else "waiting",
        "counts": json.dumps(counts, separators=(",", ":")) if row["ended_at"] else "[]", "attempts": 1, "failures": 0})
    if row["phase"] == "completed":
        insert(state, "tombstones", {"user_hash": row["user_hash"], "generation": 1, "erased_at": row["ended_at"],
                                     "request_id": row["id"]})


def insert(state, table, row):
    state.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))


# The other count

def bounds(month, zone):
    year, number = map(int, month.split("-"))
    first = datetime.datetime(year, number, 1, tzinfo=zoneinfo.ZoneInfo(zone))
    after = datetime.datetime(year + number // 12, number % 12 + 1, 1, tzinfo=zoneinfo.ZoneInfo(zone))
    return tuple(int(time.timestamp() * 1000) for time in (first, after))


def rfc3339(milliseconds):
    at = datetime.datetime.fromtimestamp(milliseconds // 1000, datetime.timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03}Z"


def counted(stage, month, zone):
    """The same numbers, by statements that use none of the service's indexes or code."""
    state = sqlite3.connect(f"file:{stage.path('state/state.db')}?mode=ro", uri=True)
    begin, end = bounds(month, zone)
    within = {"begin": begin, "end": end}

    def one(sql):
        return state.execute(sql, within).fetchone()[0]

    sums = {}
    for kind in ("delete_account", "revoke_tokens"):
        ended = f"FROM requests WHERE kind = '{kind}' AND ended_at >= :begin AND ended_at < :end"
        sums[kind] = {
            "open_before": one(f"SELECT count(*) FROM requests WHERE kind = '{kind}' AND accepted_at < :begin"
                               " AND (ended_at IS NULL OR ended_at >= :begin)"),
            "submitted": one(f"SELECT count(*) FROM requests WHERE kind = '{kind}' AND accepted_at >= :begin"
                             " AND accepted_at < :end"),
            "completed": one(f"SELECT count(*) {ended} AND phase = 'completed'"),
            "merged": one(f"SELECT count(*) {ended} AND end_detail = 'merged'"),
            "cancelled": one(f"SELECT count(*) {ended} AND phase = 'cancelled' AND end_detail IS NOT 'merged'"),
            "open_after": one(f"SELECT count(*) FROM requests WHERE kind = '{kind}' AND accepted_at < :end"
                              " AND (ended_at IS NULL OR ended_at >= :end)")}
    done = "phase = 'completed' AND ended_at >= :begin AND ended_at < :end"
    lengths = sorted(row[0] for row in state.execute(
        f"SELECT ended_at - created_at FROM requests WHERE kind = 'delete_account' AND {done}", within))
    verdicts = {}
    for provider, verdict, number in state.execute(
            f"SELECT provider, verdict, count(*) FROM revocations WHERE request_id IN (SELECT id FROM requests WHERE {done})"
            " GROUP BY 1, 2", within):
        verdicts.setdefault(provider, {})[verdict] = number
    parts = f"FROM purges, json_each(counts) j WHERE request_id IN (SELECT id FROM requests WHERE {done})"
    kept = state.execute(f"""
        SELECT 'bills', count(*), sum(j.value ->> 2) {parts} AND j.value ->> 0 = 'bills' AND j.value ->> 2 > 0
        UNION ALL
        SELECT 'posts', count(*), sum(j.value ->> 3) {parts} AND j.value ->> 0 = 'posts' AND j.value ->> 3 > 0""",
                         within).fetchall()
    days = {}
    for column, name in (("accepted_at", "submitted"), ("ended_at", "completed")):
        for (at,) in state.execute(f"SELECT {column} FROM requests WHERE {column} >= :begin AND {column} < :end"
                                   + (" AND phase = 'completed'" if name == "completed" else ""), within):
            day = datetime.datetime.fromtimestamp(at / 1000, zoneinfo.ZoneInfo(zone)).strftime("%Y-%m-%d")
            days.setdefault(day, {"submitted": 0, "completed": 0})[name] += 1
    late = one(f"SELECT count(*) FROM requests WHERE kind = 'delete_account' AND {done} AND ended_at > deadline_at")
    parked = one("SELECT count(*) FROM requests WHERE park_reason IS NOT NULL AND ended_at IS NULL AND accepted_at < :end")
    open_now = one("SELECT count(*) FROM requests WHERE ended_at IS NULL AND accepted_at < :end")
    state.close()
    return {
        "bounds": (rfc3339(begin), rfc3339(end)), "requests": sums, "verdicts": verdicts, "days": days, "late": late,
        "times": [lengths[math.ceil(share * len(lengths)) - 1] for share in (0.5, 0.95, 1)] if lengths else [None] * 3,
        "count": len(lengths), "kept": {name: (number, rows) for name, number, rows in kept if number},
        "parked": parked, "open": open_now}


def stated(answer):
    """What the report says, in the same form."""
    erasure = answer["erasure"]
    return {
        "bounds": (answer["from"], answer["until"]),
        "requests": {row.pop("kind"): row for row in json.loads(json.dumps(answer["requests"]))},
        "verdicts": {row["provider"]: row["verdicts"] for row in answer["verdicts"]},
        "days": {row["day"]: {"submitted": row["submitted"], "completed": row["completed"]} for row in answer["days"]
                 if row["submitted"] or row["completed"]},
        "late": erasure["late"], "times": [erasure.get(name) for name in ("median_ms", "p95_ms", "worst_ms")],
        "count": erasure["completed"], "kept": {row["table"]: (row["requests"], row["rows"]) for row in answer["kept"]},
        "parked": sum(answer["open"]["parked"].values()), "open": sum(answer["open"]["states"].values())}


def compare(checks, stage, month, zone):
    answer, expected = stated(said(stage, month, zone)), counted(stage, month, zone)
    wrong = {name: (answer[name], expected[name]) for name in expected if answer[name] != expected[name]}
    checks.check(f"SQL counts what the report of {month} in {zone} says", not wrong, wrong)
    checks.check("     and there was something to count", expected["count"] > 0 and expected["verdicts"], expected)


# Its forms

def forms(checks, stage, month):
    answer = said(stage, month, "UTC")
    lines = list(csv.reader(io.StringIO(stage.run("expungectl", "report", "--month", month, "--time-zone", "UTC",
                                                  "--csv").stdout, newline="")))
    checks.equal("CSV has four fields in each line", {len(line) for line in lines}, {4})
    sums = {line[1]: int(line[3]) for line in lines if line[0] == "requests" and line[2] == "completed"}
    checks.equal("and the same numbers", sums, {row["kind"]: row["completed"] for row in answer["requests"]})
    text = stage.run("expungectl", "report", "--month", month, "--time-zone", "UTC").stdout
    checks.check("a terminal gets them as tables", all(name in text for name in ("REQUESTS", "median", "KEPT IN")), text)
    page = stage.run("expungectl", "report", "--month", month, "--time-zone", "UTC", "--html").stdout
    checks.check("the page has what the configuration says, escaped",
                 "Analytics &lt;Inc.&gt;" in page and "tax law; ten years" in page, page[:500])
    names = [user for user in stage.users if user in page + text + json.dumps(answer)] + re.findall("planted-", page)
    checks.equal("no form of it names a user", names, [])
    path = stage.path("report.html")
    with open(path, "w") as file:
        file.write(page)
    if shutil.which("chromium") is None:
        checks.skip("the page in a browser: no chromium")
        return
    browse(stage, f"--print-to-pdf={stage.path('report.pdf')}", "--no-pdf-header-footer", path)
    with open(stage.path("report.pdf"), "rb") as file:
        pages = len(re.findall(rb"/Type /Page\b", file.read()))
    checks.check("it prints on two to six pages", 2 <= pages <= 6, pages)
    said_by = browse(stage, "--dump-dom", path).stdout
    checks.equal("a browser shows three charts", said_by.count("<svg"), 3)


def browse(stage, *arguments):
    return subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                           f"--user-data-dir={stage.path('browser')}", *arguments[:-1], "file://" + arguments[-1]],
                          capture_output=True, text=True, timeout=120, env=dict(os.environ, HOME=stage.directory))


def gaps(checks, stage, month):
    """Removed rows are reported, and not passed over."""
    begin, end = bounds(month, "UTC")
    checks.equal("nothing is missing", said(stage, month, "UTC")["gaps"]["requests"], 0)
    stage.stop()
    state = sqlite3.connect(stage.path("state/state.db"))
    state.execute("PRAGMA foreign_keys = ON")
    with state:
        doomed = [row[0] for row in state.execute(
            "SELECT id FROM requests WHERE ended_at >= ? AND ended_at < ? AND kind = 'delete_account'"
            " AND phase = 'completed' LIMIT 9", (begin, end))]
        state.executemany("DELETE FROM requests WHERE id = ?", [(identifier,) for identifier in doomed])
    state.close()
    stage.starts()
    found = said(stage, month, "UTC")["gaps"]
    checks.equal("removed requests are a gap", (found["requests"], found["erasures"]), (len(doomed), len(doomed)))
    text = stage.run("expungectl", "report", "--month", month, "--time-zone", "UTC").stdout
    checks.check("     which the report says first", f"{len(doomed)} requests that ended in this month are no longer on"
                 " record" in text.replace("\n", " "), text[:400])
