import Encoding
import Lifecycle

/// Finds values of sampled users among values of rows.
///
/// It holds the users' values for the time of one call; what it answers has none of them.
struct ValueMatcher: Sendable {
    private var known: [String: TableSample.UserValue] = [:]
    /// Full names, which are looked for in mentions alone.
    private var names: [String: TableSample.UserValue] = [:]
    /// Users by their ids, where these are small numbers, and by each of ``SuggestionUser/keys``.
    private var numbers: [[Int64: TableSample.UserValue]] = []
    /// The type of the ids, as the first user has it.
    private(set) var idType: IDType?
    private(set) var userCount = 0
    /// The columns of which a value is a user's and nothing else.
    private(set) var distinct: Set<Int> = []
    /// The columns of which most values cannot be another's by chance.
    private(set) var sure: Set<Int> = []

    /// Each user has ``SuggestionUser/columns``, and behind them so many keys.
    init(_ users: [[BoundValue?]], keys keyCount: Int = 0) {
        userCount = users.count
        var counts: [Int: (all: Int, distinct: Int, sure: Int)] = [:]
        for (user, row) in users.enumerated() {
            for (column, value) in row.dropLast(keyCount).enumerated() {
                guard let text = value.flatMap(Self.text), !text.isEmpty else { continue }
                if column == 0 { idType = idType ?? value.map(Self.type) }
                guard column == 0 || text.utf8.count >= 3 else { continue }
                if let first = known[text]?.column, first <= column {
                    if first == column { known[text]?.users.insert(user) }
                    continue
                }
                known[text] = TableSample.UserValue(column: column, users: [user])
                var count = counts[column] ?? (0, 0, 0)
                count.all += 1
                if Self.isDistinct(text) { count.distinct += 1 }
                if Self.isSure(text) { count.sure += 1 }
                counts[column] = count
            }
        }
        distinct = Set(counts.filter { $0.value.distinct * 10 >= $0.value.all * 9 }.keys)
        sure = Set(counts.filter { $0.value.sure * 2 > $0.value.all }.keys)
        if idType == .integer, !distinct.contains(0) { numbers.append(Self.byNumber(users, 0)) }
        let width = users.first?.count ?? keyCount
        numbers += (max(width - keyCount, 0)..<width).map { Self.byNumber(users, $0) }
    }

    /// The users by the numbers that they have in one column.
    private static func byNumber(
        _ users: [[BoundValue?]],
        _ column: Int
    ) -> [Int64: TableSample.UserValue] {
        var found: [Int64: TableSample.UserValue] = [:]
        for (user, row) in users.enumerated() where column < row.count {
            guard let number = row[column].flatMap(text).flatMap({ Int64($0) }) else { continue }
            found[number] = TableSample.UserValue(column: 0, users: [user])
        }
        return found
    }

    /// Adds values, each behind the id of its user.
    mutating func add(_ rows: [[BoundValue?]], as column: Int, isName: Bool) {
        for row in rows {
            let texts = row.map { $0.flatMap(Self.text) ?? "" }
            guard texts.count == 2, let owner = known[texts[0]], owner.column == 0 else { continue }
            let none = TableSample.UserValue(column: column, users: [])
            if isName {
                names[texts[1], default: none].users.formUnion(owner.users)
            } else if Self.isSure(texts[1]), known[texts[1]]?.column ?? column == column {
                known[texts[1], default: none].users.formUnion(owner.users)
            }
        }
        distinct.insert(column)
        sure.insert(column)
    }

    func match(_ value: BoundValue?) -> TableSample.Match {
        guard let value else { return .null }
        guard let text = Self.text(value) else { return .other }
        if let found = known[text] { return .whole(found) }
        // A part and the word that it is of may be one value.
        let tokens = Set(Self.tokens(of: text))
        let parts = tokens.filter { known[$0] == nil }.flatMap { Self.joined($0[...]) }
        let found = tokens.union(parts.map(String.init)).filter(Self.isDistinct)
            .compactMap { known[$0] }
        return found.isEmpty ? .other : .inside(found)
    }

