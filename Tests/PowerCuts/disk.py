"""A disk as a recording says it was: what is on it for sure, what may be, and what a power cut leaves of that.

Data of a file is on disk for sure once an fsync or fdatasync of it ended that began after the write. Of everything
else each sector of 512 bytes is in any state that it had since then, and the length, too. A name is there for sure
after an fsync of its directory. A sync of a file also keeps the names that lead to it, as ext4, XFS and btrfs do.
With `ordered` all names change in their order, and any sync keeps all earlier ones, as a journal does.
"""

import os
import struct

RECORD = struct.Struct("<IIQQQQII")
SECTOR = 512


def records(log, head_size):
    """(kind, time in ns, three values, first name or data, second name) of each record, in their order."""
    with open(log, "rb") as file:
        end, = struct.unpack("<Q", file.read(8))
        file.seek(0)
        data = file.read(end)
    at = head_size
    while at < end:
        size, kind, time_ns, a, b, c, first, second = RECORD.unpack_from(data, at)
        start = at + RECORD.size
        yield chr(kind), time_ns, (a, b, c), data[start:start + first], data[start + first:start + first + second]
        at += size


def snapshot(root):
    """(path, inode, mode, data; None for a directory) of everything, directories before what is in them."""
    found = []
    for folder, names, files in os.walk(root):
        status = os.lstat(folder)
        path = os.path.relpath(folder, root)
        found.append(("" if path == "." else path, status.st_ino, status.st_mode, None))
        for name in files:
            place = os.path.join(folder, name)
            with open(place, "rb") as file:
                found.append((os.path.relpath(place, root), os.lstat(place).st_ino, os.lstat(place).st_mode,
                              file.read()))
    return found


class Node:
    """A file or a directory."""

    def __init__(self, is_directory, mode, data=b""):
        self.is_directory, self.mode = is_directory, mode
        self.data = bytearray(data)
        # Writes (sequence, offset, bytes) and new lengths (sequence, length, None) that no sync keeps yet.
        self.pending = []
        self.entries = {}
        self.syncs = {}

    def current(self):
        """What a program reads that runs."""
        data = bytearray(self.data)
        for change in self.pending:
            apply(data, *change[1:])
        return bytes(data)

    def settle(self, before):
        """A sync keeps all changes that were made before it began."""
        kept = [change for change in self.pending if change[0] < before]
        for change in kept:
            apply(self.data, *change[1:])
        self.pending = self.pending[len(kept):]

    def torn(self, random):
        """What a power cut leaves: each sector in one of the states that it had, and one of the lengths."""
        mood = random.random()
        if not self.pending or mood < 0.15:
            return bytes(self.data)
        if mood < 0.3:
            return self.current()
        return torn(self.data, self.pending, random)


def apply(data, offset, written):
    if written is None:
        if offset < len(data):
            del data[offset:]
        else:
            data.extend(bytes(offset - len(data)))
        return
    if len(data) < offset:
        data.extend(bytes(offset - len(data)))
    data[offset:offset + len(written)] = written


def torn(base, pending, random):
    """Cuts happen one after the other, as many as chance wants, and what they cut off is gone for good."""
    base, parts, part, length = bytes(base), [], [], len(base)
    for change in pending:
        is_cut = change[2] is None and change[1] < length
        length = change[1] if change[2] is None else max(length, change[1] + len(change[2]))
        if is_cut:
            parts.append((part, change[1]))
            part = []
        else:
            part.append(change)
    parts.append((part, None))
    happened = random.randrange(len(parts))
    for part, end in parts[:happened]:
        base = sectors(base, part, random, is_whole=True)[:end]
    return sectors(base, parts[happened][0], random)


