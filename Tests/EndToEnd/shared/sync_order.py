"""Reads what strace wrote, and judges whether each acknowledgement follows the sync of what it says."""

import collections
import json
import re

UNFINISHED = re.compile(r"^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$")
WHOLE = re.compile(r"^(\d+) +(\w+)\((.*)$")
RESULT = re.compile(r"= (-?\d+)[^=]*$")
QUOTED = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
REQUEST = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
WAL, SPOOL = "state.db-wal", "queue.db"

# `began` and `ended` are numbers of lines: what strace saw first stands first.
Call = collections.namedtuple("Call", "name file data result began ended")


def read_trace(path):
    calls, open_calls = [], {}
    with open(path) as file:
        for number, line in enumerate(file):
            if found := UNFINISHED.match(line):
                open_calls[found[1]] = (found[2], found[3], number)
            elif found := RESUMED.match(line):
                name, text, began = open_calls.pop(found[1], (None, "", 0))
                if name:
                    calls.append(to_call(name, text + found[3], began, number))
            elif found := WHOLE.match(line):
                calls.append(to_call(found[2], found[3], number, number))
    return sorted(calls, key=lambda call: call.ended)


def to_call(name, text, began, ended):
    # The descriptor with its path or its socket, in hexadecimal with -xx, then the data.
    place, _, text = re.split(r"(>[,)])", text, maxsplit=1) if ">" in text else ("", "", text)
    place = place.partition("<")[2]
    if "\\x" in place:
        place = "".join(chr(int(code, 16)) for code in re.findall(r"\\x([0-9a-f]{2})", place))
    data = b"".join(bytes.fromhex(part.replace("\\x", "")) for part in QUOTED.findall(text))
    result = RESULT.search(text.rstrip())
    return Call(name, place.rsplit("/", 1)[-1], data, int(result[1]) if result else None, began, ended)


def without_syncs(calls):
    return [call for call in calls if call.name not in ("fdatasync", "fsync")]


def judge_trace(calls):
    """(acknowledgements after a sync, acknowledgements without), each by the way it took."""
    proven, unproven, seen = [], [], set()
    for call in calls:
        for way, identifier in acknowledged(call):
            if identifier in seen:
                continue
            seen.add(identifier)
            (proven if is_on_disk(calls, identifier, call.began) else unproven).append(way)
    return proven, unproven


def acknowledged(call):
    """What one call reports to the outside: an answer 202 on a socket, or a request's id in the spool."""
    if call.name in ("write", "writev", "sendto", "sendmsg") \
            and call.data.startswith(b"HTTP/1.1 202"):
        body = json.loads(call.data.partition(b"\r\n\r\n")[2])
        yield "socket", (body.get("id") or body["identity_id"]).encode()
    if call.name == "pwrite64" and call.file == SPOOL:
        for identifier in REQUEST.findall(call.data):
            yield "spool", identifier


def is_on_disk(calls, identifier, before):
    """Whether a page with the id was written to the WAL, and then a sync ended well, `before` a line."""
    raw = bytes.fromhex(identifier.decode().replace("-", ""))
    written = [call.ended for call in calls if call.name == "pwrite64" and call.file == WAL
               and call.ended < before and raw in call.data]
    return bool(written) and any(
        call.name == "fdatasync" and call.file == WAL and call.result == 0
        and call.began > written[0] and call.ended < before for call in calls)
