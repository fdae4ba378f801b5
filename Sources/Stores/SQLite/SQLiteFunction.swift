internal import GRDBSQLite

/// An SQL function of the service.
///
/// Only the service's own statements may call it (`SQLITE_DIRECTONLY`,
/// sqlite.org/c3ref/c_deterministic.html): a schema that did could have values hashed by the
/// service's key, whatever ``TriggerPolicy`` says.
final class SQLiteFunction {
    private let body: ([BoundValue?]) -> BoundValue?

    private init(_ body: @escaping ([BoundValue?]) -> BoundValue?) { self.body = body }

    /// Adds a function to a connection, which keeps it; a pure one always answers the same to the
    /// same arguments.
    ///
    /// - Returns: A result code of SQLite.
    static func add(
        _ name: String,
        argumentCount: Int,
        isPure: Bool = true,
        to connection: OpaquePointer?,
        _ body: @escaping ([BoundValue?]) -> BoundValue?
    ) -> Int32 {
        let flags = SQLITE_UTF8 | SQLITE_DIRECTONLY | (isPure ? SQLITE_DETERMINISTIC : 0)
        return unsafe sqlite3_create_function_v2(
            connection,
            name,
            Int32(argumentCount),
            flags,
            Unmanaged.passRetained(SQLiteFunction(body)).toOpaque(),
            { context, count, values in
                guard let place = unsafe sqlite3_user_data(context) else { return }
                let function = unsafe Unmanaged<SQLiteFunction>.fromOpaque(place)
                    .takeUnretainedValue()
                let arguments = (0..<Int(count)).map { index in
                    unsafe SQLiteFunction.value(values?[index])
                }
                unsafe SQLiteFunction.answer(function.body(arguments), context)
            },
            nil,
            nil,
            { place in
                // Also when it could not be added.
                if let place = unsafe place {
                    unsafe Unmanaged<SQLiteFunction>.fromOpaque(place).release()
                }
            }
        )
    }

    private static func value(_ value: OpaquePointer?) -> BoundValue? {
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_value_int64(value))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_value_double(value))
        case SQLITE_TEXT:
            // Before the number of its bytes (sqlite.org/c3ref/value_blob.html).
            let start = unsafe UnsafeRawPointer(sqlite3_value_text(value))
            return unsafe .text(bytes(start, sqlite3_value_bytes(value)))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_value_blob(value)
            return unsafe .blob(bytes(start, sqlite3_value_bytes(value)))
        default: return nil
        }
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int32) -> [UInt8] {
        guard let start = unsafe start else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: Int(count)))
    }

    private static func answer(_ value: BoundValue?, _ context: OpaquePointer?) {
        let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case nil: unsafe sqlite3_result_null(context)
        case .integer(let number): unsafe sqlite3_result_int64(context, number)
        case .real(let number): unsafe sqlite3_result_double(context, number)
        case .text(let bytes):
            // An empty array may have no address, which would mean NULL.
            unsafe (bytes + [0]).withUnsafeBytes { buffer in
                unsafe sqlite3_result_text(
                    context,
                    buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(bytes.count),
                    transient
                )
            }
        case .blob(let bytes):
            unsafe (bytes + [0]).withUnsafeBytes { buffer in
                unsafe sqlite3_result_blob(
                    context,
                    buffer.baseAddress,
                    Int32(bytes.count),
                    transient
                )
            }
        }
    }
}
