import Encoding
import Lifecycle
import Settings

/// Where a user's value stands inside a longer one: in JSON, in a list, in an array, or between
/// texts that do not change.
extension ValueMatcher {
    /// A value of a user inside a longer one.
    struct Found {
        let value: TableSample.UserValue
        /// `nil` for a place that cannot be printed.
        let inside: InsideValue?
    }

    /// - Returns: Each place of a user's value; none where nothing is sure.
    func places(of value: BoundValue?, in column: ColumnShape) -> [Found] {
        guard let text = value.flatMap(Self.text) else { return [] }
        if let json = Self.json(text) { return places(in: json, "$", depth: 0) }
        if column.type.hasPrefix("_"), text.hasPrefix("{"), text.hasSuffix("}") {
            let elements = text.dropFirst().dropLast().split(separator: ",").map { element in
                String(element).replacing("\"", with: "")
            }
            return elements.compactMap { find($0, .array) }
        }
        for mark in [",", ";", "|"] {
            guard let (separator, elements) = Self.list(text, mark) else { continue }
            let found = elements.compactMap { find($0, .list(separator: separator)) }
            if !found.isEmpty { return found }
        }
        return affixes(text)
    }

    /// The elements between marks; a blank behind each mark belongs to the separator.
    private static func list(
        _ text: String,
        _ mark: String
    ) -> (separator: String, elements: [String])? {
        let elements = text.split(separator: mark, omittingEmptySubsequences: false)
        guard elements.count > 1 else { return nil }
        let isWide = elements.dropFirst().allSatisfy { $0.hasPrefix(" ") }
        guard isWide else { return (mark, elements.map(String.init)) }
        let texts = [String(elements[0])] + elements.dropFirst().map { String($0.dropFirst()) }
        // Words in a sentence have commas and blanks between them, too.
        guard !texts.contains(where: { $0.contains(" ") }) else { return nil }
        return (mark + " ", texts)
    }

    private func find(_ text: String, _ inside: InsideValue?) -> Found? {
        guard Self.isDistinct(text), let value = known(text) else { return nil }
        return Found(value: value, inside: inside)
    }

    private static func json(_ text: String) -> JSONValue? {
        guard let first = text.first, first == "{" || first == "[" else { return nil }
        do {
            return try JSONReader.read(Array(text.utf8))
        } catch {
            // No JSON, or cut short: there is no place to name.
            return nil
        }
    }

    /// Below a member whose name is not printed, the path is `nil`.
    private func places(in value: JSONValue, _ path: String?, depth: Int) -> [Found] {
        guard depth < 8 else { return [] }
        switch value {
        case .string(let text): return at(path, text)
        case .integer(let number): return at(path, "\(number)")
        case .array(let items):
            return items.flatMap { places(in: $0, path.map { $0 + "[*]" }, depth: depth + 1) }
        case .object(let members):
            return members.flatMap { member -> [Found] in
                let below = isName(member.name) ? path.map { "\($0).\(member.name)" } : nil
                return at(nil, member.name) + places(in: member.value, below, depth: depth + 1)
            }
        case .null, .bool, .number: return []
        }
    }

    /// Each whole number of a value: its own, or one in JSON with the path of plain names.
    ///
    /// Where another column has a plain name for the value, such as `prop_key` of Redmine's
    /// journals, both are the path.
    func numbers(
        in value: BoundValue?,
        of column: ColumnShape,
        named name: (column: String, text: String)?
    ) -> [(path: String, number: Int64)] {
        guard let text = value.flatMap(Self.text) else { return [] }
        if let json = Self.json(text) { return numbers(in: json, "$", depth: 0) }
        guard column.holdsText || column.idTypes.contains(.integer) else { return [] }
        let path = name.flatMap { isName($0.text) ? "\($0.column).\($0.text)" : nil } ?? ""
        return Self.number(text).map { [(path: path, number: $0)] } ?? []
    }

    /// A number as an application writes an id.
    private static func number(_ text: String) -> Int64? {
        Int64(text).flatMap { "\($0)" == text ? $0 : nil }
    }

    private func numbers(
        in value: JSONValue,
        _ path: String,
        depth: Int
    ) -> [(path: String, number: Int64)] {
        guard depth < 8 else { return [] }
        switch value {
        case .integer(let number): return [(path: path, number: number)]
        case .string(let text): return Self.number(text).map { [(path: path, number: $0)] } ?? []
        case .array(let items):
            return items.flatMap { numbers(in: $0, path + "[*]", depth: depth + 1) }
        case .object(let members):
            return members.filter { isName($0.name) }.flatMap { member in
                numbers(in: member.value, "\(path).\(member.name)", depth: depth + 1)
            }
        case .null, .bool, .number: return []
        }
    }

    private func at(_ path: String?, _ text: String) -> [Found] {
        find(text, path.flatMap { JSONPath($0) }.map { .json($0) }).map { [$0] } ?? []
    }

    /// A member that a programmer named: the path is printed, and a key may be a person's name.
    private func isName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte) || byte == 0x5f
        }
        return isPlain && (1...32).contains(name.utf8.count) && known(name) == nil
    }

    /// The texts around the only user's value in a short text, such as `principals/users/`.
    private func affixes(_ text: String) -> [Found] {
        guard text.utf8.count <= 200 else { return [] }
        let parts = text.split { !($0.isLetter || $0.isNumber || "@._-".contains($0)) }
        let words = text.split { !($0.isLetter || $0.isNumber || "@._:+-/".contains($0)) }
        let all = parts + words + parts.flatMap(Self.joined)
        let found = all.filter {
            Self.isDistinct(String($0)) && known(String($0)) != nil
        }
        guard let first = found.first, let value = known(String(first)) else { return [] }
        // The pattern is printed: it has no other value, nor a short name of another user.
        let isOfUser = { (word: Substring) in
            word.startIndex != first.startIndex && known(String(word.drop { $0 == "@" })) != nil
        }
        guard !all.contains(where: isOfUser) else { return [] }
        let before = String(text[..<first.startIndex])
        let after = String(text[first.endIndex...])
        let around = before + after
        guard around.utf8.count <= 64, !around.contains(where: { "{}".contains($0) }),
            TextRule.isPrintable(around)
        else { return [] }
        return [Found(value: value, inside: .text(before: before, after: after))]
    }
}
