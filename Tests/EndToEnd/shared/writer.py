"""An application that writes to the same table as the service, and how long each of its transactions takes."""

import sqlite3
import threading
import time

from checks import HANG_S

# As an application that shows pages to people.
PAUSE_S = 0.002


class Writer(threading.Thread):
    """Notes how long each transaction took, in ms; `database.writer()` answers how it writes, and how it ends."""

    def __init__(self, database):
        super().__init__(daemon=True)
        self.database, self.waits, self.is_over = database, [], threading.Event()
        self.start()

    def run(self):
        write, close = self.database.writer()
        while not self.is_over.wait(PAUSE_S):
            begun = time.monotonic()
            write()
            self.waits.append((time.monotonic() - begun) * 1000)
        close()

    def stop(self):
        self.is_over.set()
        self.join(HANG_S)
        return self.waits


def in_sqlite(path, statements):
    app = sqlite3.connect(path, timeout=HANG_S, isolation_level=None)

    def write():
        app.executescript(f"BEGIN IMMEDIATE; {statements} COMMIT;")
    return write, app.close


def in_session(session, statements, echo):
    """In a client of a server, which says `written` for `echo`."""
    def write():
        session.stdin.write(f"BEGIN; {statements} COMMIT;\n{echo}\n")
        session.stdin.flush()
        assert session.stdout.readline() == "written\n"

    def close():
        session.stdin.close()
        session.wait(HANG_S)
    return write, close
