/// A value bound to a parameter of a statement.
enum BoundValue: Hashable, Sendable {
    case text([UInt8])
    case integer(Int64)
    case real(Double)
    case blob([UInt8])
}
