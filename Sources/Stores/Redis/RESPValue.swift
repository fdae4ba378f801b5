/// A reply of Redis in version 2 of its protocol
/// (redis.io/docs/latest/develop/reference/protocol-spec).
///
/// Redacted, since keys hold user ids.
enum RESPValue: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    case simple([UInt8])
    /// The first word of an error, such as `NOPERM`; the rest may quote a key.
    case error(String)
    case integer(Int)
    case bulk([UInt8])
    case null
    case array([RESPValue])

    /// Bytes of a simple or bulk string.
    var bytes: [UInt8]? {
        switch self {
        case .simple(let bytes), .bulk(let bytes): bytes
        case .error, .integer, .null, .array: nil
        }
    }

    var integer: Int? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    /// Byte strings of an array; `nil` for anything else.
    var list: [[UInt8]]? {
        guard case .array(let values) = self else { return nil }
        let list = values.compactMap(\.bytes)
        return list.count == values.count ? list : nil
    }

    var description: String { "[redacted]" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
