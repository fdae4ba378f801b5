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

    package static let members: [WireMember<WireReportRequests>] = [
        .field("kind", \.kind, "What was asked for."),
        .field("open_before", \.openBefore, "Open when the month began."),
        .field("submitted", \.submitted, "Accepted in the month."),
        .field("completed", \.completed, "Completed in the month, whenever accepted."),
        .field("cancelled", \.cancelled, "Cancelled in the month."),
        .field("merged", \.merged, "Merged in the month into a deletion of the same user."),
        .field("open_after", \.openAfter, "Open at the end of the month, or now."),
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

    package static let members: [WireMember<WireReportDay>] = [
        .field("day", \.day, "Such as 2026-11-23."),
        .field("submitted", \.submitted, "Requests accepted on it."),
        .field("completed", \.completed, "Requests completed on it."),
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

    package static let members: [WireMember<WireReportMonth>] = [
        .field("month", \.month, "Such as 2026-11."),
        .field("submitted", \.submitted, "Requests accepted in it."),
        .field("completed", \.completed, "Requests completed in it."),
        .field("cancelled", \.cancelled, "Requests cancelled in it."),
    ]
}

extension RecordGaps: WireObject {
    package static let schemaName = "ReportGaps"
    package static let members: [WireMember<RecordGaps>] = [
        .field("requests", \.requests, "Requests that ended in the month, and were removed."),
        .field("erasures", \.erasures, "Erasures of which only a tombstone is left."),
        .field("records_since", \.recordsSince, "When the oldest request on record was accepted."),
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

    package static let members: [WireMember<WireReportErasure>] = [
        .field("completed", \.completed, "Deletions completed in the month."),
        .field("deadline_ms", \.deadlineMilliseconds, "The deadline of new requests."),
        .field("median_ms", \.medianMilliseconds, "Half of them took no longer than this."),
        .field(
            "p95_ms",
            \.percentile95Milliseconds,
            "95 percent of them took no longer than this."
        ),
        .field("worst_ms", \.worstMilliseconds, "The longest time from request to completion."),
        .field("late", \.late, "Completed after their own deadline."),
        .field("overdue", \.overdue, "Open now, and past their deadline."),
        .field("spans", \.spans, "How many took how long."),
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

    package static let members: [WireMember<WireReportSpan>] = [
        .field(
            "up_to_ms",
            \.upToMilliseconds,
            "At most this long; absent: longer than the one before."
        ),
        .field("count", \.count, "Deletions."),
    ]
}