    /// Values of users behind an `@`, such as sign-in names, also those that are short.
    func mentions(in value: BoundValue?) -> [TableSample.UserValue] {
        guard let text = value.flatMap(Self.text), text.contains("@") else { return [] }
        // Zulip writes `@**Ann Smith**`, and `@_**Ann Smith|42**`.
        var found = text.matches(of: #/@_?\*\*([^*|]+)/#).compactMap { names[String($0.1)] }
        for token in Self.tokens(of: text) where token.hasPrefix("@") && known[token] == nil {
            let name = String(token.dropFirst())
            guard let value = known[name], value.column > 0 || Self.isDistinct(name) else {
                continue
            }
            found.append(value)
        }
        return found
    }

    func known(_ text: String) -> TableSample.UserValue? { known[text] }

    var hasNumbers: Bool { !numbers.isEmpty }

    /// The users whom a whole number means.
    func users(numbered value: BoundValue?) -> [TableSample.UserValue] {
        guard hasNumbers, let number = value.flatMap(Self.text).flatMap({ Int64($0) }) else {
            return []
        }
        return numbers.compactMap { $0[number] }
    }

    /// What numbers at one place are; `nil` unless nearly all different ones are ids of users, or
    /// all of few in a column.
    func numbers(_ read: [(row: Int, number: Int64)], at path: String) -> TableSample.Numbers? {
        // 0 refers to no row.
        let found = read.filter { $0.number != 0 }
        return numbers.lazy.compactMap { Self.judge(found, at: path, $0) }.first
    }

    private static func judge(
        _ found: [(row: Int, number: Int64)],
        at path: String,
        _ users: [Int64: TableSample.UserValue]
    ) -> TableSample.Numbers? {
        let all = Set(found.map { $0.number })
        let different = all.count { users[$0] != nil }
        let isFew = different < SuggestLimits.sureUsers
        guard let low = all.min(), let high = all.max(),
            isFew ? path.isEmpty && different == all.count : different * 10 >= all.count * 9
        else { return nil }
        var ids: [(row: Int, value: TableSample.UserValue)] = []
        for (row, number) in found {
            if let value = users[number] { ids.append((row: row, value: value)) }
        }
        let between = users.keys.count { low <= $0 && $0 <= high }
        return TableSample.Numbers(
            path: path,
            rows: Set(found.map { $0.row }).count,
            ids: ids,
            isFew: isFew,
            chance: Double(between) / (Double(high) - Double(low) + 1)
        )
    }

    private static func type(_ value: BoundValue) -> IDType {
        switch value {
        case .integer, .real: .integer
        case .text: .text
        case .blob: .blob
        }
    }

    /// As all stores of an id write it; `nil` for what is no id.
    static func text(_ value: BoundValue) -> String? {
        switch value {
        case .integer(let number): "\(number)"
        case .real(let number): Int64(exactly: number).map { "\($0)" }
        case .text(let bytes): String(validating: bytes, as: UTF8.self)
        case .blob(let bytes):
            bytes.allSatisfy { (0x20...0x7e).contains($0) }
                ? String(decoding: bytes, as: UTF8.self) : Hexadecimal.text(bytes)
        }
    }

    /// A text that is no user's by chance.
    static func isDistinct(_ text: String) -> Bool {
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return text.utf8.count >= SuggestLimits.distinctDigits
        }
        return text.utf8.count >= SuggestLimits.distinctLength
    }

    /// A text that no vocabulary has: an e-mail address, or a long one with digits or marks.
    private static func isSure(_ text: String) -> Bool {
        guard text.utf8.count < SuggestLimits.sureLength else {
            return text.contains { !$0.isLetter && $0 != " " }
        }
        let parts = text.split(separator: "@")
        return parts.count == 2 && parts[1].contains(".") && !text.contains(" ")
    }

    /// The parts of a document, a list or a path that may be ids.
    private static func tokens(of text: String) -> [String] {
        var found: [String] = []
        for word in text.split(whereSeparator: { !isInside($0) }) {
            found.append(String(word))
            var trimmed = word
            while let last = trimmed.last, ".:+-/".contains(last) { trimmed.removeLast() }
            if trimmed.count < word.count { found.append(String(trimmed)) }
            guard word.contains(where: { "/:".contains($0) }) else { continue }
            found += word.split { "/:".contains($0) }.map(String.init)
        }
        return found
    }

    /// What stands before and behind each `_`, as in `anna_default`.
    static func joined(_ word: Substring) -> [Substring] {
        word.indices.filter { word[$0] == "_" }.prefix(8).flatMap { mark in
            [word[..<mark], word[word.index(after: mark)...]]
        }
    }

    private static func isInside(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "@._:+-/".contains(character)
    }
}
