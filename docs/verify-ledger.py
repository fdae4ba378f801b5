#!/usr/bin/env python3
"""Checks the ledger of expunged, or one receipt, with nothing but the Python standard library:

verify-ledger.py KEY --receipt RECEIPT.json
verify-ledger.py KEY --ledger ENTRIES CHECKPOINTS       (--earlier instead: CHECKPOINTS is older than ENTRIES)

KEY is the verifier key that `expungectl ledger` shows; keep it apart from the machine. ENTRIES comes from `expungectl
ledger export`, CHECKPOINTS is a copy of /var/log/expunged/checkpoints of after it. Exit status: 0 all agrees, 1 not.
Formats: C2SP signed-note and tlog-checkpoint, RFC 6962 (hashes), RFC 9162 2.1.3.2 (inclusion), RFC 8032 (Ed25519).
"""
import base64, functools, hashlib, json, re, sys  # one line: the whole must stay short

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def recover(text):
    sign, y = divmod(int.from_bytes(text, "little"), 1 << 255)
    assert y < P
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - x2) % P == 0 and (x or not sign)
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, p):
    result = (0, 1, 1, 0)
    while n:
        result, p, n = add(result, p) if n & 1 else result, add(p, p), n >> 1
    return result


BASE = recover((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def signed(public, message, signature):
    s = int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % Q
    left, right = times(s, BASE), add(recover(signature[:32]), times(h, recover(public)))
    return len(signature) == 64 and s < Q and all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def decode(text):
    data = base64.b64decode(text, validate=True)
    assert base64.b64encode(data) == text
    return data


def read_note(note, key):
    """The lines of a note that KEY signed, and nobody else; an exception otherwise."""
    name, _, public = key.encode().split(b"+", 2)
    public = decode(public)
    text, line = re.fullmatch(rb"((?:[^\n]+\n)+)\n([^\n]+)\n", note).groups()
    dash, signer, data = line.split(b" ")
    key_id = digest(name, b"\n", public)[:4]
    assert dash == "\u2014".encode() and signer == name and decode(data)[:4] == key_id
    assert signed(public[1:], text, decode(data)[4:]), "the signature is wrong"
    lines = text.split(b"\n")[:-1]
    assert lines[0] in (name, name + b"/tombstones")
    return lines


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def root(edge):
    return functools.reduce(lambda right, left: digest(b"\1", left, right), [hash for _, hash in reversed(edge)])


def grow(edge, hash):
    size = 1
    while edge and edge[-1][0] == size:
        hash, size = digest(b"\1", edge.pop()[1], hash), size * 2
    edge.append((size, hash))


def follow(state, note, key, leaves):
    """What is known of the leaves after one more note; an exception where it disagrees with them."""
    (edge, size, last_time, last_tombstone), lines = state, read_note(note, key)
    if lines[0].endswith(b"/tombstones"):
        for index, tombstone in (line.split(b" ", 1) for line in lines[1:]):
            assert int(index) > last_tombstone and leaves[int(index)] == tombstone, "a tombstone differs"
            last_tombstone = int(index)
        return edge, size, last_time, last_tombstone
    assert len(lines) == 4 and int(lines[1]) >= size and lines[3] >= last_time, "checkpoints out of order"
    assert int(lines[1]) <= len(leaves), "entries are missing: cut, or an old copy"
    edge = edge.copy()
    for data in leaves[size : int(lines[1])]:
        grow(edge, digest(b"\0", data))
    assert root(edge) == decode(lines[2]), f"the first {int(lines[1])} entries are not those that were signed"
    return edge, int(lines[1]), lines[3], last_tombstone


def check_ledger(key, entries, notes, is_earlier=False):
    *leaves, rest = entries.split(b"\n")
    assert not rest and notes, "the last entry has no end, or there is no checkpoint"
    parts = re.split(rb"(?<=\n)\n", notes)
    assert parts.pop() == b"" and len(parts) % 2 == 0, "the checkpoint file ends within a note"
    pairs = zip(parts[::2], parts[1::2])
    state = functools.reduce(lambda s, p: follow(s, p[0] + b"\n" + p[1], key, leaves), pairs, ([], 0, b"", -1))
    assert is_earlier or state[1] == len(leaves), "entries without a signature: the file was cut, or is an earlier copy"
    return f"{state[1]} of {len(leaves)} entries are signed; the last signature is of {state[2].decode() or 'never'}"


def check_receipt(key, receipt):
    ledger, entries = receipt["ledger"], []
    _, size, top, _ = read_note(ledger["checkpoint"].encode(), key)
    for item in ledger["entries"]:
        first, last, hash = item["index"], int(size) - 1, digest(b"\0", item["entry"].encode())
        assert 0 <= first <= last
        for sibling in (decode(text.encode()) for text in item["proof"]):
            assert last > 0
            if first & 1 or first == last:
                hash = digest(b"\1", sibling, hash)
                while not first & 1 and first:
                    first, last = first >> 1, last >> 1
            else:
                hash = digest(b"\1", hash, sibling)
            first, last = first >> 1, last >> 1
        assert last == 0 and hash == decode(top), f"entry {item['index']} is not in the ledger"
        entries.append(json.loads(item["entry"]))
    assert all(entry["request"] == receipt["request_id"] for entry in entries), "an entry of another request"
    verdicts = {entry["identity"]: entry["verdict"] for entry in entries if entry["event"] == "verdict"}
    assert verdicts == {i["identity_id"]: i["verdict"] for i in receipt["identities"]}, "a verdict differs"
    rows = {entry["target"]: entry["rows"] for entry in entries if entry["event"] == "verified"}
    told = {target["target"]: sum(table["rows"] for table in target["tables"]) for target in receipt["targets"]}
    assert rows == told, "a count differs"
    assert [entry.get("state") for entry in entries].count("completed") == 1, "it was not completed"
    return f"the receipt of {receipt['request_id']} is what the ledger says"


if __name__ == "__main__":
    try:
        data = [open(file, "rb").read() for file in sys.argv[3:]]
        k, what = sys.argv[1:3]
        print(check_receipt(k, json.loads(*data)) if what == "--receipt" else check_ledger(k, *data, what == "--earlier"))
    except Exception as error:
        sys.exit(f"NOT VERIFIED: {error or type(error).__name__}")
