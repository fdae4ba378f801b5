"""A provider whose answers never end: judged by what it could send, and by the daemon's processor time and memory."""

import os
import socket
import ssl
import threading

from checks import HANG_S, HOLDS_BARS, comes_true
from neighbors import resident_kib
from scenario import scenario
from stage import Stage
from store_servers import make_certificate

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </style>; rel=preload\r\n\r\n"
ANSWERS = {
    "endless informational answers": (b"", HINT * 1000),
    "endless header fields": (HEAD, b"X-Field: 0123456789\r\n" * 1000),
    "an endless chunk extension": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;x=", b"x" * 65536),
    "endless trailers": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n", b"X-Trailer: 0123456789\r\n" * 1000),
    "an endless body": (HEAD + b"Content-Length: 10000000000\r\n\r\n", b" " * 65536),
    "endless chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b" " * 65536 + b"\r\n"),
}
# What one connection may take: 64 KiB of an answer, and what the kernels of both sides hold.
SENT_MAX = 12 * 1024 * 1024
GROWTH_MAX = 16 * 1024
CPU_MAX_S = 1.0


class Provider(threading.Thread):
    """Speaks TLS, reads one request per connection, and then sends until the other side closes."""

    def __init__(self, certificate, key, answer):
        super().__init__(daemon=True)
        self.begin, self.more = answer
        # Bytes for each call, and how many calls the other side has ended.
        self.sent, self.ended = [], 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(raw,), daemon=True).start()

    def serve(self, raw):
        place = len(self.sent)
        self.sent.append(0)
        raw.settimeout(HANG_S)
        try:
            with self.context.wrap_socket(raw, server_side=True) as connection:
                connection.recv(65536)
                connection.sendall(self.begin)
                while True:
                    connection.sendall(self.more)
                    self.sent[place] += len(self.more)
        except OSError:
            pass
        self.ended += 1

    def close(self):
        self.listener.close()


@scenario(bars=True)
def hostile_provider(checks, seed):
    stage = Stage(checks, seed)
    certificate, key = make_certificate(stage.directory)
    stage.hasten()
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    text = text.replace(stage.sandbox.path("ca.pem"), certificate)
    for number, (name, answer) in enumerate(ANSWERS.items()):
        provider = Provider(certificate, key, answer)
        provider.start()
        with open(stage.path("expunged.toml"), "w") as file:
            file.write(text.replace(stage.sandbox.endpoint, f"https://localhost:{provider.port}"))
        judge(checks, stage, name, provider, number)
        provider.close()
    stage.close()


def judge(checks, stage, name, provider, number):
    stage.start()
    if not checks.check(f"a provider sends {name}: the daemon starts", stage.comes_up(), stage.log()[-1500:]):
        return
    user, token = stage.new_users(1)[0], stage.new_tokens(1)[0]
    before, begun = resident_kib(stage), cpu_seconds(stage)
    assert stage.store(user, token)[0] == 202
    assert stage.delete(user, f"key-{number}")[0] == 202
    checks.check("     it is asked", comes_true(lambda: provider.sent, 20))
    checks.check("     a call ends, and so does the next one", comes_true(lambda: provider.ended >= 2), provider.sent)
    asked = max(1, len(provider.sent))
    checks.check("     it cannot send without end", max(provider.sent) <= SENT_MAX, provider.sent)
    growth, spent = resident_kib(stage, "VmHWM") - before, cpu_seconds(stage) - begun
    if HOLDS_BARS:
        checks.check("     nor fill the memory", growth < GROWTH_MAX, f"{growth} KiB")
        checks.check("     nor keep the processor busy", spent / asked < CPU_MAX_S, f"{spent:.1f} s of {asked} calls")
    print(f"     sent at most {max(provider.sent) >> 10} KiB, {growth} KiB of memory, {spent:.2f} s for {asked} calls")
    checks.equal("     the user is not erased", stage.rows_left().get(user), 5)
    stage.stop()


def cpu_seconds(stage):
    with open(f"/proc/{stage.daemon.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
