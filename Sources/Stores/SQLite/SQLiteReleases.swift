import Engine
import Lifecycle

/// Deletes what the rows of a chunk refer to, when nothing else does.
struct SQLiteReleases {
    private let reader: SQLiteReader
    private let releases: [ReleasePlan]
    private let parameters: SQLParameters
    /// For each release, the keys that the rows hold.
    private let keys: [[BoundValue]]

    /// Reads the keys of all rows, or of a chunk of so many, before these are deleted.
    init(
        _ table: TablePlan<SQLiteDialect>,
        _ reader: SQLiteReader,
        _ parameters: SQLParameters,
        rowsMax: Int? = nil
    ) throws(SQLError) {
        self.reader = reader
        self.parameters = parameters
        releases = table.releases
        var parameters = parameters
        parameters.limit = rowsMax
        var keys: [[BoundValue]] = []
        for sql in table.work.releasing {
            let rows = try reader.rows(rowsMax == nil ? sql.work : sql.chunk, parameters)
            keys.append(rows.compactMap { $0.first ?? nil })
        }
        self.keys = keys
    }

    /// Deletes them, after the rows.
    func run(_ counts: inout [TableRule: Int]) throws(SQLError) {
        for (release, keys) in zip(releases, keys) where !keys.isEmpty {
            let query = try SQLiteQuery(release.deleteSQL, on: reader.db, store: reader.store)
            defer { query.forget() }
            var parameters = parameters
            for key in keys {
                parameters.key = key
                try query.bind(parameters)
                counts[release.rule, default: 0] += try query.run(on: reader.db)
            }
        }
    }
}
