"""The power goes at random points: what is on disk by then is what syncs made sure of, and parts of the rest.

A run of the daemon and its application is recorded once (Tests/PowerCuts); each point rebuilds their disk, starts the
real daemon on it, drives everything to its end and asks the provider, the stores and the spool. With a disk that ignores
syncs the same judges must find losses.
"""

import collections
import concurrent.futures
import os
import random
import shutil
import tempfile
import time

from disk import Disk
from point import Point, Promises
from recording import Recording, Environment
from scenario import scenario
from stage import BINARIES

LANES = 4
LYING_POINTS = 12
# One recording is one order of things; further ones are others.
POINTS_EACH = 500


@scenario()
def power_cuts(checks, seed, points=40):
    begun, found, done = time.monotonic(), collections.Counter(), 0
    kept = None
    for number in range(-(-points // POINTS_EACH)):
        count = min(POINTS_EACH, points - done)
        run = Run(checks, f"{seed} {number}")
        try:
            run.record()
            found.update(run.cut(count))
            done += count
            if number == 0:
                lying = run.cut(LYING_POINTS, ignores_syncs=True)
                checks.check("with a disk that ignores syncs the judges find it: "
                             + ", ".join(f"{count} × {problem[:40]}" for problem, count in lying.most_common()),
                             sum(lying.values()) >= LYING_POINTS // 2)
        finally:
            kept = run.close() or kept
    minutes = (time.monotonic() - begun) / 60
    checks.check(f"{done} power cuts, {done / minutes:.0f} a minute: nothing acknowledged is lost, nobody erased with a live"
                 " token, nothing called completed before it is, everything ends by itself", not found,
                 "\n".join([*(f"{count} × {problem}" for problem, count in found.most_common(20)), f"kept {kept}"]))


class Run:
    """One recording and the cuts of it."""

    def __init__(self, checks, seed):
        self.checks, self.random = checks, random.Random(f"power cuts {seed}")
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.place = tempfile.mkdtemp(prefix="cut-", dir=memory)
        self.environment = Environment(self.place, BINARIES, self.random)
        self.is_kept = False

    def record(self):
        self.recording = Recording(self.environment)
        self.recording.run()
        disk = Disk(self.recording.first, is_ordered=True)
        for kind, _, values, first, second in self.recording.records:
            disk.follow(kind, values, first, second)
        kinds = collections.Counter(kind for kind, *_ in self.recording.records)
        self.checks.check(
            f"the recording has no hole: {kinds['w']} writes, {kinds['s']} syncs, {kinds['c'] + kinds['l'] + kinds['d']} new"
            f" names, {kinds['u'] + kinds['r']} names gone or changed, {kinds['t']} cuts",
            not disk.differences(self.recording.disk), disk.differences(self.recording.disk))

    def cut(self, count, ignores_syncs=False):
        """Plays so many points; answers each kind of problem with its number."""
        found = collections.Counter()
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            running = set()
            for point in self._points(count, ignores_syncs):
                running.add(pool.submit(point.play))
                if len(running) >= 2 * LANES:
                    done, running = concurrent.futures.wait(
                        running, return_when=concurrent.futures.FIRST_COMPLETED)
                    self._count(found, done, ignores_syncs)
            self._count(found, running, ignores_syncs)
        return found

    def _count(self, found, ended, ignores_syncs):
        for problems in ended:
            found.update({problem.partition(": user")[0] for problem in problems.result()})
            self.is_kept |= bool(problems.result()) and not ignores_syncs

    def _points(self, count, ignores_syncs):
        """In the order of the recording, half of them with names in their order and half without."""
        records = self.recording.records
        for is_ordered in (True, False):
            places = sorted(self.random.randrange(len(records)) for _ in range((count + is_ordered) // 2))
            disk, promises = Disk(self.recording.first, is_ordered, ignores_syncs), Promises()
            for index, (kind, _, values, first, second) in enumerate(records):
                disk.follow(kind, values, first, second)
                if kind == "m":
                    promises.hear(first)
                while places and places[0] == index:
                    places.pop(0)
                    number = f"{'lie-' if ignores_syncs else ''}{index}-{self.random.getrandbits(32):08x}"
                    yield Point(self.environment, number, self.random.random(), disk.image(self.random),
                                promises.copy(), os.path.join(self.place, number))

    def close(self):
        """Answers the place if something of it is worth a look."""
        self.environment.close()
        if not self.is_kept:
            shutil.rmtree(self.place)
            return None
        return self.place
