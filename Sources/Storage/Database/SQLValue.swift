import GRDBSQLite
package import Lifecycle

/// A parameter of a statement.
package enum SQLValue: Sendable {
    case null
    case int(Int64)
    case text(String)
    case blob([UInt8])
    /// 16 bytes, big end first, so that SQLite sorts identifiers by their birth.
    case id(TimeOrderedID)

    static func int(_ value: Int) -> SQLValue { .int(Int64(value)) }
    static func int(_ value: Int?) -> SQLValue { value.map { .int($0) } ?? .null }
    static func uid(_ value: UInt32) -> SQLValue { .int(Int64(value)) }
    static func uid(_ value: UInt32?) -> SQLValue { value.map { .uid($0) } ?? .null }
    static func id(_ value: RequestID) -> SQLValue { .id(value.value) }
    static func id(_ value: RequestID?) -> SQLValue { value.map { .id($0.value) } ?? .null }
    /// What every id is greater than when there is none.
    static func after(_ value: RequestID?) -> SQLValue { value.map { .id($0) } ?? .blob([]) }
    static func id(_ value: IdentityID) -> SQLValue { .id(value.value) }
    static func id(_ value: CredentialID) -> SQLValue { .int(value.rowID) }
    static func bool(_ value: Bool) -> SQLValue { .int(value ? 1 as Int64 : 0) }
    static func time(_ value: WallTime) -> SQLValue { .int(value.unixMilliseconds) }
    static func time(_ value: WallTime?) -> SQLValue { value.map { .time($0) } ?? .null }
    static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
    static func blob(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
}

extension SQLValue {
    /// The room that ``bind(to:at:in:)`` takes.
    var byteCount: Int {
        switch self {
        case .null, .int: 0
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        case .id: 16
        }
    }

    /// Binds to parameter `index` (from 1) and answers SQLite's result code.
    ///
    /// Text and blobs move into `room`, which must outlive the binding: SQLite copies nothing
    /// (`SQLITE_STATIC`, sqlite.org/c3ref/c_static.html).
    func bind(
        to statement: OpaquePointer,
        at index: Int32,
        in room: inout Slice<UnsafeMutableRawBufferPointer>
    ) -> Int32 {
        switch self {
        case .null:
            return unsafe sqlite3_bind_null(statement, index)
        case .int(let value):
            return unsafe sqlite3_bind_int64(statement, index, value)
        case .text(var text):
            let place = text.withUTF8 { unsafe Self.move(UnsafeRawBufferPointer($0), into: &room) }
            // A nil pointer would bind NULL; the empty text is a text.
            guard let start = place.baseAddress else {
                return unsafe sqlite3_bind_text(statement, index, "", 0, nil)
            }
            let characters = unsafe start.assumingMemoryBound(to: CChar.self)
            return unsafe sqlite3_bind_text(statement, index, characters, Int32(place.count), nil)
        case .blob(let bytes):
            guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
            let place = unsafe bytes.withUnsafeBytes { unsafe Self.move($0, into: &room) }
            return unsafe sqlite3_bind_blob(
                statement,
                index,
                place.baseAddress,
                Int32(place.count),
                nil
            )
        case .id(let id):
            let halves = (id.high.bigEndian, id.low.bigEndian)
            let place = unsafe withUnsafeBytes(of: halves) { unsafe Self.move($0, into: &room) }
            return unsafe sqlite3_bind_blob(statement, index, place.baseAddress, 16, nil)
        }
    }

    /// - Returns: Where the bytes are now; without a base address when there are none.
    private static func move(
        _ bytes: UnsafeRawBufferPointer,
        into room: inout Slice<UnsafeMutableRawBufferPointer>
    ) -> UnsafeMutableRawBufferPointer {
        guard unsafe !bytes.isEmpty else {
            return unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
        }
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: room.prefix(bytes.count))
        unsafe place.copyMemory(from: bytes)
        unsafe room.removeFirst(bytes.count)
        return unsafe place
    }
}
