import Engine
import GRDB
import Lifecycle

/// Reads the rows that wait in the order of their ids, inside one transaction.
struct SpoolScan {
    /// The first id of the rest of each table; `nil` when no id can follow.
    struct Cursor: Hashable, Sendable {
        private var credentials: Int64? = .min
        private var requests: Int64? = .min

        subscript(table: SpoolTable) -> Int64? {
            get { table == .credentials ? credentials : requests }
            set {
                switch table {
                case .credentials: credentials = newValue
                case .requests: requests = newValue
                }
            }
        }
    }

    private struct Enough: Error {}

    let database: Database
    let uptime: @Sendable () -> Duration
    let end: Duration
    private(set) var cursor: Cursor
    private(set) var unreadableCount = 0
    private var byteCount = 0

    init(
        database: Database,
        cursor: Cursor,
        end: Duration,
        uptime: @escaping @Sendable () -> Duration
    ) {
        (self.database, self.cursor, self.end, self.uptime) = (database, cursor, end, uptime)
    }

    /// Up to `limit` submitted rows, and whether there are no further ones in the table.
    mutating func rows(
        of table: SpoolTable,
        limit: Int
    ) throws -> (rows: [SpoolRawRow], isAtEnd: Bool) {
        var rows: [SpoolRawRow] = []
        while rows.count < limit, byteCount < SpoolLimits.batchByteCountMax {
            guard let first = cursor[table] else { return (rows, true) }
            let last =
                try database.first(table.boundSQL, [.int(first), .int(SpoolLimits.scanMax)]) {
                    $0.isNull() ? nil : $0.int64()
                } ?? nil
            guard let last else { return (rows, true) }
            var reached = last
            do {
                let isCut = try take(table, first...last, limit - rows.count, &rows)
                if isCut, let id = rows.last?.id { reached = id }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
                rows.removeAll { $0.id >= first }
                reached = try takeSingly(table, first...last, limit - rows.count, &rows)
            }
            cursor[table] = reached == .max ? nil : reached + 1
            if uptime() >= end { break }
        }
        return (rows, false)
    }

    /// Returns whether rows may be left in the range.
    private mutating func take(
        _ table: SpoolTable,
        _ range: ClosedRange<Int64>,
        _ limit: Int,
        _ rows: inout [SpoolRawRow]
    ) throws -> Bool {
        var taken = 0
        var isCut = false
        var size = byteCount
        do {
            try database.each(
                table.submittedSQL,
                [.int(range.lowerBound), .int(range.upperBound), .int(limit)]
            ) { row in
                let raw = SpoolRawRow(row, of: table)
                rows.append(raw)
                taken += 1
                size += raw.byteCount
                isCut =
                    taken == limit || size >= SpoolLimits.batchByteCountMax
                    || (taken % 16 == 0 && uptime() >= end)
                if isCut { throw Enough() }
            }
        } catch is Enough {
            // The rest comes with the next batch.
        }
        byteCount = size
        return isCut
    }

    /// Reads one by one, around a row that is too large for SQLite, and returns the last id.
    private mutating func takeSingly(
        _ table: SpoolTable,
        _ range: ClosedRange<Int64>,
        _ limit: Int,
        _ rows: inout [SpoolRawRow]
    ) throws -> Int64 {
        let ids = try database.all(table.idsSQL, [.int(range.lowerBound), .int(range.upperBound)]) {
            $0.int64()
        }
        var taken = 0
        for id in ids {
            do {
                let isSubmitted = try database.first(table.isSubmittedSQL, [.int(id)]) {
                    $0.bool()
                }
                guard isSubmitted == true else { continue }
                if let raw = try database.first(
                    table.rowSQL,
                    [.int(id)],
                    body: { SpoolRawRow($0, of: table) }
                ) {
                    rows.append(raw)
                    byteCount += raw.byteCount
                    taken += 1
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
                unreadableCount += 1
            }
            if taken == limit || byteCount >= SpoolLimits.batchByteCountMax || uptime() >= end {
                return id
            }
        }
        return range.upperBound
    }
}
