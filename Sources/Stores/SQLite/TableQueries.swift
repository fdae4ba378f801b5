internal import GRDB
internal import Lifecycle

/// The statements of one table, taken from the cache once per transaction.
struct TableQueries {
    let plan: TablePlan
    let count: PreparedQuery
    let work: PreparedQuery

    init(_ plan: TablePlan, on db: Database, target: TargetName) throws {
        self.plan = plan
        count = try PreparedQuery(
            plan.countSQL,
            constants: plan.constants,
            on: db,
            target: target
        )
        work = try PreparedQuery(plan.workSQL, constants: plan.constants, on: db, target: target)
    }

    func bind(_ key: BoundValue, cutoff: WallTime) throws(TargetError) {
        try count.bind(key, cutoff: cutoff)
        try work.bind(key, cutoff: cutoff)
    }

    func forgetUser() {
        count.forgetUser()
        work.forgetUser()
    }
}

/// The statements for a user with more rows than one chunk.
struct ChunkQueries {
    let chunk: PreparedQuery
    let cursor: PreparedQuery?
    let newer: PreparedQuery?

    init(_ plan: TablePlan, on db: Database, target: TargetName) throws(TargetError) {
        do {
            let make = { (sql: String) in
                try PreparedQuery(sql, constants: plan.constants, on: db, target: target)
            }
            chunk = try make(plan.chunkSQL)
            cursor = try plan.cursorSQL.map(make)
            newer = try plan.newerSQL.map(make)
        } catch {
            throw TargetError(error, target: target)
        }
    }

    func bind(_ key: BoundValue, cutoff: WallTime) throws(TargetError) {
        try chunk.bind(key, cutoff: cutoff)
        try cursor?.bind(key, cutoff: cutoff)
        try newer?.bind(key, cutoff: cutoff)
    }

    /// Works on the next chunk of up to `rowsMax` rows; 0 when there is none, or when triggers
    /// ignore all of it.
    func next(
        on db: Database,
        rowsMax: Int,
        cursor place: inout Int64
    ) throws(TargetError) -> Int {
        try chunk.bind(.integer(Int64(rowsMax)), at: PreparedQuery.Place.limit)
        try cursor?.bind(.integer(Int64(rowsMax)), at: PreparedQuery.Place.limit)
        guard let cursor else { return try chunk.run(on: db) }
        try cursor.bind(.integer(place), at: PreparedQuery.Place.cursor)
        guard let (lowest, found, _) = try cursor.integers(), found > 0 else { return 0 }
        try chunk.bind(.integer(place), at: PreparedQuery.Place.cursor)
        place = lowest
        return try chunk.run(on: db)
    }

    func forgetUser() {
        chunk.forgetUser()
        cursor?.forgetUser()
        newer?.forgetUser()
    }
}
