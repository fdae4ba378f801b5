import Encoding
import Lifecycle

/// Where a user's value stands inside a longer one: in JSON, in a list, in an array, or between
/// texts that do not change.
extension ValueMatcher {
    /// - Returns: Each place with the number of the user; none where nothing is sure.
    func places(
        of value: BoundValue?,
        in column: ColumnShape
    ) -> [(place: TableSample.Place, user: Int)] {
        guard let text = value.flatMap(Self.text) else { return [] }
        if let json = Self.json(text) { return places(in: json, "$", depth: 0) }
        if column.type.hasPrefix("_"), text.hasPrefix("{"), text.hasSuffix("}") {
            let elements = text.dropFirst().dropLast().split(separator: ",").map { element in
                String(element).replacing("\"", with: "")
            }
            return elements.compactMap { place($0, .array) }
        }
        for separator in [",", ";", "|"] {
            let elements = text.split(separator: separator, omittingEmptySubsequences: false)
            guard elements.count > 1 else { continue }
            let found = elements.compactMap { place(String($0), .list(separator: separator)) }
            if !found.isEmpty { return found }
        }
        return affixes(text)
    }

    private func place(
        _ text: String,
        _ inside: InsideValue
    ) -> (place: TableSample.Place, user: Int)? {
        guard Self.isDistinct(text), let (column, user) = known(text) else { return nil }
        return (TableSample.Place(value: column, inside: inside), user)
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

    private func places(
        in value: JSONValue,
        _ path: String,
        depth: Int
    ) -> [(place: TableSample.Place, user: Int)] {
        guard depth < 8 else { return [] }
        switch value {
        case .string(let text): return at(path, text)
        case .integer(let number): return at(path, "\(number)")
        case .array(let items):
            return items.flatMap { places(in: $0, path + "[*]", depth: depth + 1) }
        case .object(let members):
            return members.flatMap { member -> [(place: TableSample.Place, user: Int)] in
                guard isName(member.name) else { return [] }
                return places(in: member.value, "\(path).\(member.name)", depth: depth + 1)
            }
        case .null, .bool, .number: return []
        }
    }

    private func at(_ path: String, _ text: String) -> [(place: TableSample.Place, user: Int)] {
        guard let path = JSONPath(path), let found = place(text, .json(path)) else { return [] }
        return [found]
    }

    /// A member that a programmer named: the path is printed, and a key may be a person's name.
    private func isName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte) || byte == 0x5f
        }
        return isPlain && (1...32).contains(name.utf8.count) && known(name) == nil
    }

    /// The texts around the only user's value in a short text, such as `principals/users/`.
    private func affixes(_ text: String) -> [(place: TableSample.Place, user: Int)] {
        guard text.utf8.count <= 200 else { return [] }
        let parts = text.split { !($0.isLetter || $0.isNumber || "@._-".contains($0)) }
        let words = text.split { !($0.isLetter || $0.isNumber || "@._:+-/".contains($0)) }
        let found = (parts + words).first {
            Self.isDistinct(String($0)) && known(String($0)) != nil
        }
        guard let found, let (column, user) = known(String(found)) else { return [] }
        let before = String(text[..<found.startIndex])
        let after = String(text[found.endIndex...])
        let around = before + after
        guard around.utf8.count <= 64, !around.contains(where: { "{}".contains($0) }) else {
            return []
        }
        let place = TableSample.Place(value: column, inside: .text(before: before, after: after))
        return [(place, user)]
    }
}
