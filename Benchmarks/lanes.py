"""What providers do to each other, and what a long queue does to codes that have just come in.

Which call belongs to whom is known by the length of its body: every token and code measured here has
a length of its own, and everything else in the body is of one length.
"""

import asyncio
import dataclasses
import http.client
import json
import pathlib
import random
import socket
import sqlite3
import ssl
import statistics
import threading
import time

import data
import provider as providers
from contenders import Daemon, Failure, SpoolWatch
from measures import SETTLE_S, Bench, percentile, queued_count

# Of the neighbour: short, so that its breaker opens, probes and opens again while it is measured.
NEIGHBOUR = """
[[provider]]
name = "neighbour"
kind = "apple"
team_id = "ABCDE12345"
key_id = "KEY1234567"
client_ids = ["com.example.app"]
private_key_credential = "apple-key.p8"
base_url = "{url}"
ca_file = "{ca}"
timeout_connect = "1s"
timeout_total = "5s"
concurrency = 64
"""
MODES = ("healthy", "hanging", "refusing")
# Users of the neighbour have numbers from here on.
NEIGHBOUR_FROM = 1_000_000
WARM_UP = 20
TOKEN_LENGTH = 700
CODE_LENGTH = 5000
ANSWER_S = 30


@dataclasses.dataclass
class Latencies:
    """Milliseconds from before the application's commit to the first byte at the provider."""

    values_ms: list[float]
    # Of which the application's own commit, syncs included.
    own_ms: list[float]

    @property
    def median_ms(self) -> float:
        return statistics.median(self.values_ms)

    @property
    def p99_ms(self) -> float:
        return percentile(self.values_ms, 0.99)


class Hanging:
    """Takes connections and requests over TLS and never answers one."""

    def __init__(self, port: int, certificate: pathlib.Path, key: pathlib.Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._is_ready = threading.Event()
        self.calls = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        if not self._is_ready.wait(10):
            raise Failure("the hanging provider does not start")

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", self._port, ssl=self._context)
        )
        self._is_ready.set()
        self._loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(65536):
                self.calls += chunk.count(b"POST /")
        except (ConnectionError, ssl.SSLError):
            pass  # The caller gave up.


class Neighbour:
    """The other provider, in one of the ``MODES``."""

    def __init__(self, bench: Bench, mode: str) -> None:
        self.mode = mode
        self.server = providers.Provider(bench.fresh("neighbour"))
        self.hanging: Hanging | None = None
        if mode == "healthy":
            self.server.start()
        if mode == "hanging":
            place = self.server.directory
            self.hanging = Hanging(self.server.port, place / "server.pem", place / "server.key")

    @property
    def configuration(self) -> str:
        return NEIGHBOUR.format(url=self.server.url, ca=self.server.ca_file)

    def stop(self) -> None:
        self.server.stop()
        if self.hanging is not None:
            self.hanging.stop()


def isolation(bench: Bench, backlog: int, count: int, rounds: int, pace: float) -> dict:
    """The same load at one provider, while another is well, hangs, or refuses.

    Returns the latencies of each round by mode. A healthy neighbour has worked its requests off; of
    the others all ``backlog`` are open.
    """
    template = bench.directory / "app-isolation.db"
    data.make_app(template, 10)
    bench.provider.stop()
    bench.provider.start(buffered=False)
    found: dict[str, list[Latencies]] = {mode: [] for mode in MODES}
    for number in range(rounds):
        # In another order each time, so that what comes first is nobody's advantage.
        for mode in MODES[number % 3:] + MODES[:number % 3]:
            lap = isolation_lap(bench, template, mode, backlog, count, pace)
            found[mode].append(lap)
            print(f"round {number + 1}: neighbour {mode}: median {lap.median_ms:.1f}, "
                  f"p99 {lap.p99_ms:.1f} ms; the INSERT's own commit p99 "
                  f"{percentile(lap.own_ms, 0.99):.1f} ms", flush=True)
    return found


def isolation_lap(bench: Bench, template: pathlib.Path, mode: str, backlog: int, count: int,
                  pace: float) -> Latencies:
    neighbour = Neighbour(bench, mode)
    daemon = Daemon(bench.binary, bench.fresh("isolation"), bench.provider, template,
                    more=neighbour.configuration)
    others = range(NEIGHBOUR_FROM, NEIGHBOUR_FROM + backlog)
    try:
        daemon.start()
        daemon.store_tokens(others, 60 + backlog / 200, "neighbour")
        daemon.store_tokens(range(count + WARM_UP), 60 + count / 200, token=own_token)
        time.sleep(SETTLE_S)
        data.submit_requests(daemon.spool, others)
        wait_for_backlog(daemon, mode, backlog)
        mark = bench.provider.log_size()
        spool = data.open_spool(daemon.spool)
        starts, own = paced(range(count + WARM_UP), pace, lambda number: insert(spool, number))
        spool.close()
        arrivals = matched(bench, "/auth/revoke", mark, count + WARM_UP)
        if mode != "healthy" and queued_count(daemon) < backlog:
            raise Failure(f"the neighbour is {mode}, and requests at it ended")
        if neighbour.hanging is not None and neighbour.hanging.calls == 0:
            raise Failure("nobody called the hanging provider")
        return latencies(starts[WARM_UP:], own[WARM_UP:], arrivals[WARM_UP:])
    finally:
        daemon.stop()
        neighbour.stop()
        bench.drop(daemon)


