#!/usr/bin/env python3
"""Checks the ledger of expunged, or one receipt, with nothing but the Python standard library:
verify-ledger.py KEY --receipt RECEIPT.json|.html       (names the members of it that nothing proves)
verify-ledger.py KEY --ledger ENTRIES CHECKPOINTS [STATE] (--earlier instead: CHECKPOINTS is older than ENTRIES)

KEY is the verifier key that `expungectl ledger` shows; keep it apart from the machine. ENTRIES comes from `expungectl
ledger export`, CHECKPOINTS is a copy of /var/log/expunged/checkpoints of after it. With STATE, a copy of state.db of
before CHECKPOINTS, its table ledger_checkpoints is compared, too. Exit status: 0 all agrees, 1 not.
Formats: C2SP signed-note and tlog-checkpoint, RFC 6962 (hashes), RFC 9162 2.1.3 (inclusion), RFC 8032 (Ed25519).
"""
import base64, functools, hashlib, html, json, re, sqlite3, sys  # one line: the whole must stay short

P, Q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, Y = -121665 * pow(121666, P - 2, P) % P, 4 * pow(5, P - 2, P) % P
X = 15112221349535400772501151409588531511454012693041857206046113283949847762202
BASE = X, Y, 1, X * Y % P
LATER = "abandoned addenda data_returned_at forgotten ledger next_recheck_at rechecks rechecks_abandoned request_id scrubbed_at summary"


def recover(text):
    sign, y = divmod(int.from_bytes(text, "little"), 1 << 255)
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert y < P and (x * x - x2) % P == 0 and (x or not sign)
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
    """The lines of a note that KEY signed, and no other key; an exception otherwise."""
    parts = key.encode().split(b"+", 2)
    if len(parts) != 3:
        raise ValueError("KEY is no public key of the form NAME+HASH+KEY; see: expungectl ledger")
    name, _, public = parts
    public = decode(public)
    text, line = re.fullmatch(rb"((?:[^\n]+\n)+)\n([^\n]+)\n", note).groups()
    dash, signer, data = line.split(b" ")
    assert (dash, signer, decode(data)[:4]) == ("\u2014".encode(), name, digest(name, b"\n", public)[:4])
    assert signed(public[1:], text, decode(data)[4:]), "the signature is wrong"
    lines = text.split(b"\n")[:-1]
    assert lines[0] in (name, name + b"/tombstones")
    return lines


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def follow(state, note, key, leaves):
    """What is known of the leaves after one more note; an exception where it disagrees with them."""
    edge, size, last_time, last_tombstone, lines = state[0].copy(), *state[1:], read_note(note, key)
    if lines[0].endswith(b"/tombstones"):
        for index, tombstone in (line.split(b" ", 1) for line in lines[1:]):
            assert int(index) > last_tombstone and leaves[int(index)] == tombstone, "a tombstone differs"
            last_tombstone = int(index)
        return edge, size, last_time, last_tombstone
    assert len(lines) == 4 and int(lines[1]) >= size and lines[3] >= last_time, "checkpoints out of order"
    assert int(lines[1]) <= len(leaves), "entries are missing: cut, or an old copy"
    for data in leaves[size : int(lines[1])]:
        hash, count = digest(b"\0", data), 1
        while edge and edge[-1][0] == count:
            hash, count = digest(b"\1", edge.pop()[1], hash), count * 2
        edge.append((count, hash))
    top = functools.reduce(lambda right, left: digest(b"\1", left, right), [hash for _, hash in reversed(edge)])
    assert top == decode(lines[2]), f"the first {int(lines[1])} entries are not those that were signed"
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


def check_rows(notes, state):
    """Whether each row of the state that CHECKPOINTS is about is one of its notes, and none is missing between them."""
    database = sqlite3.connect(f"file:{state}?immutable=1", uri=True)
    accepted = int((database.execute("SELECT value FROM meta WHERE key = 'ledger_accepted'").fetchone() or (0,))[0])
    rows = database.execute("SELECT size, note, ends_at FROM ledger_checkpoints WHERE id > ? ORDER BY id", (accepted,)).fetchall()
    known, end = [], 0
    for part in re.findall(rb"(?:[^\n]+\n)+\n[^\n]+\n\n", notes):
        end += len(part)
        if not part.split(b"\n")[0].endswith(b"/tombstones"):
            known.append((int(part.split(b"\n")[1]), part[:-1].decode(), end))
    # A copy of the file is newer; a crash leaves out one row at most.
    assert rows == known[: len(rows)] and (rows or len(known) < 2), "the checkpoints in the state are not those of the file"
    return f"; {len(rows)} of {len(known)} checkpoints are in the state"


