"""Schemas of applications that no rule was written for: suggested, edited in at most ten lines, and purged by.

Of 1,000 users 20 are deleted. What is left of them, and what others lost, is asked with the database's own client.
"""

import os
import re

from checks import comes_true
from scenario import scenario
from stage import BINARIES, Stage
from store_servers import MySQL, PostgreSQL
from sandbox import Sandbox
from strangers_schemas import APPS, USERS, Of

ERASED = set(range(20, USERS + 1, USERS // 20))
EDITS_MAX = 10


@scenario()
def strangers(checks, seed, only=""):
    sandbox = Sandbox(BINARIES)
    try:
        for app in APPS:
            if only in app.name:
                print("     " + play(checks, seed, sandbox, app))
    finally:
        sandbox.close()


def play(checks, seed, sandbox, app):
    stage = Stage(checks, seed, sandbox)
    stage.unjudged = "the tables are of an application from outside"
    server = None
    try:
        os.chmod(stage.directory, 0o711)
        os.makedirs(stage.path("stores"), mode=0o711)
        server = (PostgreSQL if app.kind == "postgresql" else MySQL)(stage.path("stores/" + app.kind))
        rows = fill(server, app)
        return erase(checks, stage, server, app, rows)
    finally:
        stage.stop()
        if server:
            server.close()
        stage.close(keep=bool(checks.failed))


def erase(checks, stage, server, app, rows):
    with open(stage.path("expunged.toml")) as file:
        base = file.read()
    section = f'[[store]]\nname = "app"\n{server.access(stage)}'
    if app.kind == "postgresql":
        section += 'schemas = ["public"]\n'
    table, column = app.users.split(".")
    write(stage, f'{base}{section}[[store.table]]\ntable = "{table}"\ncolumn = "{column}"\naction = "delete"\n')
    stage.starts()
    asked = stage.run("expungectl", "stores", "suggest", "app", "--user-table", app.users)
    stage.stop()
    checks.equal(f"{app.name}: rules are suggested", (asked.returncode, asked.stderr), (0, ""))
    text, edits = edited(checks, app, asked.stdout)
    checks.check(f"{app.name}: at most {EDITS_MAX} lines are edited", edits <= EDITS_MAX, edits)
    write(stage, base[:base.index("[[store]]")] + text)
    stage.starts()
    checked = stage.http("POST", "/v1/stores/app/check", timeout=120)[1]
    uncovered, advice = checked.get("uncovered", []), checked.get("advice", [])
    reported = [name for line in uncovered for name in line.split(": ")[0].split(", ")]
    checks.equal(f"{app.name}: the check finds no problem", checked["findings"], [])
    checks.equal(f"{app.name}: it reports what no rule is about, and nothing else",
                 sorted(reported), sorted(app.reported))
    keep(stage, app, asked.stdout, *uncovered, *advice)
    before = dump(server, rows)
    requests = {n: stage.delete(app.identity(n))[1]["id"] for n in sorted(ERASED)}
    state = lambda request: stage.http("GET", f"/v1/requests/{request}")[1]["state"]
    ended = comes_true(lambda: all(state(request) == "completed" for request in requests.values()), 120)
    states = [state(request) for request in requests.values()]
    shown = "" if ended else stage.run("expungectl", "show", next(iter(requests.values()))).stdout
    checks.check(f"{app.name}: all deletions end", ended, (states, shown, stage.log()[-1500:]))
    left, lost, changed = compare(rows, before, dump(server, rows))
    unnamed = set()
    for user, request in requests.items():
        receipt = stage.http("GET", f"/v1/requests/{request}/receipt")[1] if ended else {}
        unnamed |= left[user] - named(receipt)
    checks.equal(f"{app.name}: the receipt of each user names what is left of them", sorted(unnamed), [])
    checks.equal(f"{app.name}: no row of others went or was changed", (lost, changed), ({}, {}))
    return (f"{app.name} | {app.kind} | {len(rows)} tables | {asked.stdout.count('DECIDE:')} DECIDE | {edits} edits |"
            f" reported {sorted(reported)} | {len(advice)} advice |"
            f" {states.count('completed')} of {len(states)} end |"
            f" left {sorted(set().union(*left.values()))} | unnamed {sorted(unnamed)} | others {lost} {changed}")


def named(receipt):
    """What a receipt says that it leaves: columns as `table.column`, and tables of which rows stay."""
    kept = [item for item in receipt.get("not_erased", []) if item["rows"] > 0]
    columns = {f"{item['table']}.{column}" for item in kept for column in item.get("columns", [])}
    columns |= {name for store in receipt.get("stores", []) for name in store.get("unmapped", [])}
    return columns | {item["table"] for item in kept}


def keep(stage, app, *texts):
    """For who wants to read them, where the runner keeps the directory."""
    with open(stage.path(f"{app.name}.txt"), "w") as file:
        file.write("\n----\n".join(texts))


def edited(checks, app, text):
    count = 0
    for pattern, by in app.edits:
        text, found = re.subn(pattern, by, text, flags=re.M)
        checks.check(f"{app.name}: {pattern!r} is a line of the suggestion", found > 0, text)
        count += found * len(by.splitlines())
    return text, count


def write(stage, text):
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text)


def columns_of(ddl):
    """The columns of each table, and those of its primary key."""
    found = {}
    for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\);", ddl, re.S):
        parts = [part.strip() for part in re.split(r",(?![^(]*\))", body)]
        names = [part.split()[0].strip('"') for part in parts if not re.match(r"(PRIMARY|FOREIGN|UNIQUE) ", part)]
        key = re.search(r"PRIMARY KEY \(([^)]*)\)", body)
        found[table] = (names, key.group(1).split(", ") if key else names[:1])
    return found