def wait_for_backlog(daemon: Daemon, mode: str, backlog: int) -> None:
    if mode == "healthy":
        watch = SpoolWatch(daemon.spool)
        watch.wait("requests", ("completed",), 60 + backlog / 50, daemon.check_alive)
        watch.close()
        time.sleep(SETTLE_S)
        return
    deadline = time.monotonic() + 60 + backlog / 500
    while queued_count(daemon) < backlog:
        daemon.check_alive()
        if time.monotonic() > deadline:
            raise Failure(f"only {queued_count(daemon)} of {backlog} requests are queued")
        time.sleep(0.1)


def own_token(number: int) -> str:
    """One byte longer than that of the user before."""
    return data.refresh_token(number).ljust(TOKEN_LENGTH + number, "x")


def insert(spool: sqlite3.Connection, number: int) -> None:
    spool.execute("INSERT INTO requests (kind, user_id) VALUES ('delete_account', ?)",
                  (data.user_id(number),))


def paced(numbers, pace: float, do, goes_on=lambda: True) -> tuple[list[float], list[float]]:
    """Does it for each number, at most ``pace`` a second in the mean; when each began, and ms it
    took."""
    source = random.Random(1)
    starts, own = [], []
    for number in numbers:
        time.sleep(source.expovariate(pace))
        if not goes_on():
            break
        start = time.time()
        do(number)
        starts.append(start)
        own.append((time.time() - start) * 1000)
    return starts, own


def matched(bench: Bench, path: str, mark: int, count: int, length_min: int = 0) -> list[float]:
    """When each call arrived, from the shortest body to the longest."""
    deadline = time.monotonic() + ANSWER_S
    while True:
        calls = bench.provider.bodies(path, mark, length_min)
        if len(calls) >= count:
            break
        if time.monotonic() > deadline:
            raise Failure(f"{len(calls)} of {count} calls to {path} within {ANSWER_S} s")
        time.sleep(0.1)
    lengths = sorted(calls)
    if lengths != list(range(lengths[0], lengths[0] + count)):
        raise Failure(f"the calls to {path} cannot be distinguished")
    return [calls[length] for length in lengths]


def latencies(starts: list[float], own: list[float], arrivals: list[float]) -> Latencies:
    return Latencies(
        [max(0.0, (arrival - start) * 1000) for start, arrival in zip(starts, arrivals)], own
    )


@dataclasses.dataclass
class Exchange:
    by_spool: Latencies
    by_socket: Latencies
    # How many deletions were over when the last code was handed in.
    completed: int


def exchange(bench: Bench, queued: int, count: int, pace: float) -> Exchange:
    """Codes, by turns through the spool and the socket, from the commit of the deletions on.

    All are at one provider, and it is worked off at full speed meanwhile.
    """
    template = bench.directory / "app-exchange.db"
    data.make_app(template, 10)
    bench.provider.stop()
    bench.provider.start(buffered=False)
    daemon = Daemon(bench.binary, bench.fresh("exchange"), bench.provider, template)
    try:
        daemon.start()
        daemon.store_tokens(range(queued), 60 + queued / 500)
        time.sleep(SETTLE_S)
        mark = bench.provider.log_size()
        data.submit_requests(daemon.spool, range(queued))
        application = CodeApplication(daemon)
        starts, own = paced(range(count), pace, application.submit,
                            lambda: completed_count(daemon) < queued)
        completed = completed_count(daemon)
        application.close()
        if len(starts) < 50:
            raise Failure(f"the deletions were over after {len(starts)} codes; queue more")
        arrivals = matched(bench, "/auth/token", mark, len(starts), CODE_LENGTH)
        by_spool, by_socket = (
            latencies(starts[turn::2], own[turn::2], arrivals[turn::2]) for turn in (0, 1)
        )
        return Exchange(by_spool, by_socket, completed)
    finally:
        daemon.stop()
        bench.drop(daemon)


def completed_count(daemon: Daemon) -> int:
    state = sqlite3.connect(f"file:{daemon.state}/state.db?mode=ro", uri=True, timeout=10)
    try:
        return state.execute("SELECT completed FROM totals").fetchone()[0]
    finally:
        state.close()


class CodeApplication:
    """An application that submits codes, each one byte longer than the one before."""

    def __init__(self, daemon: Daemon) -> None:
        self._spool = data.open_spool(daemon.spool)
        self._http = http.client.HTTPConnection("localhost", timeout=30)
        self._http.sock = socket.socket(socket.AF_UNIX)
        self._http.sock.connect(str(daemon.directory / "run" / "submit.sock"))

    def submit(self, number: int) -> None:
        user = data.user_id(NEIGHBOUR_FROM + number)
        code = f"c{number:08d}.".ljust(CODE_LENGTH + number, "x")
        if number % 2 == 0:
            self._spool.execute(
                "INSERT INTO credentials (user_id, provider, client_id, kind, secret) "
                "VALUES (?, 'apple', 'com.example.app', 'authorization_code', ?)", (user, code),
            )
            return
        body = {"kind": "authorization_code", "client_id": "com.example.app", "secret": code}
        self._http.request("PUT", f"/v1/users/{user}/identities/apple", json.dumps(body),
                           {"Content-Type": "application/json"})
        answer = self._http.getresponse()
        text = answer.read()
        if answer.status != 202:
            raise Failure(f"a code was answered {answer.status}: {text[:200]!r}")

    def close(self) -> None:
        self._spool.close()
        self._http.close()
