"""The peer: what a capable team writes for itself, as fast as Python does it.

asyncio on uvloop, aiohttp with a pool of kept connections, orjson, one thread for SQLite, commits
of many users at once. The same two calls with the same checks of the answers, the same purge with
a count afterwards, the same durable commits. No state machine, no resuming, no sealing, no proof.

It reads its own spool, takes what is there when a line arrives on standard input, and ends. With
`--processes` each process has its share of the requests, since one interpreter uses one core; a
lock file lets them take turns at the databases without SQLite's sleeping between tries.
"""

import argparse
import asyncio
import base64
import fcntl
import os
import signal
import sqlite3
import ssl
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import aiohttp
import orjson
import uvloop
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import load_pem_private_key

CLIENT_ID = "com.example.app"
AUDIENCE = "https://appleid.apple.com"
# Apple allows six months; a script keeps its secret for as long as it likes.
SECRET_LIFETIME_S = 300


def base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


class ClientSecret:
    """Apple's client secret: an ES256 JWT, kept for five minutes."""

    def __init__(self, options: argparse.Namespace) -> None:
        with open(options.key, "rb") as file:
            self._key = load_pem_private_key(file.read(), password=None)
        self._header = base64url(orjson.dumps({"alg": "ES256", "kid": options.key_id}))
        self._team = options.team_id
        self._algorithm = ec.ECDSA(hashes.SHA256())
        self._kept = ""
        self._kept_until = 0.0

    def get(self) -> str:
        now = time.time()
        if now < self._kept_until:
            return self._kept
        claims = {"iss": self._team, "iat": int(now) - 30, "exp": int(now) + 2 * SECRET_LIFETIME_S,
                  "aud": AUDIENCE, "sub": CLIENT_ID}
        signed = f"{self._header}.{base64url(orjson.dumps(claims))}"
        r, s = utils.decode_dss_signature(self._key.sign(signed.encode(), self._algorithm))
        self._kept = f"{signed}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
        self._kept_until = now + SECRET_LIFETIME_S
        return self._kept


class Store:
    """Both databases; every method runs on the one SQLite thread."""

    TABLES = (("posts", "author_id"), ("comments", "user_id"), ("sessions", "user_id"))

    def __init__(self, options: argparse.Namespace, share: int) -> None:
        self._share = (options.processes, share)
        self._lock = open(options.app + ".lock", "w")
        self._app = sqlite3.connect(options.app, isolation_level=None, timeout=30)
        # As durable as expunged; what else it sets for a store of others (secure_delete) is not asked.
        self._app.execute("PRAGMA synchronous = FULL")
        self._app.execute("PRAGMA cache_size = -65536")
        self._spool = sqlite3.connect(options.spool, isolation_level=None, timeout=30)
        self._spool.execute("PRAGMA synchronous = EXTRA")
        self._tokens = sqlite3.connect(options.tokens, isolation_level=None, timeout=30)

    def load(self) -> list[tuple[int, str, str]]:
        rows = self._spool.execute(
            "SELECT id, user_id FROM requests WHERE state = 'submitted' AND id % ? = ? ORDER BY id",
            self._share,
        ).fetchall()
        token = dict(self._tokens.execute("SELECT user_id, refresh_token FROM tokens"))
        return [(number, user, token[user]) for number, user in rows]

    def purge(self, batch: list[tuple[int, str]]) -> None:
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            self._purge(batch)
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _purge(self, batch: list[tuple[int, str]]) -> None:
        """One statement per table for all users: SQLite runs it without the interpreter's lock."""
        users = (orjson.dumps([user for _, user in batch]).decode(),)
        self._app.execute("BEGIN IMMEDIATE")
        for table, column in self.TABLES:
            self._app.execute(
                f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))", users
            )
        self._app.execute("COMMIT")
        for table, column in self.TABLES:
            query = f"SELECT count(*) FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"
            if self._app.execute(query, users).fetchone()[0] != 0:
                raise RuntimeError(f"rows are left in {table}")
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        numbers = orjson.dumps([number for number, _ in batch]).decode()
        self._spool.execute("BEGIN IMMEDIATE")
        self._spool.execute(
            "UPDATE requests SET state = 'completed', updated_at = ? "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (now, numbers),
        )
        self._spool.execute("COMMIT")


