package import Lifecycle

/// Requests of one kind in a month: `open_before` and `submitted` add up to the others.
package struct WireReportRequests: WireObject, Codable, Hashable {
    package var kind: WireValue<RequestKind>
    package var openBefore = 0
    package var submitted = 0
    package var completed = 0
    package var cancelled = 0
    package var merged = 0
    package var openAfter = 0

    package init(kind: RequestKind) { self.kind = .known(kind) }

    package static let fields: [WireField] = [
        .required("kind", .choice(of: RequestKind.self), "What was asked for."),
        .required("open_before", .integer, "Open when the month began."),
        .required("submitted", .integer, "Accepted in the month."),
        .required("completed", .integer, "Completed in the month, whenever accepted."),
        .required("cancelled", .integer, "Cancelled in the month."),
        .required("merged", .integer, "Merged in the month into a deletion of the same user."),
        .required("open_after", .integer, "Open at the end of the month, or now."),
    ]
}

/// One day of a month.
package struct WireReportDay: WireObject, Codable, Hashable {
    package var day: String
    package var submitted: Int
    package var completed: Int

    package init(day: String, submitted: Int, completed: Int) {
        (self.day, self.submitted, self.completed) = (day, submitted, completed)
    }

    package static let fields: [WireField] = [
        .required("day", .text, "Such as 2026-11-23."),
        .required("submitted", .integer, "Requests accepted on it."),
        .required("completed", .integer, "Requests completed on it."),
    ]
}

/// One month of the last year.
package struct WireReportMonth: WireObject, Codable, Hashable {
    package var month: CalendarMonth
    package var submitted: Int
    package var completed: Int
    package var cancelled: Int

    package init(month: CalendarMonth, submitted: Int, completed: Int, cancelled: Int) {
        self.month = month
        (self.submitted, self.completed, self.cancelled) = (submitted, completed, cancelled)
    }

    package static let fields: [WireField] = [
        .required("month", .text, "Such as 2026-11."),
        .required("submitted", .integer, "Requests accepted in it."),
        .required("completed", .integer, "Requests completed in it."),
        .required("cancelled", .integer, "Requests cancelled in it."),
    ]
}

extension RecordGaps: WireObject {
    package static let schemaName = "ReportGaps"
    package static let fields: [WireField] = [
        .required("requests", .integer, "Requests that ended in the month, and were removed."),
        .required("erasures", .integer, "Erasures of which only a tombstone is left."),
        .optional("records_since", .time, "When the oldest request on record was accepted."),
    ]
}

/// How long deletions took that were completed in the month, and the deadline.
package struct WireReportErasure: WireObject, Codable, Hashable {
    package var completed = 0
    package var deadlineMilliseconds: Int64 = 0
    package var medianMilliseconds: Int64?
    package var percentile95Milliseconds: Int64?
    package var worstMilliseconds: Int64?
    package var late = 0
    package var overdue = 0
    package var spans: [WireReportSpan] = []

    package init() {}

    enum CodingKeys: String, CodingKey {
        case completed, late, overdue, spans
        case deadlineMilliseconds = "deadlineMs"
        case medianMilliseconds = "medianMs"
        case percentile95Milliseconds = "p95Ms"
        case worstMilliseconds = "worstMs"
    }

    package static let fields: [WireField] = [
        .required("completed", .integer, "Deletions completed in the month."),
        .required("deadline_ms", .integer, "The deadline of new requests."),
        .optional("median_ms", .integer, "Half of them took no longer than this."),
        .optional("p95_ms", .integer, "95 percent of them took no longer than this."),
        .optional("worst_ms", .integer, "The longest time from request to completion."),
        .required("late", .integer, "Completed after their own deadline."),
        .required("overdue", .integer, "Open now, and past their deadline."),
        .required("spans", .list(.object("ReportSpan")), "How many took how long."),
    ]
}

/// Deletions by the time they took.
package struct WireReportSpan: WireObject, Codable, Hashable {
    package var upToMilliseconds: Int64?
    package var count: Int

    package init(upToMilliseconds: Int64?, count: Int) {
        (self.upToMilliseconds, self.count) = (upToMilliseconds, count)
    }

    enum CodingKeys: String, CodingKey {
        case count
        case upToMilliseconds = "upToMs"
    }

    package static let fields: [WireField] = [
        .optional("up_to_ms", .integer, "At most this long; absent: longer than the one before."),
        .required("count", .integer, "Deletions."),
    ]
}
