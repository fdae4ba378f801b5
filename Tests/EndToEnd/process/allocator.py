"""The daemon's allocator in a program of its own: blocks keep their bytes, freed ones lose them, threads may end."""

import os
import shutil
import subprocess
import tempfile

from scenario import scenario
from stage import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = [os.path.join(ROOT, "Sources", name) for name in ("CAllocator", "CLinux")]
# Each is a race or goes by chance.
TIMES = 3


@scenario()
def allocator(checks, seed):
    del seed  # The program has seeds of its own.
    directory = tempfile.mkdtemp(prefix="expunged-allocator-")
    try:
        program = os.path.join(directory, "allocator")
        subprocess.run(
            ["cc", "-O1", "-fno-builtin", "-o", program, os.path.join(HERE, "allocator.c"),
             *[os.path.join(source, os.path.basename(source) + ".c") for source in SOURCES],
             *["-I" + os.path.join(source, "include") for source in SOURCES],
             "-ljemalloc", "-lpthread", "-ldl"], check=True)
        runs(checks, program, "blocks", "4 threads keep every byte of their blocks")
        runs(checks, program, "wiped", "freed memory holds nothing of what was there")
        runs(checks, program, "metered", "a thread with a meter gets no more than that")
        runs(checks, program, "threads", "threads end that never allocated")
    finally:
        shutil.rmtree(directory)


def runs(checks, program, how, what):
    for _ in range(TIMES):
        done = subprocess.run([program, how], capture_output=True, text=True, timeout=120)
        if (done.returncode, done.stdout) != (0, "done\n"):
            checks.check(what, False, (done.returncode, done.stdout, done.stderr))
            return
    checks.check(what, True)
