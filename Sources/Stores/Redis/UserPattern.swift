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
