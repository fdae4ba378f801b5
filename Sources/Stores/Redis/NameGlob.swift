/// A name with wildcards, `*` only, as bytes: a key or a member of Redis need not be text.
///
/// Every other character stands for itself, also those that Redis takes for wildcards.
struct NameGlob: Hashable, Sendable {
    /// What stands between the wildcards; the first begins the name, the last ends it.
    let literals: [[UInt8]]

    /// Reads a text whose asterisks are wildcards.
    init(_ text: String) {
        literals = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map(Array.init)
    }

    init(literals: [[UInt8]]) { self.literals = literals }

    /// The one name that it stands for; `nil` when there is a wildcard.
    var exactName: [UInt8]? { literals.count == 1 ? literals[0] : nil }

    /// The same in the syntax of `SCAN … MATCH` (redis.io/docs/latest/commands/keys), where `?`,
    /// `[`, `]`, `^` and `\` mean something.
    var serverPattern: [UInt8] { Self.joined(literals) }

    /// A wider pattern for the same names, by the first literal alone; verification asks with it.
    var widePattern: [UInt8] { Self.joined([literals[0], []]) }

    /// What the names of all begin with; of one without a wildcard its whole name.
    static func commonPrefix(_ globs: [NameGlob]) -> [UInt8] {
        guard var prefix = globs.first?.literals[0] else { return [] }
        for glob in globs.dropFirst() {
            let pairs = zip(prefix, glob.literals[0]).prefix { $0 == $1 }
            prefix = pairs.map(\.0)
        }
        return prefix
    }

    private static func joined(_ literals: [[UInt8]]) -> [UInt8] {
        let special = Array(#"*?[]^-\"#.utf8)
        let escaped = literals.map { literal in
            literal.flatMap { special.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        }
        return Array(escaped.joined(separator: [UInt8(ascii: "*")]))
    }

    /// Whether a name fits.
    ///
    /// Taking the leftmost place of each literal is enough where `*` is the only wildcard.
    func matches(_ name: [UInt8]) -> Bool {
        guard let first = literals.first, let last = literals.last else { return false }
        if literals.count == 1 { return name == first }
        guard name.count >= first.count + last.count, name.starts(with: first),
            name.suffix(last.count).elementsEqual(last)
        else { return false }
        var rest = name[first.count..<(name.count - last.count)]
        for literal in literals.dropFirst().dropLast() where !literal.isEmpty {
            guard let place = Self.place(of: literal, in: rest) else { return false }
            rest = rest[(place + literal.count)...]
        }
        return true
    }

    private static func place(of literal: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= literal.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - literal.count)).first { start in
            bytes[start..<(start + literal.count)].elementsEqual(literal)
        }
    }
}
