"""Changes a signed ledger in many ways and counts what the verifier does not notice.

tamper.py VERIFIER KEY ENTRIES CHECKPOINTS [all [PART PARTS]]: `all` flips every bit, which takes an hour; every
PARTS-th of them from PART on when several run beside each other.
"""
import functools
import importlib.util
import itertools
import random
import sys


def load(path):
    spec = importlib.util.spec_from_file_location("verifier", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # What was checked or hashed once is not done again: only what is changed costs time.
    module.read_note = functools.lru_cache(maxsize=100)(module.read_note)
    module.leaf = functools.lru_cache(maxsize=5_000)(module.leaf)
    module.node = functools.lru_cache(maxsize=20_000)(module.node)
    return module


def changes(entries, notes, is_all):
    """Pairs of entries and notes that are not what was signed."""
    chance = random.Random(7)
    leaves, count = entries.split(b"\n")[:-1], len(entries)
    bits = range(count * 8) if is_all else chance.sample(range(count * 8), 1500)
    for bit in bits:
        yield flipped(entries, bit), notes
    last = notes[:-2].rfind(b"\n\n", 0, notes[:-2].rfind(b"\n\n"))
    bits = range(len(notes) * 8)
    chosen = bits if is_all else [*chance.sample(bits, 300), *range(last * 8, len(notes) * 8, 7)]
    for bit in chosen:
        yield entries, flipped(notes, bit)
    places = range(len(leaves)) if is_all else chance.sample(range(len(leaves)), 50)
    for place in places:
        yield join(leaves[:place] + leaves[place + 1:]), notes
        yield join(leaves[:place] + leaves[place:place + 2][::-1] + leaves[place + 2:]) \
            if place + 1 < len(leaves) else b"", notes
        yield join(leaves[:place]), notes
        yield join(leaves[:place] + leaves[place:place + 1] + leaves[place:]), notes
    for length in chance.sample(range(1, count), 50):
        yield entries[:length], notes
    for length in chance.sample(range(1, 600), 50):
        yield entries, notes[:-length]


def flipped(data, bit):
    return data[:bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1:]


def join(leaves):
    return b"".join(leaf + b"\n" for leaf in leaves)


def main(verifier, key, entries_path, notes_path, is_all="", part=0, parts=1):
    verifier = load(verifier)
    with open(entries_path, "rb") as file:
        entries = file.read()
    with open(notes_path, "rb") as file:
        notes = file.read()
    print(verifier.check_ledger(key, entries, notes))
    tried = missed = 0
    for changed in itertools.islice(changes(entries, notes, bool(is_all)), int(part), None, int(parts)):
        tried += 1
        try:
            verifier.check_ledger(key, *changed)
            # A checkpoint file that ends with an earlier note says less, and nothing wrong.
            if not (changed[0] == entries and notes.startswith(changed[1])):
                missed += 1
        except Exception:
            pass
    print(f"{tried} changes, {missed} missed")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
