import GRDBSQLite
import Lifecycle

/// One bound parameter.
enum SQLValue: Sendable {
    case null
    case int(Int64)
    case text(String)
    case blob([UInt8])
    /// 16 bytes, big end first, so that SQLite sorts identifiers by their birth.
    case id(TimeOrderedID)

    static func int(_ value: Int) -> SQLValue { .int(Int64(value)) }
    static func bool(_ value: Bool) -> SQLValue { .int(value ? 1 as Int64 : 0) }
    static func time(_ value: WallTime) -> SQLValue { .int(value.unixMilliseconds) }
    static func time(_ value: WallTime?) -> SQLValue { value.map { .time($0) } ?? .null }
    static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
    static func blob(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
}

extension SQLValue {
    /// Binds to parameter `index` (from 1) and answers SQLite's result code.
    ///
    /// SQLite copies text and blobs (`SQLITE_TRANSIENT`), so nothing here outlives the call.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null:
            return unsafe sqlite3_bind_null(statement, index)
        case .int(let value):
            return unsafe sqlite3_bind_int64(statement, index, value)
        case .text(var text):
            return text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                    // A nil pointer would bind NULL; the empty text is a text.
                    guard let start = characters.baseAddress else {
                        return unsafe sqlite3_bind_text(statement, index, "", 0, Self.transient)
                    }
                    return unsafe sqlite3_bind_text(
                        statement,
                        index,
                        start,
                        Int32(characters.count),
                        Self.transient
                    )
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
            return unsafe bytes.withUnsafeBytes { buffer in
                unsafe sqlite3_bind_blob(
                    statement,
                    index,
                    buffer.baseAddress,
                    Int32(buffer.count),
                    Self.transient
                )
            }
        case .id(let id):
            let halves = (id.high.bigEndian, id.low.bigEndian)
            return unsafe withUnsafeBytes(of: halves) { buffer in
                unsafe sqlite3_bind_blob(statement, index, buffer.baseAddress, 16, Self.transient)
            }
        }
    }

    /// `SQLITE_TRANSIENT`, a macro that Swift does not import (sqlite.org/c3ref/c_static.html).
    private static var transient: sqlite3_destructor_type? {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type?.self)
    }
}
