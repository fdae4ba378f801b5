import Encoding

/// A value of a TOML document.
indirect enum TOMLNode: Sendable {
    case text(String)
    case integer(Int)
    case boolean(Bool)
    case array([TOMLNode])
    case table([String: TOMLNode])
    /// Anything that no setting takes: floats, dates, times.
    case other(String)

    /// What the node is, in words that follow "not".
    var typeName: String {
        switch self {
        case .text: "a text"
        case .integer: "a number"
        case .boolean: "true or false"
        case .array: "a list"
        case .table: "a section"
        case .other(let name): name
        }
    }
}

extension TOMLNode {
    /// The same value as JSON, with sorted names; `nil` where JSON in a configuration has no such
    /// value.
    var json: JSONValue? {
        switch self {
        case .text(let text): return .string(text)
        case .integer(let number): return .integer(Int64(number))
        case .boolean(let value): return .bool(value)
        case .array(let nodes):
            let items = nodes.compactMap(\.json)
            return items.count == nodes.count ? .array(items) : nil
        case .table(let entries):
            let members = entries.sorted { $0.key < $1.key }.compactMap { name, node in
                node.json.map { JSONValue.Member(name, $0) }
            }
            return members.count == entries.count ? .object(members) : nil
        case .other: return nil
        }
    }
}
