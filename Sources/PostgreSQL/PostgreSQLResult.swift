internal import CPostgres
internal import Glibc

/// What the server answered to one statement.
@safe package final class PostgreSQLResult {
    package enum Kind: Equatable, Sendable {
        /// Rows, or a command that has none.
        case done
        /// Code of the server, without a message: messages quote values.
        case failed(PostgreSQLFailure)
        /// The end of a pipeline.
        case sync
        /// An earlier statement of the pipeline failed, so this one did not run.
        case skipped
    }

    let handle: OpaquePointer
    private let memory: LibraryMemory

    init(_ handle: OpaquePointer, _ memory: LibraryMemory) {
        unsafe self.handle = handle
        self.memory = memory
    }

    deinit { memory.counting { unsafe PQclear(handle) } }

    package var kind: Kind {
        switch unsafe PQresultStatus(handle) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY: .done
        case PGRES_PIPELINE_SYNC: .sync
        case PGRES_PIPELINE_ABORTED: .skipped
        default: .failed(field("C").map { .state($0) } ?? .lost)
        }
    }

    package var rowCount: Int32 { unsafe PQntuples(handle) }
    package var columnCount: Int32 { unsafe PQnfields(handle) }

    /// The type of a column, of `pg_type`.
    package func type(at place: Int32) -> UInt32 { unsafe PQftype(handle, place) }

    package func row(_ row: Int32) -> PostgreSQLRow { unsafe PostgreSQLRow(handle, row) }

    /// Such as `COMMIT`, or `UPDATE 3`.
    package var tag: String { unsafe String(cString: PQcmdStatus(handle)) }

    /// Rows that a command inserted, changed or deleted; `nil` for a query, which has rows.
    package var changedCount: Int? {
        // Without the check a SELECT counts the rows that it returns.
        switch unsafe UInt8(bitPattern: PQcmdStatus(handle)[0]) {
        case UInt8(ascii: "I"), UInt8(ascii: "U"), UInt8(ascii: "D"):
            unsafe Int(atoll(PQcmdTuples(handle)))
        default: nil
        }
    }

    /// What `PQcmdTuples` says, for a query as well.
    package var rowTotal: Int { unsafe Int(atoll(PQcmdTuples(handle))) }

    /// A part of an error by its letter (PostgreSQL 15, 55.8); `M` and others quote values.
    package func field(_ letter: Unicode.Scalar) -> String? {
        let text = unsafe PQresultErrorField(handle, Int32(letter.value))
        return unsafe text.map { unsafe String(cString: $0) }
    }
}

/// The values of one row, by their place from 0; valid while its result is.
@safe package struct PostgreSQLRow {
    private let result: OpaquePointer
    private let row: Int32

    init(_ result: OpaquePointer, _ row: Int32) {
        unsafe (self.result, self.row) = (result, row)
    }

    package var columnCount: Int32 { unsafe PQnfields(result) }

    package func place(of name: StaticString) -> Int32? {
        for place in 0..<columnCount {
            let found = unsafe PQfname(result, place)
            if let found = unsafe found, unsafe strcmp(found, name.utf8Start) == 0 { return place }
        }
        return nil
    }

    package func isNull(at place: Int32) -> Bool {
        unsafe PQgetisnull(result, row, place) != 0
    }

    /// The type of a column, of `pg_type`.
    package func type(at place: Int32) -> UInt32 { unsafe PQftype(result, place) }

    /// The bytes as the server sent them.
    package func withBytes<T>(at place: Int32, _ body: (UnsafeRawBufferPointer) -> T) -> T {
        let start = unsafe UnsafeRawPointer(PQgetvalue(result, row, place))
        let count = Int(unsafe PQgetlength(result, row, place))
        return unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A whole number or a Boolean in binary format; 0 for NULL.
    package func int64(at place: Int32) -> Int64 {
        unsafe withBytes(at: place) { bytes in
            if type(at: place) == PostgreSQLParameters.TypeID.numeric {
                return unsafe Self.whole(bytes)
            }
            var value: Int64 = 0
            for index in 0..<bytes.count { value = unsafe value << 8 | Int64(bytes[index]) }
            // Two's complement of fewer bytes; one byte is a Boolean.
            let unused = Int64(64 - 8 * min(8, max(1, bytes.count)))
            return bytes.count == 1 ? value : (value << unused) >> unused
        }
    }

    /// The whole part of a `numeric`: its digits to the base of 10,000, each of two bytes, after
    /// their count, the weight of the first, and the sign (`numeric_send`).
    private static func whole(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        func number(_ index: Int) -> Int {
            guard index * 2 + 1 < bytes.count else { return 0 }
            return unsafe Int(bytes[index * 2]) << 8 | Int(bytes[index * 2 + 1])
        }
        let (count, weight) = (number(0), Int(Int16(truncatingIfNeeded: number(1))))
        guard weight >= 0, weight < 5 else { return 0 }
        var value: Int64 = 0
        for index in 0...weight {
            let digit = index < count ? number(4 + index) : 0
            value = value &* 10_000 &+ Int64(digit)
        }
        return number(2) == 0 ? value : -value
    }
}
