import Encoding
package import Lifecycle

/// What a ledger was at one time: its size and root, to be signed (C2SP tlog-checkpoint).
///
/// Whoever holds an old checkpoint can tell that the ledger was cut, changed or set back.
/// https://github.com/C2SP/C2SP/blob/main/tlog-checkpoint.md
package struct Checkpoint: Hashable, Sendable {
    /// Names the ledger; never changes while it exists.
    package let origin: String
    package let size: Int
    /// 32 bytes.
    package let root: [UInt8]
    /// When it was made; an extension line of our own.
    package let time: WallTime

    package init(origin: String, size: Int, root: [UInt8], time: WallTime) {
        self.origin = origin
        self.size = size
        self.root = root
        self.time = time
    }

    /// Reads the text of a note; `nil` when it is no checkpoint of this form.
    package init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5, lines[4].isEmpty, !lines[0].isEmpty,
            let size = Int(lines[1]), size >= 0, String(size) == lines[1],
            let root = Base64.decode(lines[2].utf8), root.count == 32,
            lines[3].hasPrefix(Self.timeLine),
            let time = WallTime(rfc3339: String(lines[3].dropFirst(Self.timeLine.count)))
        else { return nil }
        self.init(origin: String(lines[0]), size: size, root: root, time: time)
    }

    package var text: String {
        "\(origin)\n\(size)\n\(Base64.text(root))\n\(Self.timeLine)\(time.rfc3339)\n"
    }

    private static let timeLine = "time "
}

/// The text of a signed note that carries leaves about what was erased off the machine.
///
/// Each line is a leaf's index, a space and the leaf: what a restore needs to erase again, also
/// when state.db itself is gone.
package struct TombstoneNote: Hashable, Sendable {
    /// One leaf with the event `erased` or `erased_keys`.
    package struct Line: Hashable, Sendable {
        package let index: Int
        package let leaf: String

        package init(index: Int, leaf: String) {
            self.index = index
            self.leaf = leaf
        }
    }

    package let origin: String
    package let lines: [Line]

    package init(origin: String, lines: [Line]) {
        self.origin = origin
        self.lines = lines
    }

    /// Reads the text of a note; `nil` when it is none of this form.
    package init?(text: String, origin: String) {
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0] == Self.title(origin), parts.last == "" else { return nil }
        var lines: [Line] = []
        for part in parts[1...].dropLast() {
            guard let space = part.firstIndex(of: " "), let index = Int(part[..<space]),
                index >= 0, String(index) == part[..<space],
                lines.last.map({ $0.index < index }) ?? true
            else { return nil }
            lines.append(Line(index: index, leaf: String(part[part.index(after: space)...])))
        }
        self.init(origin: origin, lines: lines)
    }

    package var text: String {
        Self.title(origin) + "\n" + lines.map { "\($0.index) \($0.leaf)\n" }.joined()
    }

    private static func title(_ origin: String) -> String { origin + "/tombstones" }
}
