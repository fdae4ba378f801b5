"""Rules that the service writes: asked for over the socket, copied into the configuration, and purged by.

What is left is asked with the sqlite3 program, as bytes of every table.
"""

import sqlite3

from checks import comes_true
from scenario import scenario
from stage import Stage

# Orders hang on users and items on orders, without CASCADE; nothing says what `placed_for` is.
SHOP = """
DROP TRIGGER judge; DROP TABLE erased; DROP TABLE posts;
PRAGMA foreign_keys = ON;
CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, placed_for TEXT NOT NULL);
CREATE TABLE order_items (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders, name TEXT);
CREATE TABLE newsletter (address TEXT);
CREATE TABLE countries (name TEXT);
INSERT INTO countries VALUES ('Norway');
"""
USERS = 30


@scenario(gate={})
def suggestions(checks, seed):
    stage = Stage(checks, seed)
    stage.unjudged = "the tables are a shop's"
    try:
        with sqlite3.connect(stage.app) as app:
            app.executescript(SHOP)
            for n in range(USERS):
                user = f"shopper-{n:04}"
                app.execute("INSERT INTO users VALUES (?, ?)", (user, f"{user}@example.org"))
                app.execute("INSERT INTO orders VALUES (?, ?)", (n, user))
                app.execute("INSERT INTO order_items VALUES (?, ?, ?)", (n, n, f"for {user}"))
                app.execute("INSERT INTO newsletter VALUES (?)", (f"{user}@example.org",))
        rewrite(stage, 'table = "posts"\ncolumn = "author_id"', 'table = "users"\ncolumn = "id"')
        stage.starts()
        done = stage.run("expungectl", "stores", "check")
        checks.equal("the check ends with 14", done.returncode, 14)
        for column in ("orders.placed_for", "newsletter.address"):
            checks.check(f"it finds users in {column}", f"{column}: holds 'users." in done.stdout, done.stdout)
        asked = stage.run("expungectl", "stores", "suggest", "app-db")
        checks.equal("rules are suggested", (asked.returncode, asked.stderr), (0, ""))
        checks.check("without a value of a user", "shopper" not in asked.stdout, asked.stdout)
        refused = stage.run("expungectl", "stores", "suggest", "app-db", "--user-table", "nowhere.id")
        checks.check("a wrong table is refused", "--user-table is TABLE.COLUMN" in refused.stderr, refused.stderr)
        stage.stop()
        with open(stage.path("expunged.toml")) as file:
            before = file.read()
        with open(stage.path("expunged.toml"), "w") as file:
            file.write(before[:before.index("[[store]]")] + asked.stdout)
        read = stage.run("expunged", "--check-config", "--config", stage.path("expunged.toml"))
        checks.check("the configuration is accepted as it is", read.returncode == 0, read.stderr)
        stage.starts()
        done = stage.run("expungectl", "stores", "check")
        checks.check("the check ends with 0", done.returncode == 0, done.stdout)
        user = f"shopper-{seed % USERS:04}"
        _, request = stage.delete(user)
        state = lambda: stage.http("GET", f"/v1/requests/{request['id']}")[1]["state"]
        checks.check("a deletion by the rules is completed", comes_true(lambda: state() == "completed"), state())
        checks.equal("nothing of the user is left", rows_with(stage.app, user), [])
        checks.equal("the others have all they had", len(rows_with(stage.app, "shopper")), 4 * (USERS - 1))
        stage.stop()
    finally:
        stage.close(keep=bool(checks.failed))


def rewrite(stage, old, new):
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    assert old in text
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text.replace(old, new))


def rows_with(path, text):
    with sqlite3.connect(path) as app:
        tables = [name for (name,) in app.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [(table, row) for table in tables for row in app.execute(f"SELECT * FROM {table}")
                if text in repr(row)]