def root(leaf, index, size, path):  # of a tree of `size` leaves, by one of them and what is beside its way up
    if size == 1 and index == 0 and not path:
        return leaf
    half = 1 << (size - 1).bit_length() - 1
    if index < half:
        return digest(b"\1", root(leaf, index, half, path[:-1]), path[-1])
    return digest(b"\1", path[-1], root(leaf, index - half, size - half, path[:-1]))


def check_receipt(key, text):
    """Compares a receipt with its entries in the ledger, and names the members that they do not prove."""
    page = re.search(rb'<pre class="data">(.*?)</pre>', text, re.S)
    text = html.unescape(page[1].decode()) if page else text
    receipt = json.loads(text, object_pairs_hook=lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else None)
    ledger, proven = receipt["ledger"], {"completed_at", "ledger", "request_id"}
    _, size, top, _ = read_note(ledger["checkpoint"].encode(), key)
    for item in ledger["entries"]:
        leaf, path = digest(b"\0", item["entry"].encode()), [decode(hash.encode()) for hash in item["proof"]]
        assert root(leaf, item["index"], int(size), path) == decode(top), f"entry {item['index']} is not in the ledger"
    entries = [json.loads(item["entry"]) for item in ledger["entries"]]
    assert all(entry["request"] == receipt["request_id"] for entry in entries), "an entry of another request"
    (end,) = (entry for entry in entries if entry.get("state") == "completed")
    assert (ledger["key"], receipt["completed_at"]) == (key, end["time"]), "another key, or time of its end"
    part = {name: receipt[name] for name in receipt if name not in LATER.split()}
    form = json.dumps(part, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    assert base64.urlsafe_b64decode(end["receipt"] + "=") == digest(form), "it is not what it was at its completion"
    said = [[entry[k] for k in ("time", "identity", "provider", "verdict", "detail")]
            for entry in entries if entry["event"] == "addendum"]
    stated = [[item[k] for k in ("at", "identity_id", "provider", "verdict", "event")]
              for item in receipt.get("addenda", [])]
    assert sorted(stated) == sorted(said), "an addendum differs"
    proven |= part.keys()
    said = {entry["identity"]: entry["verdict"] for entry in entries if entry["event"] == "verdict"}
    assert said == {link["identity_id"]: link["verdict"] for link in receipt["identities"]}, "a verdict differs"
    said = {entry["store"]: [entry["event"] == "verified", entry["rows"], entry["newer"]]
            for entry in entries if entry["event"] in ("verified", "promised", "not_looked_for")}
    stated = {store["store"]: [store["verified"], *(
        sum(table[count] for table in store["tables"] if table["action"] != "held")
        for count in ("rows", "newer_rows"))] for store in receipt["stores"]}
    assert stated == said, "a count differs"
    checks = [entry for entry in entries if entry["event"] in ("rechecked", "returned")]
    said = [(check["time"], check.get("detail", "returned"), check.get("store"), check.get("rows")) for check in checks]
    stated = [(check["at"], check["outcome"], found.get("store"), found.get("rows"))
              for check in receipt.get("rechecks", []) for found in check["found"] or [{}]]
    assert stated == (said if len(stated) < 32 else said[-len(stated) :]), "a recheck differs"
    part = "the data in the page (not the text that a browser shows) of " if page else ""
    return f"the ledger proves {part}receipt {receipt['request_id']} but for: {', '.join(sorted(receipt.keys() - proven))}"


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] not in ("--receipt", "--ledger", "--earlier"):
        sys.exit(__doc__.split("\n\n")[0])
    try:
        k, what, *data = *sys.argv[1:3], *(open(file, "rb").read() for file in sys.argv[3:5])
        more = check_rows(data[1], sys.argv[5]) if len(sys.argv) > 5 else ""
        print(check_receipt(k, *data) if what == "--receipt" else check_ledger(k, *data, what == "--earlier") + more)
    except Exception as error:
        sys.exit(f"NOT VERIFIED: {error or type(error).__name__}")
