"""What is measured, each against real processes and the real files."""

import dataclasses
import os
import pathlib
import random
import re
import resource
import shutil
import sqlite3
import signal
import statistics
import subprocess
import time

import data
from contenders import Daemon, Failure, Peer, SpoolWatch
from provider import Provider

SETTLE_S = 1.5
# A hang ends.
SYNCS_S = 120
# Between two inserts at an idle daemon.
PAUSES_S = (0.2, 2.0)


@dataclasses.dataclass
class Bench:
    """Where everything is."""

    directory: pathlib.Path
    binary: pathlib.Path
    python: pathlib.Path
    provider: Provider
    peer_options: list[str]
    keeps_files: bool
    round: int = 0

    def fresh(self, name: str) -> pathlib.Path:
        self.round += 1
        return self.directory / f"{name}-{self.round}"

    def drop(self, contender: Daemon | Peer) -> None:
        if not self.keeps_files:
            shutil.rmtree(contender.directory)


def cpu_s(pid: int) -> float:
    """User and system time of a process that is there, with its children's."""
    total = sum(stat_fields(pid)[11:15])
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = stat_fields(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            continue  # It has ended.
        if fields[1] == pid:
            total += fields[11] + fields[12]
    return total / os.sysconf("SC_CLK_TCK")


def stat_fields(pid: int) -> list[int]:
    """What follows the name in proc(5)'s stat; the state, a letter, as 0."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return [0] + [int(field) for field in fields[1:]]


def ended_cpu_s() -> float:
    """User and system time of all processes that have ended, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def status_kib(pid: int, key: str) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise Failure(f"no {key} in the status of process {pid}")


def pss_kib(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise Failure("no Pss")


def voluntary_switches(pid: int) -> dict[str, int]:
    """Per thread: how often it gave up the processor, that is slept and woke."""
    counts = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            name = (task / "comm").read_text().strip()
            for line in (task / "status").read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches:"):
                    counts[f"{name}/{task.name}"] = int(line.split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # The thread has ended.
    return counts


@dataclasses.dataclass
class Drain:
    """One run of one contender."""

    seconds: float
    requests: int
    cpu_s: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    @property
    def cpu_us(self) -> float:
        """Processor time per request, in microseconds: says the same on a busy machine."""
        return self.cpu_s / self.requests * 1e6


def drain(bench: Bench, contender: Daemon | Peer, request_count: int) -> Drain:
    """From the commit of the requests to the spool's last `completed`; everything is checked."""
    provider = bench.provider
    try:
        contender.prepare(request_count)
        # Whatever follows the preparation must not count.
        time.sleep(SETTLE_S)
        provider_mark = provider.log_size()
        pid = contender.process.pid
        cpu_before, ended_before = cpu_s(pid), ended_cpu_s()
        data.submit_requests(contender.spool, range(0, 2 * request_count, 2))
        start = time.monotonic()
        contender.go()
        watch = SpoolWatch(contender.spool)
        try:
            end = watch.wait(
                "requests", ("completed",), 60 + request_count / 50, contender.check_alive
            )
        finally:
            watch.close()
        has_ended = contender.ends_by_itself()
        cpu = (ended_cpu_s() - ended_before if has_ended else cpu_s(pid)) - cpu_before
        problems = data.check_purged(contender.app, request_count)
        calls = provider.calls(since=provider_mark)
        expected = {"/auth/token": request_count, "/auth/revoke": request_count}
        if calls != expected:
            problems.append(f"the provider was called {calls} instead of {expected}")
        if problems:
            raise Failure(f"{contender.name}: " + "; ".join(problems))
    finally:
        contender.stop()
    bench.drop(contender)
    return Drain(end - start, request_count, cpu)


def throughput(bench: Bench, request_count: int, round_count: int) -> tuple[list[Drain], list[Drain]]:
    """The contenders in turn, so that what else the machine does hits both."""
    template = bench.directory / "app-template.db"
    data.make_app(template, request_count)
    ours, theirs = [], []
    for number in range(1, round_count + 1):
        daemon = Daemon(bench.binary, bench.fresh("expunged"), bench.provider, template)
        ours.append(drain(bench, daemon, request_count))
        peer = Peer(
            bench.python, bench.fresh("peer"), bench.provider, template, options=bench.peer_options
        )
        theirs.append(drain(bench, peer, request_count))
        print(
            f"round {number}: expunged {ours[-1].rate:,.0f} requests/s "
            f"({ours[-1].cpu_us:.0f} us of processor time each), "
            f"peer {theirs[-1].rate:,.0f} ({theirs[-1].cpu_us:.0f} us): "
            f"ratio {ours[-1].rate / theirs[-1].rate:.2f}",
            flush=True,
        )
    return ours, theirs


@dataclasses.dataclass
class Memory:
    """KiB with the queue full; the greatest of what was seen once all were taken."""

    resident: int
    proportional: int
    peak: int
    idle: int


def memory(bench: Bench, request_count: int) -> Memory:
    """All requests are due and have a token, but the provider is down: none can go on."""
    template = bench.directory / "app-small.db"
    data.make_app(template, 10)
    daemon = Daemon(bench.binary, bench.fresh("queue"), bench.provider, template)
    try:
        daemon.start()
        pid = daemon.process.pid
        time.sleep(SETTLE_S)
        idle = status_kib(pid, "VmRSS")
        daemon.store_tokens(range(request_count), 60 + request_count / 500)
        bench.provider.stop()
        data.submit_requests(daemon.spool, range(request_count))
        deadline = time.monotonic() + 60 + request_count / 500
        while queued_count(daemon) < request_count:
            daemon.check_alive()
            if time.monotonic() > deadline:
                raise Failure(f"only {queued_count(daemon)} of {request_count} requests are queued")
            time.sleep(0.5)
        samples = []
        for _ in range(20):
            samples.append((status_kib(pid, "VmRSS"), pss_kib(pid)))
            time.sleep(0.25)
        return Memory(
            max(sample[0] for sample in samples), max(sample[1] for sample in samples),
            status_kib(pid, "VmHWM"), idle,
        )
    finally:
        daemon.stop()
        if bench.provider.process is None:
            bench.provider.start()
        bench.drop(daemon)


def queued_count(daemon: Daemon) -> int:
    """Requests that expunged has taken over; its own state, since the spool's shows up later."""
    state = sqlite3.connect(f"file:{daemon.state}/state.db?mode=ro", uri=True, timeout=10)
    try:
        return state.execute("SELECT count(*) FROM requests WHERE ended_at IS NULL").fetchone()[0]
    finally:
        state.close()


@dataclasses.dataclass
class Quiet:
    """Of an idle daemon: milliseconds to the provider, and how often it wakes."""

    # To the first call, and to the revocation.
    latencies_ms: list[float]
    revocations_ms: list[float]
    # Of which the application's own commit, syncs included.
    inserts_ms: list[float]
    # The same commit to a spool that no service reads: what the disk and the machine cost.
    controls_ms: list[float]
    wakes_per_s: float
    wakes_by_thread: dict[str, int]
    resident_kib: int

    @property
    def median_ms(self) -> float:
        return statistics.median(self.latencies_ms)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def quiet(bench: Bench, insert_count: int, idle_s: float, settle_s: float) -> Quiet:
    """Single requests with pauses, then nothing at all.

    The pauses are random, so that what follows a deletion (the mirror, the scrub, the ledger's
    checkpoint) and what the clock starts are under way at some of the INSERTs.
    """
    template = bench.directory / "app-quiet.db"
    data.make_app(template, 1000)
    bench.provider.stop()
    bench.provider.start(buffered=False)
    daemon = Daemon(bench.binary, bench.fresh("quiet"), bench.provider, template)
    jitter = random.Random(1)
    try:
        daemon.prepare(insert_count + 5)
        time.sleep(SETTLE_S)
        spool, control = data.open_spool(daemon.spool), data.open_spool(unread_spool(bench))
        latencies, revocations, inserts, controls = [], [], [], []
        for number in range(insert_count + 5):
            time.sleep(jitter.uniform(*PAUSES_S) / 2)
            controls.append(timed_insert(control, number)[1])
            time.sleep(jitter.uniform(*PAUSES_S) / 2)
            mark = bench.provider.log_size()
            start, insert_ms = timed_insert(spool, number)
            first, revocation = arrivals(bench, mark)
            # The first ones open the connection and load the code.
            if number >= 5:
                latencies.append(max(0.0, (first - start) * 1000))
                revocations.append(max(0.0, (revocation - start) * 1000))
                inserts.append(insert_ms)
        spool.close()
        control.close()
        time.sleep(settle_s)
        pid = daemon.process.pid
        before = voluntary_switches(pid)
        time.sleep(idle_s)
        after = voluntary_switches(pid)
        wakes = {name: count - before.get(name, 0) for name, count in after.items()}
        return Quiet(
            latencies, revocations, inserts, controls[5:], sum(wakes.values()) / idle_s,
            {name: count for name, count in wakes.items() if count}, status_kib(pid, "VmRSS"),
        )
    finally:
        daemon.stop()
        bench.drop(daemon)


def syncs(bench: Bench, request_count: int) -> dict[str, float]:
    """How often each file is synced for a deletion, when the next one comes after its end.

    strace counts: what the service believes of itself does not matter.
    """
    template = bench.directory / "app-syncs.db"
    data.make_app(template, request_count)
    daemon = Daemon(bench.binary, bench.fresh("syncs"), bench.provider, template)
    trace = bench.fresh("strace").with_suffix(".log")
    strace = None
    try:
        daemon.prepare(request_count)
        pid = daemon.process.pid
        strace = subprocess.Popen(
            ["strace", "-f", "-qq", "-yy", "-e", "trace=fsync,fdatasync", "-o", str(trace),
             "-p", str(pid)]
        )
        wait_for_tracer(pid, strace)
        spool, watch = data.open_spool(daemon.spool), SpoolWatch(daemon.spool)
        for number in range(request_count):
            timed_insert(spool, number)
            watch.wait("requests", ("completed",), SYNCS_S, daemon.check_alive)
        spool.close()
        watch.close()
    finally:
        if strace is not None:
            strace.send_signal(signal.SIGINT)
            strace.wait(SYNCS_S)
        daemon.stop()
    counts: dict[str, float] = {}
    for path in re.findall(r"sync\(\d+<([^>]*)>", trace.read_text()):
        name = pathlib.Path(path).name
        counts[name] = counts.get(name, 0) + 1 / request_count
    bench.drop(daemon)
    return counts


def wait_for_tracer(pid: int, strace: subprocess.Popen) -> None:
    """Until every thread is traced."""
    deadline = time.monotonic() + SYNCS_S
    while any("\nTracerPid:\t0\n" in (task / "status").read_text()
              for task in pathlib.Path(f"/proc/{pid}/task").iterdir()):
        if strace.poll() is not None or time.monotonic() > deadline:
            raise Failure("strace does not trace expunged; it needs root, or ptrace_scope 0")
        time.sleep(0.01)


def timed_insert(spool: sqlite3.Connection, number: int) -> tuple[float, float]:
    """When a deletion was submitted, and ms until it was committed."""
    start = time.time()
    spool.execute(
        "INSERT INTO requests (kind, user_id) VALUES ('delete_account', ?)",
        (data.user_id(2 * number),),
    )
    return start, (time.time() - start) * 1000


def unread_spool(bench: Bench) -> pathlib.Path:
    path = bench.fresh("unread").with_suffix(".db")
    data.make_spool(path)
    return path


def arrivals(bench: Bench, mark: int) -> tuple[float, float]:
    """When the first call after an insert and its revocation arrived."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        time.sleep(0.05)
        firsts = bench.provider.arrivals("/auth/token", since=mark)
        revocations = bench.provider.arrivals("/auth/revoke", since=mark)
        if firsts and revocations:
            return firsts[0], revocations[0]
    raise Failure("no revocation at the provider within 10 s of an insert")
