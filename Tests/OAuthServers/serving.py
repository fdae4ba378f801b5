"""What both servers share: TLS on a port of their own, a log of calls, and questions on standard input.

usage of each server: SERVER.py DIRECTORY
In DIRECTORY are cert.pem, key.pem and settings.json: users ({name: password}), clients
({id: secret}) and redirect_uri.

When it answers, DIRECTORY/endpoint holds its issuer. A line `tokens` on standard input is answered
by a line `tokens JSON`: what its own store says of each token. It ends with its standard input.
"""

import asyncio
import json
import os
import socket
import sys
import threading

from hypercorn.asyncio import serve
from hypercorn.config import Config


class Serving:
    """The directory, the socket and the settings of one server."""

    def __init__(self):
        self.directory = sys.argv[1]
        with open(self.path("settings.json")) as file:
            self.settings = json.load(file)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.authority = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.issuer = "https://" + self.authority

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, application, tokens):
        """Serves until standard input ends; `tokens` answers a list of dictionaries."""
        config = Config()
        self.socket.set_inheritable(True)
        config.bind = [f"fd://{self.socket.fileno()}"]
        config.certfile, config.keyfile = self.path("cert.pem"), self.path("key.pem")
        config.alpn_protocols = ["http/1.1"]
        config.accesslog = self.path("calls.log")
        config.access_log_format = "%(m)s %(U)s %(s)s"
        config.errorlog = "-"
        asyncio.run(self._serve(application, config, tokens))

    async def _serve(self, application, config, tokens):
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def answer_questions():
            for line in sys.stdin:
                assert line == "tokens\n", line
                print("tokens " + json.dumps(tokens()), flush=True)
            loop.call_soon_threadsafe(ended.set)

        def say_endpoint():
            with open(self.path("endpoint.new"), "w") as file:
                file.write(self.issuer)
            os.rename(self.path("endpoint.new"), self.path("endpoint"))

        threading.Thread(target=answer_questions, daemon=True).start()
        loop.call_later(0.2, say_endpoint)
        await serve(application, config, shutdown_trigger=ended.wait, mode="wsgi")
