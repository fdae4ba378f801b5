"""Changes a signed ledger in many ways and counts what the verifier does not notice.

tamper.py VERIFIER KEY ENTRIES CHECKPOINTS [all [PART PARTS]]: `all` flips every bit, for some minutes of all
processors; every PARTS-th change from PART on where that is too long.

Every flip is judged by the verifier's own functions. What its answer cannot depend on is not done anew: it takes the
notes one by one (`follow`), so the notes before the first one that reads the changed bytes leave it in the same state as
they do in the sound ledger. A flip that makes or breaks a line is judged from the beginning.
"""
import functools
import importlib.util
import multiprocessing
import os
import random
import re
import sys

SAMPLE_ENTRY_BITS, SAMPLE_NOTE_BITS = 20_000, 2_000
LINE_END = 0x0a


def load(path):
    """The verifier; its pure functions remember what they computed."""
    spec = importlib.util.spec_from_file_location("verifier", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.read_note = functools.lru_cache(maxsize=2_000)(module.read_note)
    module.digest = functools.lru_cache(maxsize=20_000)(module.digest)
    module.recover = functools.lru_cache(maxsize=100)(module.recover)
    module.times = functools.lru_cache(maxsize=100)(times_like(module))
    return module


def times_like(module):
    """The verifier's multiplication, step by step, but each point is doubled once for all numbers."""
    doubled = functools.lru_cache(maxsize=4)(lambda point: [point])

    def times(number, point):
        result, doubles = (0, 1, 1, 0), doubled(point)
        for place in range(number.bit_length()):
            if place == len(doubles):
                doubles.append(module.add(doubles[-1], doubles[-1]))
            if number >> place & 1:
                result = module.add(result, doubles[place])
        return result

    chance = random.Random(1)
    for number in [0, 1, 2] + [chance.getrandbits(256) for _ in range(20)]:
        assert times(number, module.BASE) == module.times(number, module.BASE)
    return times


class Reads(list):
    """Leaves that note which of them are read."""

    def __init__(self, leaves):
        super().__init__(leaves)
        self.places = set()

    def __getitem__(self, place):
        self.places.update(range(*place.indices(len(self))) if isinstance(place, slice) else [place])
        return super().__getitem__(place)


class Judge:
    """A sound ledger and what the verifier knew before each note of it."""

    def __init__(self, verifier, key, entries, notes):
        self.verifier, self.key, self.entries, self.file = verifier, key, entries, notes
        self.states, self.notes, self.readers = [], [], {}
        follow = verifier.follow

        def noting(state, note, key, leaves):
            leaves = Reads(leaves)
            after = follow(state, note, key, leaves)
            for place in leaves.places:
                self.readers.setdefault(place, len(self.notes))
            self.states.append(state)
            self.notes.append(note)
            return after

        verifier.follow = noting
        self.says = verifier.check_ledger(key, entries, notes)
        verifier.follow = follow
        self.leaves = entries.split(b"\n")[:-1]
        assert b"".join(note + b"\n" for note in self.notes) == notes
        self.leaf_at, self.note_at = spans(self.leaves), spans(self.notes)

    def misses(self, entries, notes):
        """Judged from the beginning."""
        try:
            self.verifier.check_ledger(self.key, entries, notes)
        except Exception:
            return False
        return True

    def misses_flip(self, is_entry, bit):
        data = self.entries if is_entry else self.file
        old = data[bit // 8]
        if LINE_END in (old, old ^ 1 << bit % 8):
            return self.misses(*self.flipped(is_entry, bit))
        number, begin = (self.leaf_at if is_entry else self.note_at)[bit // 8]
        items = self.leaves if is_entry else self.notes
        sound = items[number]
        items[number] = flipped(sound, bit - begin * 8)
        try:
            return self._agrees(self.readers[number] if is_entry else number)
        finally:
            items[number] = sound

    def _agrees(self, first):
        state = self.states[first] if first < len(self.notes) else None
        try:
            for note in self.notes[first:]:
                state = self.verifier.follow(state, note, self.key, self.leaves)
        except Exception:
            return False
        return True

    def flipped(self, is_entry, bit):
        """The whole of it, with one bit that is another."""
        if is_entry:
            return flipped(self.entries, bit), self.file
        return self.entries, flipped(self.file, bit)


def spans(items):
    """For each byte of the lines, or notes with their ends, which item it is in and where that begins."""
    found, begin = [], 0
    for number, item in enumerate(items):
        found += [(number, begin)] * (len(item) + 1)
        begin += len(item) + 1
    return found


def bits_of(data, count, is_all):
    """The bits that are flipped; neighbours stay together, since what they have in common is remembered."""
    bits = range(len(data) * 8)
    return bits if is_all else sorted(random.Random(7).sample(bits, min(count, len(bits))))


def reshaped(entries, notes, is_all):
    """Functions that make entries and notes of which something is missing, doubled or in another place."""
    chance = random.Random(7)
    leaves = entries.split(b"\n")[:-1]
    places = range(len(leaves)) if is_all else chance.sample(range(len(leaves)), 50)
    for at in places:
        yield lambda at=at: (join(leaves[:at] + leaves[at + 1:]), notes)
        yield lambda at=at: (join(leaves[:at]), notes)
        yield lambda at=at: (join(leaves[:at] + leaves[at:at + 1] + leaves[at:]), notes)
        if at + 1 < len(leaves):
            yield lambda at=at: (join(leaves[:at] + leaves[at:at + 2][::-1] + leaves[at + 2:]), notes)
    for length in chance.sample(range(1, len(entries)), 50):
        yield lambda length=length: (entries[:length], notes)
    for length in chance.sample(range(1, 600), 50):
        yield lambda length=length: (entries, notes[:-length])
    # Cut after a whole note, and after each kind of it: what is left is well-formed.
    ends = note_ends(notes)[:-1]
    for end in ends if is_all else sorted({*ends[-4:], *chance.sample(ends, min(40, len(ends)))}):
        yield lambda end=end: (entries, notes[:end])


def note_ends(notes):
    """Where each note ends: after two blank lines, one of which is within the note."""
    return [blank.end() for blank in re.finditer(rb"(?<=\n)\n", notes)][1::2]


def flipped(data, bit):
    return data[:bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1:]


def join(leaves):
    return b"".join(leaf + b"\n" for leaf in leaves)


def judge_slice(verifier, key, entries, notes, is_all, part, parts):
    """[bits of entries, bits of notes, other changes] tried, and which of them were missed."""
    judge, tried, missed = Judge(load(verifier), key, entries, notes), [0, 0, 0], []
    for kind, data, count in ((0, entries, SAMPLE_ENTRY_BITS), (1, notes, SAMPLE_NOTE_BITS)):
        bits = bits_of(data, count, is_all)
        for bit in bits[len(bits) * part // parts:len(bits) * (part + 1) // parts]:
            tried[kind] += 1
            if judge.misses_flip(kind == 0, bit):
                missed.append(f"bit {bit} of the {'notes' if kind else 'entries'}")
    for number, make in list(enumerate(reshaped(entries, notes, is_all)))[part::parts]:
        tried[2] += 1
        if judge.misses(*make()):
            missed.append(f"change {number}")
    return tried, missed


def main(verifier, key, entries_path, notes_path, is_all="", part=0, parts=1):
    with open(entries_path, "rb") as file:
        entries = file.read()
    with open(notes_path, "rb") as file:
        notes = file.read()
    print(Judge(load(verifier), key, entries, notes).says)
    shares = os.cpu_count() or 1
    work = [(verifier, key, entries, notes, bool(is_all), int(part) * shares + share, int(parts) * shares)
            for share in range(shares)]
    with multiprocessing.Pool(shares) as pool:
        found = pool.starmap(judge_slice, work)
    tried = [sum(counts[kind] for counts, _ in found) for kind in range(3)]
    missed = [name for _, names in found for name in names]
    for name in missed[:20]:
        print("missed:", name)
    print(f"{tried[0]} of {len(entries) * 8} bits of entries, {tried[1]} of {len(notes) * 8} bits of notes,"
          f" {tried[2]} other changes, {len(missed)} missed")
    return len(missed) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
