#!/usr/bin/env python3
"""Texts that must not come out anywhere, and the search for them in every form that they may take.

usage: Tests/Shared/canaries.py LOG...
  Looks in the logs for the canaries of the test sources: literals of the form canary-WORD-HEX that
  the fixtures use as secrets and user ids. Fails when it finds one, or fails to find a planted one.
"""

import base64
import os
import random
import re
import string
import sys
import tempfile
import urllib.parse

LENGTH = 24
IN_SOURCES = re.compile(rb"canary-[a-z]+-[0-9a-f]{8,}")


def canary(source=random.SystemRandom()):
    """A text that nothing else in the world is equal to."""
    return "".join(source.choices(string.ascii_letters + string.digits, k=LENGTH))


def in_base64(raw):
    """What stays of `raw` in the base64 of any longer text that contains it."""
    for before in range(3):
        text = base64.b64encode(b"\0" * before + raw)
        # The first characters depend on what stands before, the last ones on what follows.
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        yield text[first:last]
        yield text[first:last].replace(b"+", b"-").replace(b"/", b"_")


def forms(secret):
    """Every form in which a secret may come out."""
    raw = secret.encode() if isinstance(secret, str) else secret
    found = {raw, raw.hex().encode(), raw.hex().upper().encode(), *in_base64(raw)}
    found.add(urllib.parse.quote(raw, safe="").encode())
    found.add("".join(f"%{byte:02x}" for byte in raw).encode())
    found.add("".join(f"%{byte:02X}" for byte in raw).encode())
    # Without the zero byte at an end it is both byte orders of UTF-16.
    found.add(b"\0".join(bytes([byte]) for byte in raw))
    return found


class Canaries:
    """What must not be found; a user id may stand in a file as long as its request is open."""

    def __init__(self):
        self._forms = {}

    def __len__(self):
        return len(self._forms)

    def add(self, *secrets):
        for secret in secrets:
            assert len(secret) >= 16, "too short to be unmistakable"
            self._forms.setdefault(secret, forms(secret))

    def found(self, data, besides=()):
        """Those that are in `data`, but none of `besides`."""
        return [
            secret for secret, needles in self._forms.items()
            if secret not in besides and any(needle in data for needle in needles)
        ]

    def found_in_files(self, places, besides=()):
        """(file, beginning of the canary) of all hits below the places."""
        hits = []
        for path in files_below(places):
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except FileNotFoundError:
                continue  # A journal or a WAL that ended meanwhile.
            hits += [(os.path.basename(path), brief(hit)) for hit in self.found(data, besides)]
        return hits

    def finds_planted(self):
        """Whether each form of some of them would be found in a file; else the search is worthless."""
        with tempfile.TemporaryDirectory() as place:
            some = list(self._forms.values())
            for needles in some[:5] + some[-5:]:
                for needle in needles:
                    with open(os.path.join(place, "planted"), "wb") as file:
                        file.write(b"so many words " + needle + b" and more")
                    if len(self.found_in_files([place])) != 1:
                        return False
        return len(self) > 0


def files_below(places):
    for place in places:
        if os.path.isfile(place):
            yield place
        for parent, _, names in os.walk(place):
            for name in names:
                path = os.path.join(parent, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    yield path


def brief(secret):
    return (secret if isinstance(secret, str) else secret.hex())[:6] + "…"


def of_sources(folder):
    """The canaries that the sources below a folder use."""
    canaries = Canaries()
    for path in files_below([folder]):
        if path.endswith(".swift"):
            with open(path, "rb") as file:
                canaries.add(*(hit.decode() for hit in IN_SOURCES.findall(file.read())))
    return canaries


def main(logs):
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    canaries = of_sources(folder)
    hits = canaries.found_in_files(logs)
    for name, secret in hits:
        print(f"canaries: {secret} is in {name}")
    if not canaries.finds_planted():
        print("canaries: the search does not find a planted one")
        return 1
    size = sum(os.path.getsize(log) for log in logs)
    print(f"canaries: {len(canaries)} of the test sources, {len(hits)} in {size} bytes of output")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
