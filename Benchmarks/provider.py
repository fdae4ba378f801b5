"""The provider: an nginx of our own on a loopback port, with a CA of our own."""

import base64
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import time

HERE = pathlib.Path(__file__).parent
START_S = 10


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*arguments: str) -> None:
    subprocess.run(arguments, check=True, capture_output=True, timeout=60)


def exchange_answer() -> str:
    """What a code is exchanged for; nginx makes up the token. No id token: it would name one user."""
    answer = {"access_token": "a" + os.urandom(40).hex(), "token_type": "Bearer",
              "expires_in": 3600, "refresh_token": "r.$request_id"}
    return json.dumps(answer)


def token_answer() -> str:
    """What the refresh grant answers, as long as Apple's; the signature is random."""

    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    header = part(b'{"kid":"bench","alg":"RS256"}')
    claims = part(
        json.dumps(
            {
                "iss": "https://appleid.apple.com",
                "aud": "com.example.app",
                "exp": 4102444800,
                "iat": 1700000000,
                "sub": "001234.0123456789abcdef0123456789abcdef.0123",
                "at_hash": "0123456789abcdefghijkl",
                "email": "abc@privaterelay.appleid.com",
                "auth_time": 1700000000,
            }
        ).encode()
    )
    answer = {
        "access_token": "a" + os.urandom(40).hex(),
        "token_type": "Bearer",
        "expires_in": 3600,
        "id_token": f"{header}.{claims}.{part(os.urandom(256))}",
    }
    return json.dumps(answer)


class Provider:
    """Answers `/auth/token` and `/auth/revoke` over TLS; its access log is the judge."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        if self.nginx is None:
            raise SystemExit("error: no nginx; install it with: apt-get install nginx-light")
        self.directory = directory
        self.ca_file = directory / "ca.pem"
        self.access_log = directory / "access.log"
        self.port = free_port()
        self.process: subprocess.Popen | None = None
        directory.mkdir()
        self._make_certificates()

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    def start(self, buffered: bool = True) -> None:
        """Buffered: the log costs next to nothing. Else every line is there at once."""
        text = (HERE / "nginx.conf.in").read_text()
        values = {
            "DIRECTORY": str(self.directory),
            "PORT": str(self.port),
            "WORKERS": str(min(2, os.cpu_count() or 1)),
            "LOG_BUFFER": " buffer=256k flush=1s" if buffered else "",
            "TOKEN_ANSWER": token_answer(),
            "EXCHANGE_ANSWER": exchange_answer(),
        }
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        configuration = self.directory / "nginx.conf"
        configuration.write_text(text)
        self.process = subprocess.Popen(
            [self.nginx, "-p", str(self.directory), "-c", str(configuration)],
            stdin=subprocess.DEVNULL,
            stderr=(self.directory / "stderr.log").open("a"),
        )
        deadline = time.monotonic() + START_S
        while True:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"error: nginx does not start; see {self.directory}/stderr.log")
            try:
                context = ssl.create_default_context(cafile=self.ca_file)
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as plain:
                    with context.wrap_socket(plain, server_hostname="localhost") as tls:
                        assert tls.version() == "TLSv1.3"
                        return
            except ConnectionRefusedError:
                time.sleep(0.02)

    def stop(self) -> None:
        """SIGQUIT would wait for kept connections; the log is flushed by SIGTERM as well."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(START_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def calls(self, since: int = 0, settle_s: float = 1.2) -> dict[str, int]:
        """Answered calls per path, from byte `since` of the log on."""
        time.sleep(settle_s)
        counts: dict[str, int] = {}
        with self.access_log.open() as log:
            log.seek(since)
            for line in log:
                _, _, path, status, _ = line.split()
                name = path if status == "200" else f"{path} {status}"
                counts[name] = counts.get(name, 0) + 1
        return counts

    def arrivals(self, path: str, since: int = 0) -> list[float]:
        """When the calls to `path` arrived, as Unix time; to the millisecond, rounded down."""
        times = []
        with self.access_log.open() as log:
            log.seek(since)
            for line in log:
                end, took, called, _, _ = line.split()
                if called == path:
                    times.append(float(end) - float(took))
        return times

    def bodies(self, path: str, since: int = 0, length_min: int = 0) -> dict[int, float]:
        """When the first call to `path` with a body of each length arrived, as Unix time."""
        times: dict[int, float] = {}
        with self.access_log.open() as log:
            log.seek(since)
            for line in log:
                if not line.endswith("\n"):
                    break  # nginx is writing it.
                end, took, called, _, length = line.split()
                if called == path and int(length) >= length_min:
                    times.setdefault(int(length), float(end) - float(took))
        return times

    def log_size(self) -> int:
        return self.access_log.stat().st_size if self.access_log.exists() else 0

    def _make_certificates(self) -> None:
        place = self.directory
        ec = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        run(
            "openssl", "req", "-x509", *ec, "-days", "2", "-subj", "/CN=bench CA",
            "-addext", "basicConstraints=critical,CA:TRUE",
            "-addext", "keyUsage=critical,keyCertSign",
            "-keyout", f"{place}/ca.key", "-out", str(self.ca_file),
        )
        run(
            "openssl", "req", *ec, "-subj", "/CN=localhost",
            "-keyout", f"{place}/server.key", "-out", f"{place}/server.csr",
        )
        extensions = place / "extensions"
        extensions.write_text(
            "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n"
            "extendedKeyUsage=serverAuth\n"
        )
        run(
            "openssl", "x509", "-req", "-days", "2", "-in", f"{place}/server.csr",
            "-CA", str(self.ca_file), "-CAkey", f"{place}/ca.key", "-CAcreateserial",
            "-extfile", str(extensions), "-out", f"{place}/server.pem",
        )
