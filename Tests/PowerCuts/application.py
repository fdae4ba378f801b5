"""The application whose writes are recorded: it takes one order per line, and marks what its commits promise."""

import ctypes
import json
import sqlite3
import sys

library = ctypes.CDLL(None)


def mark(**facts):
    text = json.dumps(facts).encode()
    library.record_mark(text, ctypes.c_size_t(len(text)))


class Application:
    def __init__(self, spool, stores):
        self.places = dict(stores, spool=spool)
        self.open = {}

    def database(self, name):
        if name not in self.open:
            self.open[name] = sqlite3.connect(self.places[name], timeout=20, isolation_level=None)
            self.open[name].execute("PRAGMA synchronous = EXTRA")
        return self.open[name]

    def submit(self, user, token):
        """A token and the deletion in one commit."""
        spool = self.database("spool")
        spool.execute("BEGIN IMMEDIATE")
        if token:
            spool.execute("INSERT INTO credentials (user_id, provider, kind, secret)"
                          " VALUES (?, 'sso', 'refresh_token', ?)", (user, token))
        row = spool.execute("INSERT INTO requests (kind, user_id, idempotency_key)"
                            " VALUES ('delete_account', ?, ?)", (user, f"key-{user}")).lastrowid
        spool.execute("COMMIT")
        mark(mark="row", user=user, row=row)

    def post(self, store, author, body):
        """Somebody who stays writes something."""
        self.database(store).execute("INSERT INTO posts (author_id, body) VALUES (?, ?)", (author, body))
        mark(mark="post", store=store, author=author, body=body)

    def restore(self, store, users, rows):
        """What an old copy had comes back."""
        database = self.database(store)
        database.execute("BEGIN IMMEDIATE")
        database.executemany("INSERT INTO posts (author_id, body) VALUES (?, ?)",
                             [(user, f"post {row}") for user in users for row in range(rows)])
        database.execute("COMMIT")
        mark(mark="restored", store=store)

    def close(self):
        for database in self.open.values():
            database.close()
        self.open = {}


def main():
    application = Application(*json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        name, *values = json.loads(line)
        getattr(application, name)(*values)
        print("done", flush=True)


if __name__ == "__main__":
    main()
