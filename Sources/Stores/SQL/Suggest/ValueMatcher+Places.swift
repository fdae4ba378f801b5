import Encoding
import Lifecycle
import Settings

/// Where a user's value stands inside a longer one: in JSON, in a list, in an array, or between
/// texts that do not change.
extension ValueMatcher {
    /// A value of a user inside a longer one, `nil` at a place that cannot be printed.
    typealias Found = (value: TableSample.UserValue, inside: InsideValue?)

    /// - Returns: Each place of a user's value; none where nothing is sure.
    func places(of value: BoundValue?, in column: ColumnShape) -> [Found] {
        guard let text = value.flatMap(Self.text) else { return [] }
        if let json = Self.json(text) {
            return leaves(of: json).compactMap { leaf in
                find(leaf.text, leaf.path.flatMap { JSONPath($0) }.map { .json($0) })
            }
        }
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
        return (value: value, inside: inside)
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

    /// Each text and number with its path, `nil` below a member whose name is not printed; and each
    /// member's name without one.
    private func leaves(
        of value: JSONValue,
        _ path: String? = "$",
        depth: Int = 0
    ) -> [(path: String?, text: String)] {
        guard depth < 8 else { return [] }
        switch value {
        case .string(let text): return [(path: path, text: text)]
        case .integer(let number): return [(path: path, text: "\(number)")]
        case .array(let items):
            return items.flatMap { leaves(of: $0, path.map { $0 + "[*]" }, depth: depth + 1) }
        case .object(let members):
            return members.flatMap { member -> [(path: String?, text: String)] in
                let below = isName(member.name) ? path.map { "\($0).\(member.name)" } : nil
                let inner = leaves(of: member.value, below, depth: depth + 1)
                return [(path: nil, text: member.name)] + inner
            }
        case .null, .bool, .number: return []
        }
    }

    /// Each whole number of a value: its own, or one in JSON with the path of plain names.
    ///
    /// Where another column has a programmer's name for the value, such as `prop_key` of Redmine's
    /// journals, both are the path.
    func numbers(
        in value: BoundValue?,
        of column: ColumnShape,
        named name: (column: String, text: String)?
    ) -> [(path: String, number: Int64)] {
        guard let text = value.flatMap(Self.text) else { return [] }
        var read: [(path: String?, text: String)] = []
        if let json = Self.json(text) {
            read = leaves(of: json)
        } else if column.holdsText || column.idTypes.contains(.integer) {
            let path = name.flatMap { isTerm($0.text) ? "\($0.column).\($0.text)" : nil }
            read = [(path: path ?? "", text: text)]
        }
        return read.compactMap { leaf -> (path: String, number: Int64)? in
            guard let path = leaf.path, let number = Int64(leaf.text), "\(number)" == leaf.text
            else { return nil }
            return (path: path, number: number)
        }
    }

    /// A name that only a programmer writes: `assigned_to_id` or `assignedTo`, not `David`.
    private func isTerm(_ name: String) -> Bool {
        isName(name) && name.wholeMatch(of: #/_?[a-z]+(?:_[a-z]+|[A-Z][a-z]*)+/#) != nil
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
        return [(value: value, inside: InsideValue.text(before: before, after: after))]
    }
}