class Peer:
    def __init__(self, options: argparse.Namespace, share: int, gate: "Gate") -> None:
        self._options = options
        self._share = share
        self._gate = gate
        self._secret = ClientSecret(options)
        self._done: list[tuple[int, str]] = []
        self._wake = asyncio.Event()
        self._is_closing = False

    async def run(self) -> None:
        sqlite_thread = ThreadPoolExecutor(1)
        loop = asyncio.get_running_loop()
        store = await loop.run_in_executor(sqlite_thread, Store, self._options, self._share)
        context = ssl.create_default_context(cafile=self._options.ca)
        connector = aiohttp.TCPConnector(
            limit=self._options.concurrency, ssl=context, keepalive_timeout=60, ttl_dns_cache=600
        )
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers={"User-Agent", "Accept-Encoding"},
            timeout=aiohttp.ClientTimeout(total=30, connect=5),
        ) as session:
            await loop.run_in_executor(None, self._gate.pass_through)
            work = iter(await loop.run_in_executor(sqlite_thread, store.load))
            purger = asyncio.create_task(self._purge(store, sqlite_thread))
            async with asyncio.TaskGroup() as group:
                for _ in range(self._options.concurrency):
                    group.create_task(self._call_all(session, work))
            self._is_closing = True
            self._wake.set()
            await purger

    async def _call_all(self, session: aiohttp.ClientSession, work) -> None:
        token_url = self._options.url + "/auth/token"
        revoke_url = self._options.url + "/auth/revoke"
        for number, user, token in work:
            form = {"client_id": CLIENT_ID, "client_secret": self._secret.get(),
                    "grant_type": "refresh_token", "refresh_token": token}
            async with session.post(token_url, data=form, allow_redirects=False) as answer:
                body = await answer.read()
                if answer.status != 200 or not orjson.loads(body)["access_token"]:
                    raise RuntimeError(f"refresh answered {answer.status}")
            form = {"client_id": CLIENT_ID, "client_secret": self._secret.get(),
                    "token": token, "token_type_hint": "refresh_token"}
            async with session.post(revoke_url, data=form, allow_redirects=False) as answer:
                if answer.status != 200 or await answer.read():
                    raise RuntimeError(f"revoke answered {answer.status}")
            self._done.append((number, user))
            if len(self._done) >= self._options.batch:
                self._wake.set()

    async def _purge(self, store: Store, thread: ThreadPoolExecutor) -> None:
        """Takes whatever is revoked, at most `batch` users a commit."""
        loop = asyncio.get_running_loop()
        while True:
            if len(self._done) < self._options.batch and not self._is_closing:
                self._wake.clear()
                await self._wake.wait()
            if not self._done:
                return
            batch = self._done[: self._options.batch]
            del self._done[: self._options.batch]
            await loop.run_in_executor(thread, store.purge, batch)


class Gate:
    """Where the processes wait for each other and for the work."""

    def __init__(self) -> None:
        self._ready_out, self._ready_in = os.pipe()
        self._go_out, self._go_in = os.pipe()

    def pass_through(self) -> None:
        os.write(self._ready_in, b".")
        os.read(self._go_out, 1)

    def open(self, count: int) -> None:
        for _ in range(count):
            os.read(self._ready_out, 1)
        print("ready", flush=True)
        sys.stdin.readline()
        os.write(self._go_in, b"." * count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("url", "ca", "key", "team-id", "key-id", "app", "spool", "tokens"):
        parser.add_argument(f"--{name}", required=True)
    # The defaults are the fastest of what was tried on two cores: see README.md.
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=32, help="calls at once, per process")
    parser.add_argument("--batch", type=int, default=1000, help="users per commit")
    options = parser.parse_args()
    gate = Gate()
    children = []
    for share in range(options.processes):
        child = os.fork()
        if child == 0:
            uvloop.run(Peer(options, share, gate).run())
            os._exit(0)
        children.append(child)
    signal.signal(signal.SIGTERM, lambda *_: [os.kill(child, signal.SIGTERM) for child in children])
    gate.open(options.processes)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(1 if any(statuses) else 0)


if __name__ == "__main__":
    main()