def fill(server, app):
    """Creates the tables; answers the rows of each by their keys, with their owners and the users whom cells name."""
    tables = {name: (names, key, {}) for name, (names, key) in columns_of(app.ddl).items()}
    made = {name: [] for name in tables}
    server.sql(app.ddl)
    generated = [(table, None, cells) for table, cells in app.shared]
    generated += [row for n in range(1, USERS + 1) for row in app.rows(n)]
    for table, owner, cells in generated:
        names, key, rows = tables[table]
        assert len(cells) == len(names), (table, cells, names)
        place = tuple(str(cells[names.index(name)]) for name in key)
        assert place not in rows, (table, place)
        rows[place] = (owner, {name: cell.user for name, cell in zip(names, cells) if isinstance(cell, Of)})
        values = ("NULL" if cell == "NULL" else "'" + str(cell).replace("'", "''") + "'" for cell in cells)
        made[table].append(f"({', '.join(values)})")
    for table, values in made.items():
        for index in range(0, len(values), 500):
            server.sql(f"INSERT INTO {table} VALUES {', '.join(values[index:index + 500])};")
    # Each column by which rows are found has an index, as the applications have them.
    for table, (names, key, rows) in tables.items():
        naming = {name for _, users in rows.values() for name in users}
        for name in naming - set(key[:1]):
            kind = re.search(rf'CREATE TABLE {table} \(.*?\b{name}"? (\w+)', app.ddl, re.S).group(1)
            if kind not in ("text", "longtext"):
                quoted = name if app.kind == "mysql" else f'"{name}"'
                server.sql(f"CREATE INDEX strange_{table}_{name} ON {table} ({quoted});")
    return tables


def dump(server, tables):
    found = {}
    for table, (names, key, _) in tables.items():
        separator = "\t" if isinstance(server, MySQL) else "|"
        rows = [line.split(separator) for line in server.sql(f"SELECT * FROM {table};")]
        assert all(len(row) == len(names) for row in rows), table
        found[table] = {tuple(row[names.index(name)] for name in key): row for row in rows}
    return found


def compare(tables, before, after):
    """What is left of each erased user, as `table.column` or the table of a row; what others lost, and what changed."""
    left, lost, changed = {user: set() for user in ERASED}, {}, {}
    values = {user: set() for user in ERASED}
    for table, (names, _, rows) in tables.items():
        for place, (owner, users) in rows.items():
            old = before[table][place]
            for name, user in users.items():
                if user in ERASED:
                    values[user].add(old[names.index(name)])
            row = after[table].get(place)
            if row is None:
                if owner not in ERASED:
                    lost[table] = lost.get(table, 0) + 1
                continue
            if owner in ERASED and not users and row == old:
                left[owner].add(table)
            for name, was, now in zip(names, old, row):
                if users.get(name) in ERASED:
                    if now == was:
                        left[users[name]].add(f"{table}.{name}")
                elif now != was and owner not in ERASED:
                    changed[f"{table}.{name}"] = changed.get(f"{table}.{name}", 0) + 1
    search(after, tables, values, left)
    return left, lost, changed


def search(after, tables, values, left):
    """Finds values of erased users in every column, wherever they went; small numbers are everywhere."""
    for table, (names, _, _) in tables.items():
        for index, name in enumerate(names):
            text = "\n".join(row[index] for row in after[table].values())
            for user, own in values.items():
                if any(holds(text, value) for value in own if len(value) >= 6 and not value.isdigit()):
                    left[user].add(f"{table}.{name}")


def holds(text, value):
    """As a word: one user's name may begin like another's."""
    return value in text and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
