import GRDB
import Lifecycle

/// The statements of one table, taken from the cache once per transaction.
struct SQLiteQueries {
    let plan: TablePlan<SQLiteDialect>
    let count: SQLiteQuery
    let work: SQLiteQuery

    init(_ plan: TablePlan<SQLiteDialect>, _ reader: SQLiteReader) throws(SQLError) {
        self.plan = plan
        count = try SQLiteQuery(plan.countSQL, on: reader.db, target: reader.target)
        work = try SQLiteQuery(plan.work.workSQL, on: reader.db, target: reader.target)
    }

    func bind(_ parameters: SQLParameters) throws(SQLError) {
        try count.bind(parameters)
        try work.bind(parameters)
    }

    func forget() {
        count.forget()
        work.forget()
    }
}

/// The statements for a user with more rows than one chunk.
struct SQLiteChunkQueries {
    private let chunk: SQLiteQuery
    private let cursor: SQLiteQuery?
    private let newer: SQLiteQuery?

    init(_ work: SQLiteWork, _ reader: SQLiteReader) throws(SQLError) {
        chunk = try SQLiteQuery(work.chunkSQL, on: reader.db, target: reader.target)
        cursor = try Self.query(work.cursorSQL, reader)
        newer = try Self.query(work.newerSQL, reader)
    }

    private static func query(
        _ sql: String?,
        _ reader: SQLiteReader
    ) throws(SQLError) -> SQLiteQuery? {
        guard let sql else { return nil }
        return try SQLiteQuery(sql, on: reader.db, target: reader.target)
    }

    func bind(_ parameters: SQLParameters) throws(SQLError) {
        try chunk.bind(parameters)
        try cursor?.bind(parameters)
        try newer?.bind(parameters)
    }

    /// Works on the next chunk; 0 rows when there is none, or when triggers ignore all of it.
    func next(
        on db: Database,
        rowsMax: Int,
        cursor place: inout Int64
    ) throws(SQLError) -> Int {
        let parameters = SQLParameters(limit: rowsMax, key: .integer(place))
        try chunk.bind(parameters)
        guard let cursor else { return try chunk.run(on: db) }
        try cursor.bind(parameters)
        guard let (lowest, found, _) = try cursor.integers(), found > 0 else { return 0 }
        place = lowest
        return try chunk.run(on: db)
    }

    /// Newer rows, once all chunks are done.
    func newerCount() throws(SQLError) -> Int { Int(try newer?.integers()?.0 ?? 0) }

    func forget() {
        for query in [chunk, cursor, newer] { query?.forget() }
    }
}
