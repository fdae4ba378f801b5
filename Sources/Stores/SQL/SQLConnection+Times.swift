import Engine
import Lifecycle

/// What a look at a database found.
struct SQLFindings: Sendable {
    var problems: [StoreProblem] = []
    var advice: [StoreAdvice] = []
    /// Columns without a rule that keep deletions from ever ending.
    var uncovered: [CoverageFinding] = []
    /// Of the rule that is being checked; `nil` for what concerns the whole store.
    var section: String?

    static let searchTooLong =
        "not all tables were searched for rules that find nothing and for rows that block a"
        + " deletion: a search takes longer than statement_timeout"

    mutating func refuse(_ text: String, remedy: String? = nil) {
        problems.append(StoreProblem(text, in: section, remedy: remedy))
    }

    var findings: StoreFindings {
        StoreFindings(found: problems, advice: advice, uncovered: uncovered)
    }

    mutating func add(_ other: SQLFindings) {
        problems += other.problems
        advice += other.advice
        uncovered += other.uncovered
    }

    mutating func advise(_ text: String) { advice.append(StoreAdvice(text)) }

    /// Advises of a key that may stop deletions.
    mutating func advise(_ key: BlockingKey) {
        advice.append(StoreAdvice(key.sentence, for: key.name))
    }
}

extension SQLConnection {
    /// Looks for stored times that do not fit a rule: a wrong unit protects everything or nothing.
    func checkTimes(
        _ rule: TableRule,
        _ table: TableShape,
        at now: WallTime,
        _ found: inout SQLFindings
    ) throws(SQLError) {
        guard let creation = rule.creation,
            let column = Dialect.shape(creation.column, in: table)
        else { return }
        let name = Dialect.column(creation.column, of: table.reference)
        let place = "column '\(creation.column)' of table '\(table.name)'"
        let sample = { (values: String, condition: String) in
            """
            SELECT \(values) FROM \(table.reference)\(condition)\(Dialect.newestFirst(table)) \
            LIMIT \(SQLLimits.sampleRows)
            """
        }
        let any = { (isFound: String) throws(SQLError) -> Bool in
            let rows = sample("\(isFound) AS found", "")
            return try self.count("SELECT 1 FROM (\(rows)) AS q WHERE found LIMIT 1") > 0
        }
        if rule.action != .keep {
            if !column.isNotNull, try any("\(name) IS NULL") {
                found.advise(
                    "\(place) is NULL in some rows; rows without a time count as old and are purged"
                )
            }
            if let isDay = Dialect.isDay(creation, in: table), try any(isDay) {
                found.advise(
                    "\(place) holds days without a time of day: rows of the day of a request count"
                        + " as newer and stay"
                )
            }
        }
        // A time of the database's own type has no unit.
        guard creation.unit != .timestamp else { return }
        let isLater = { (time: String) in Dialect.isLater(creation, in: table, than: time) }
        let values = """
            \(isLater("\(SQLLimits.unitStart.unixMilliseconds)")) AS p, \
            \(isLater(Dialect.time)) AS f, \
            \(isLater("\(SQLLimits.unitHorizon.unixMilliseconds)")) AS u
            """
        let counts = try integers(
            """
            SELECT count(*), sum(CASE WHEN p AND NOT f THEN 1 ELSE 0 END), \
            sum(CASE WHEN p AND NOT u THEN 1 ELSE 0 END) \
            FROM (\(sample(values, " WHERE \(name) IS NOT NULL"))) AS q
            """,
            SQLParameters(time: now + SQLLimits.clockSkew)
        )
        if counts[0] > 0, counts[2] == 0 {
            found.refuse("\(place) holds no plausible time in \(creation.unit.rawValue)")
        } else if counts[1] < counts[0] {
            found.advise(
                "\(place) holds values that are no plausible time; rows dated in the future"
                    + "\(Dialect.unreadableTimes) are never purged"
            )
        }
    }
}
