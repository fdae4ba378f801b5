"""Libraries in C that stand between the daemon and the kernel (LD_PRELOAD)."""

import os
import subprocess

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "preload")


def preload(name, place):
    """Compiles one of them into a directory; answers the path of the library."""
    library = os.path.join(place, f"{name}.so")
    subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", library, os.path.join(SOURCES, f"{name}.c")], check=True)
    return library
