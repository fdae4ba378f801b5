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
