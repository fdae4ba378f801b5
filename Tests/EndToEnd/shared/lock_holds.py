"""Sees from outside how long a process holds the write lock of a SQLite database; only asks, and never locks.

lock_holds.py FILE START PID: how long PID held a lock of the byte START of FILE each time, in ms, one hold in a line,
when standard input ends. A process of its own, since closing a file lets go of all of a process's locks on it
(sqlite.org/howtocorrupt.html, 2.2).
"""

import fcntl
import select
import struct
import subprocess
import sys
import time

# sqlite.org/fileformat2.html and wal.html: the byte of RESERVED, and in the -shm file that of the writer.
RESERVED, WAL_WRITER = 0x40000001, 120
PAUSE_S = 0.0002
FLOCK = "hhqqi4x"


class LockHolds:
    """Watches until it is asked."""

    def __init__(self, path, is_wal, pid):
        where = (path + "-shm", WAL_WRITER) if is_wal else (path, RESERVED)
        self.process = subprocess.Popen([sys.executable, __file__, *map(str, where), str(pid)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def stop(self):
        """The holds in ms, the longest last."""
        return sorted(map(float, self.process.communicate(timeout=120)[0].split()))


def holder(file, start):
    """The process that holds a lock there, or 0 (fcntl(2), F_GETLK)."""
    asked = struct.pack(FLOCK, fcntl.F_WRLCK, 0, start, 1, 0)
    kind, _, _, _, pid = struct.unpack(FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))
    return 0 if kind == fcntl.F_UNLCK else pid


def main(path, start, pid):
    holds, since = [], None
    with open(path, "rb+") as file:
        while not select.select([sys.stdin], [], [], PAUSE_S)[0]:
            is_held, now = holder(file, int(start)) == int(pid), time.monotonic()
            if is_held and since is None:
                since = now
            elif not is_held and since is not None:
                holds.append((now - since) * 1000)
                since = None
    print("\n".join(map(str, holds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
