extension JSONValue {
    /// The value as indented text with a final newline, for people and for files.
    package var indentedText: String { indented(by: 0) + "\n" }

    /// The value on one line.
    package var compactText: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func indented(by depth: Int) -> String {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch self {
        case .array(let items) where !items.isEmpty:
            let lines = items.map { inner + $0.indented(by: depth + 1) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let members) where !members.isEmpty:
            let lines = members.map { member in
                inner + JSONValue.string(member.name).compactText + ": "
                    + member.value.indented(by: depth + 1)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        default: return compactText
        }
    }
}
