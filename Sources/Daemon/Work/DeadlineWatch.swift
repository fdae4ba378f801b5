import Engine
import Lifecycle
import Logging
import Storage

/// Warns before the statutory deadline of a request and alarms after it, once each per run.
struct DeadlineWatch: Sendable {
    /// Once an hour is often enough for a clock of weeks, and costs nothing.
    private static let period = Duration.seconds(3600)
    /// How long before the deadline the warning comes.
    private static let notice = Duration.seconds(7 * 86_400)
    /// The most requests told about at once; the journal is no list.
    private static let rowsMax = 500

    let state: StateDatabase
    let clock: any EngineClock
    let logger: Logger

    /// Runs until cancelled.
    ///
    /// - Throws: `CancellationError`, or what the store throws.
    func run() async throws {
        var warned: Set<RequestID> = []
        var alarmed: Set<RequestID> = []
        while true {
            let now = clock.now()
            let rows = try await state.deadlines(before: now + Self.notice, limit: Self.rowsMax)
            let open = Set(rows.map(\.request))
            warned.formIntersection(open)
            alarmed.formIntersection(open)
            for row in rows {
                let facts: Logger.Metadata = ["request.id": "\(row.request)"]
                if row.deadlineAt <= now {
                    if alarmed.insert(row.request).inserted { logger.note(.deadlinePassed, facts) }
                } else if warned.insert(row.request).inserted {
                    logger.note(.deadlineNear, facts)
                }
            }
            try await clock.sleep(until: now + Self.period)
        }
    }
}
