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
