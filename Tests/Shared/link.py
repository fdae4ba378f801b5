#!/usr/bin/env python3
"""A link to a server's socket that can be cut: a stopped process forwards nothing and refuses nothing, as a dead network."""

import os
import select
import signal
import socket
import subprocess
import sys

from checks import comes_true


class Link:
    """Forwards `place` to `server` while it is not cut."""

    def __init__(self, place, server):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), place, server])
        assert comes_true(lambda: listens(place)), "the link does not listen"

    def cut(self):
        self.process.send_signal(signal.SIGSTOP)

    def mend(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        self.process.kill()
        self.process.wait()


def listens(place):
    with socket.socket(socket.AF_UNIX) as peer:
        return peer.connect_ex(place) == 0


def forward(place, server):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    peers = {}
    while True:
        for ready in select.select([listener, *peers], [], [])[0]:
            if ready is listener:
                client, upstream = listener.accept()[0], socket.socket(socket.AF_UNIX)
                upstream.connect(server)
                peers[client], peers[upstream] = upstream, client
            elif ready in peers:
                pass_on(ready, peers)


def pass_on(ready, peers):
    try:
        data = ready.recv(65536)
        if data:
            peers[ready].sendall(data)
            return
    except OSError:
        pass
    other = peers.pop(ready)
    peers.pop(other, None)
    ready.close()
    other.close()


if __name__ == "__main__":
    forward(*sys.argv[1:])
