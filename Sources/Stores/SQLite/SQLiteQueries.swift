import GRDB
import Lifecycle

/// The statements of one table, taken from the cache once per transaction.
struct SQLiteQueries {
    let plan: TablePlan<SQLiteDialect>
    let count: SQLiteQuery
    let work: SQLiteQuery

    init(_ plan: TablePlan<SQLiteDialect>, _ reader: SQLiteReader) throws(SQLError) {
        self.plan = plan
        count = try SQLiteQuery(plan.countSQL, on: reader.db, store: reader.store)
        work = try SQLiteQuery(plan.work.workSQL, on: reader.db, store: reader.store)
    }

    func bind(_ parameters: SQLParameters) throws(SQLError) {
        try count.bind(parameters)
        try work.bind(parameters)
    }

    /// Works on all rows at once; of a tree as often as leaves are left.
    func change(on db: Database) throws(SQLError) -> Int {
        var sum = 0
        while true {
            let changed = try work.run(on: db)
            sum += changed
            guard plan.isLeafFirst, changed > 0 else { return sum }
        }
    }

    func forget() {
        count.forget()
        work.forget()
    }
}

/// The statements for a user with more rows than one chunk.
struct SQLiteChunkQueries {
    private let chunk: SQLiteQuery
    private let sizes: SQLiteQuery?
    private let newer: SQLiteQuery?
    private let hasCursor: Bool

    init(_ work: SQLiteWork, _ reader: SQLiteReader) throws(SQLError) {
        chunk = try SQLiteQuery(work.chunkSQL, on: reader.db, store: reader.store)
        sizes = try Self.query(work.sizesSQL, reader)
        newer = try Self.query(work.newerSQL, reader)
        hasCursor = work.hasCursor
    }

    private static func query(
        _ sql: String?,
        _ reader: SQLiteReader
    ) throws(SQLError) -> SQLiteQuery? {
        guard let sql else { return nil }
        return try SQLiteQuery(sql, on: reader.db, store: reader.store)
    }

    func bind(_ parameters: SQLParameters) throws(SQLError) {
        try chunk.bind(parameters)
        try sizes?.bind(parameters)
        try newer?.bind(parameters)
    }

    /// What one statement may change.
    struct Fitting {
        var rowCount = 0
        var byteCount: Int64 = 0
        /// The lowest row; where the next chunk begins.
        var lowest: Int64

        /// There may be more rows, but not in the same statement.
        var isFull: Bool { byteCount >= SQLiteLimits.chunkBytes }
    }

    /// The rows of the next chunk, up to a number of rows and of bytes.
    func fitting(rowsMax: Int, behind place: Int64) throws(SQLError) -> Fitting {
        guard let sizes else { return Fitting(rowCount: rowsMax, lowest: place) }
        try sizes.bind(SQLParameters(limit: rowsMax, key: .integer(place)))
        var found = Fitting(lowest: place)
        _ = try sizes.walk { size in
            found.rowCount += 1
            found.byteCount += size
            if hasCursor, case .integer(let key)? = sizes.key().first { found.lowest = key }
            return !found.isFull
        }
        return found
    }

    /// Works on the rows of the next chunk; 0 rows when triggers ignore all of it.
    func run(
        _ rows: Fitting,
        on db: Database,
        cursor place: inout Int64
    ) throws(SQLError) -> Int {
        guard rows.rowCount > 0 else { return 0 }
        try chunk.bind(SQLParameters(limit: rows.rowCount, key: .integer(place)))
        place = rows.lowest
        return try chunk.run(on: db)
    }

    /// Newer rows, once all chunks are done.
    func newerCount() throws(SQLError) -> Int { Int(try newer?.integers()?.0 ?? 0) }

    func forget() {
        for query in [chunk, sizes, newer] { query?.forget() }
    }
}
