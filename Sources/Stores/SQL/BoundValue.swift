/// A value bound to a parameter of a statement.
enum BoundValue: Hashable, Sendable {
    case text([UInt8])
    case integer(Int64)
    case real(Double)
    case blob([UInt8])

    /// Of a text or bytes; 0 for a number.
    var byteCount: Int {
        switch self {
        case .text(let bytes), .blob(let bytes): bytes.count
        case .integer, .real: 0
        }
    }
}