def sectors(base, pending, random, is_whole=False):
    """Each sector in one of its states; a whole file has its last length."""
    lengths, states, now = [len(base)], {}, bytearray(base)
    for _, offset, written in pending:
        before = len(now)
        apply(now, offset, written)
        lengths.append(len(now))
        start, end = min(offset, before), len(now) if written is None else offset + len(written)
        for sector in range(start // SECTOR, -(-end // SECTOR)):
            known = states.setdefault(sector, [base[sector * SECTOR:(sector + 1) * SECTOR]])
            known.append(bytes(now[sector * SECTOR:(sector + 1) * SECTOR]))
    length = lengths[-1] if is_whole else random.choice(lengths)
    result = bytearray(base[:length].ljust(length, b"\0"))
    # Mostly new, mostly old, or some of each.
    weight = random.choice((0.95, 0.7, 0.5, 0.3, 0.05))
    for sector, known in states.items():
        state = known[-1] if random.random() < weight else random.choice(known)
        start = sector * SECTOR
        result[start:start + SECTOR] = state.ljust(SECTOR, b"\0")
    return bytes(result[:length])


class Disk:
    """Follows a recording; `image` is what a power cut would leave now."""

    def __init__(self, first, is_ordered, ignores_syncs=False):
        """`first` is what `snapshot` answered before anything changed."""
        self.is_ordered, self.ignores_syncs = is_ordered, ignores_syncs
        self.nodes, self.live, self.sequence = {}, {}, 0
        # Changes of names that no sync keeps yet: (sequence, changes of names, what they lead to).
        self.pending = []
        self.parents = {}
        by_path = {}
        for path, inode, mode, data in first:
            node = self.nodes[inode] = by_path[path] = Node(data is None, mode, data or b"")
            if data is None:
                self.live[node] = {}
            if path:
                folder, _, name = path.rpartition("/")
                parent = self.parents[node] = by_path[folder]
                parent.entries[name] = self.live[parent][name] = node
        self.root = by_path[""]

    # The recording

    def follow(self, kind, values, first, second):
        self.sequence += 1
        getattr(self, f"_{kind}", self._unknown)(*values, first, second)

    def _unknown(self, *values):
        raise ValueError(f"a record that nobody knows: {values}")

    def _m(self, *_):
        pass

    def _c(self, directory, inode, mode, name, _):
        """A file was opened, and made if its name was not there."""
        folder, name = self.nodes[directory], os.fsdecode(name)
        known = self.live[folder].get(name)
        if known is not None and self.nodes.get(inode) is known:
            return
        self._make(folder, name, inode, Node(False, mode))

    def _d(self, directory, inode, mode, name, _):
        node = Node(True, mode)
        self.live[node] = {}
        self._make(self.nodes[directory], os.fsdecode(name), inode, node)

    def _make(self, folder, name, inode, node):
        self.nodes[inode] = node
        self._rename(((folder, name, node),), node)

    def _u(self, directory, _, __, name, ___):
        folder, name = self.nodes[directory], os.fsdecode(name)
        self._rename(((folder, name, None),), None)

    def _r(self, old, new, inode, name, new_name):
        node = self.nodes[inode]
        self._rename(((self.nodes[old], os.fsdecode(name), None),
                      (self.nodes[new], os.fsdecode(new_name), node)), node)

    def _l(self, _, new, inode, __, new_name):
        node = self.nodes[inode]
        self._rename(((self.nodes[new], os.fsdecode(new_name), node),), node)

    def _rename(self, changes, node):
        for folder, name, found in changes:
            if found is None:
                self.live[folder].pop(name, None)
            else:
                self.live[folder][name] = found
                self.parents[found] = folder
        self.pending.append((self.sequence, changes, node))

    def _w(self, inode, offset, _, data, __):
        self.nodes[inode].pending.append((self.sequence, offset, data))

    def _t(self, inode, length, *_):
        self.nodes[inode].pending.append((self.sequence, length, None))

    def _e(self, inode, length, *_):
        """Space was reserved, and the file is at least that long."""
        node = self.nodes[inode]
        if len(node.current()) < length:
            node.pending.append((self.sequence, length, None))

    def _p(self, inode, mode, *_):
        self.nodes[inode].mode = mode

    def _b(self, inode, number, *_):
        self.nodes[inode].syncs[number] = self.sequence

    def _s(self, inode, number, went_well, *_):
        node = self.nodes[inode]
        before = node.syncs.pop(number)
        if self.ignores_syncs or not went_well:
            return
        node.settle(before)
        if self.is_ordered:
            self._settle_names(lambda changes, _: True, before)
            return
        if node.is_directory:
            self._settle_names(lambda changes, _: any(folder is node for folder, _, _ in changes), before)
        way = set()
        while node is not None:
            way.add(node)
            node = self.parents.get(node)
        self._settle_names(lambda _, found: found in way, before)

    def _settle_names(self, is_kept, before):
        """A change that is kept keeps the earlier ones of the same names."""
        rest, names, kept = [], set(), []
        for change in reversed(self.pending):
            sequence, changes, node = change
            own = {(folder, name) for folder, name, _ in changes}
            if sequence < before and (is_kept(changes, node) or names & own):
                names |= own
                kept.append(changes)
            else:
                rest.append(change)
        for changes in reversed(kept):
            rename(changes, lambda folder: folder.entries)
        self.pending = rest[::-1]

    # The cut

    def image(self, random):
        """(path, mode, data; None for a directory) of everything that is there after a power cut."""
        entries = {}

        def of(folder):
            return entries.setdefault(folder, dict(folder.entries))

        lost = set()
        keep = random.randrange(len(self.pending) + 1)
        for index, (_, changes, _) in enumerate(self.pending):
            names = {(folder, name) for folder, name, _ in changes}
            if self.is_ordered:
                if index >= keep:
                    break
            elif names & lost or random.random() < 0.4:
                lost |= names
                continue
            rename(changes, of)
        torn_files = {}

        def walk(folder, path):
            for name, node in sorted(of(folder).items()):
                place = os.path.join(path, name)
                if node.is_directory:
                    yield place, node.mode, None
                    yield from walk(node, place)
                elif not name.endswith("-shm"):
                    # Two names of one file show the same.
                    if node not in torn_files:
                        torn_files[node] = node.torn(random)
                    yield place, node.mode, torn_files[node]
        return list(walk(self.root, ""))

    def differences(self, root):
        """Names of files that are not as the recording says: then it has holes."""
        found = []

        def compare(folder, path):
            names = set(os.listdir(path)) | set(self.live[folder])
            for name in sorted(names):
                place, node = os.path.join(path, name), self.live[folder].get(name)
                if name.endswith("-shm") or os.path.exists(place) and not os.path.isdir(place) \
                        and not os.path.isfile(place):
                    continue
                if node is None or not os.path.exists(place):
                    found.append(place)
                elif node.is_directory:
                    compare(node, place)
                else:
                    with open(place, "rb") as file:
                        if file.read() != node.current():
                            found.append(place)
        compare(self.root, root)
        return found


def rename(changes, entries_of):
    for folder, name, node in changes:
        if node is None:
            entries_of(folder).pop(name, None)
        else:
            entries_of(folder)[name] = node


def write_image(image, root):
    os.makedirs(root, 0o700, exist_ok=True)
    for path, mode, data in image:
        place = os.path.join(root, path)
        if data is None:
            os.makedirs(place, exist_ok=True)
        else:
            with open(place, "wb") as file:
                file.write(data)
        os.chmod(place, mode & 0o7777)
