import Lifecycle
import Settings

/// A name of Redis in which the user id stands as one component: `session:{user_id}:*`.
///
/// A wildcard never touches the user id: `session:{user_id}*` would take the keys of user `12` for
/// user `1`. What parts the id from a wildcard is a separator, and an id that holds it is no
/// component: `1:2` in the pattern above would be user `1`'s.
struct UserPattern: Hashable, Sendable, CustomStringConvertible {
    /// Names of Redis longer than this are no layout of user data that we know of.
    static let byteCountMax = 512

    let description: String
    private let before: NameGlob
    private let after: NameGlob

    /// Reads a pattern.
    ///
    /// - Throws: ``MalformedTemplate`` for anything that could reach another user.
    init(_ text: String) throws(MalformedTemplate) {
        func malformed(_ requirement: String) -> MalformedTemplate {
            MalformedTemplate(text: text, requirement: requirement)
        }
        let parts = text.split(separator: "{user_id}", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw malformed("contain {user_id} exactly once") }
        guard text.utf8.count <= Self.byteCountMax,
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { throw malformed("have at most \(Self.byteCountMax) bytes, no control characters") }
        before = NameGlob(String(parts[0]))
        after = NameGlob(String(parts[1]))
        description = text
        let isParted = [before.separatorAtEnd, after.separatorAtStart].allSatisfy {
            $0.map(Self.isSeparator) ?? true
        }
        guard isParted, before.endsBeforeWildcard, after.startsBeforeWildcard else {
            throw malformed("have a separator such as ':' between {user_id} and a wildcard")
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte < 0x80 && byte != UInt8(ascii: "*") && !TextRule.isLower(byte)
            && !TextRule.isUpper(byte) && !TextRule.isDigit(byte)
    }

    /// The names of one user; `nil` when the id holds a separator.
    func names(of user: UserID) -> NameGlob? { names(of: Array(user.exposeText().utf8)[...]) }

    private func names(of user: ArraySlice<UInt8>) -> NameGlob? {
        let separators = [before.separatorAtEnd, after.separatorAtStart].compactMap { $0 }
        guard !user.contains(where: separators.contains) else { return nil }
        return NameGlob(
            literals: before.literals.dropLast()
                + [(before.literals.last ?? []) + user + (after.literals.first ?? [])]
                + after.literals.dropFirst()
        )
    }

    /// The names of all users.
    var anyUser: NameGlob { NameGlob(literals: before.literals + after.literals) }

    /// Whether a user has one name and no more.
    var isExact: Bool { before.literals.count == 1 && after.literals.count == 1 }

    /// The first of some users, by the bytes of their ids, that a name belongs to.
    func owner(of name: [UInt8], among users: [[UInt8]: Int]) -> Int? {
        for start in starts(in: name) {
            guard let end = end(in: name, from: start), start < end else { continue }
            let id = Array(name[start..<end])
            if let index = users[id], names(of: id[...])?.matches(name) == true { return index }
        }
        return nil
    }

    /// The users that a name may belong to.
    func owners(of name: [UInt8]) -> [UserID] {
        starts(in: name).compactMap { start in
            guard let end = end(in: name, from: start), start < end,
                names(of: name[start..<end])?.matches(name) == true
            else { return nil }
            return String(validating: name[start..<end], as: UTF8.self).flatMap { UserID($0) }
        }
    }

    private func starts(in name: [UInt8]) -> [Int] {
        guard let separator = before.separatorAtEnd else {
            let literal = before.literals[0]
            return name.starts(with: literal) ? [literal.count] : []
        }
        return name.indices.filter { name[$0] == separator }.map { $0 + 1 }
    }

    private func end(in name: [UInt8], from start: Int) -> Int? {
        guard let separator = after.separatorAtStart else {
            let literal = after.literals[0]
            let end = name.count - literal.count
            return end >= start && name.suffix(literal.count).elementsEqual(literal) ? end : nil
        }
        return name[start...].firstIndex(of: separator)
    }
}

extension NameGlob {
    private var hasWildcard: Bool { literals.count > 1 }

    /// The character in front of a user id that follows; `nil` without a wildcard.
    fileprivate var separatorAtEnd: UInt8? { hasWildcard ? literals.last?.last : nil }
    /// The character behind a user id that comes before; `nil` without a wildcard.
    fileprivate var separatorAtStart: UInt8? { hasWildcard ? literals.first?.first : nil }
    fileprivate var endsBeforeWildcard: Bool { !hasWildcard || literals.last?.isEmpty == false }
    fileprivate var startsBeforeWildcard: Bool { !hasWildcard || literals.first?.isEmpty == false }
}

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
