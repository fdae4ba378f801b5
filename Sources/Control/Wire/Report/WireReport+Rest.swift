package import Lifecycle

/// What is open now of the requests that were accepted before the end of the month.
package struct WireReportOpen: WireObject, Codable, Hashable {
    package var states: [String: Int] = [:]
    package var parked: [String: Int] = [:]
    package var waiting: [WireReportWaiting] = []
    package var waitingCount = 0

    package init() {}

    package static let fields: [WireField] = [
        .required("states", .counts, "Requests by state."),
        .required("parked", .counts, "Parked requests by reason."),
        .required("waiting", .list(.object("ReportWaiting")), "The first 100, by deadline."),
        .required("waiting_count", .integer, "All that are parked or past their deadline."),
    ]
}

/// A request that is parked, or past its deadline.
package struct WireReportWaiting: WireObject, Codable, Hashable {
    package var requestID: RequestID
    package var kind: WireValue<RequestKind>
    package var state: WireValue<RequestState>
    package var reason: String?
    package var createdAt: WallTime
    package var deadlineAt: WallTime
    package var since: WallTime

    package init(requestID: RequestID, kind: RequestKind, state: RequestState, since: WallTime) {
        (self.requestID, self.kind, self.state) = (requestID, .known(kind), .known(state))
        self.since = since
        (createdAt, deadlineAt) = (since, since)
    }

    package static let fields: [WireField] = [
        .required("request_id", .uuid, "The request."),
        .required("kind", .choice(of: RequestKind.self), "What was asked for."),
        .required("state", .choice(of: RequestState.self), "Where it stands."),
        .optional("reason", .choice(of: ParkReason.self), "What it waits for, if it is parked."),
        .required("created_at", .time, "When it was made."),
        .required("deadline_at", .time, "When it must be done."),
        .required("since", .time, "Since when it stands there."),
    ]
}

/// How revocations at one provider ended, of requests completed in the month.
package struct WireReportVerdicts: WireObject, Codable, Hashable {
    package var provider: String
    package var total: Int
    package var verdicts: [String: Int]

    package init(provider: String, verdicts: [String: Int]) {
        self.provider = provider
        total = verdicts.values.reduce(0, +)
        self.verdicts = verdicts
    }

    package static let fields: [WireField] = [
        .required("provider", .text, "Its configured name."),
        .required("total", .integer, "Identities."),
        .required("verdicts", .counts, "Identities by verdict."),
    ]
}

/// What deletions completed in the month left in one table for one reason.
package struct WireReportKept: WireObject, Codable, Hashable {
    package var store: String
    package var table: String
    package var reason: String
    package var requests: Int
    package var rows: Int

    package init(store: String, table: String, reason: String, requests: Int, rows: Int) {
        (self.store, self.table, self.reason) = (store, table, reason)
        (self.requests, self.rows) = (requests, rows)
    }

    package static let fields: [WireField] = [
        .required("store", .text, "The store's configured name."),
        .required("table", .text, "The table, folder, prefix or key."),
        .required("reason", .text, "Why, in the words of the receipts."),
        .required("requests", .integer, "Deletions that left something there."),
        .required("rows", .integer, "Rows, files or objects."),
    ]
}

/// Copies that a store keeps for a while of what was erased in the month.
package struct WireReportCopies: WireObject, Codable, Hashable {
    package var store: String
    package var what: String
    package var requests: Int
    package var isEndKnown: Bool
    package var until: WallTime?

    package init(store: String, what: String) {
        (self.store, self.what) = (store, what)
        (requests, isEndKnown) = (0, true)
    }

    enum CodingKeys: String, CodingKey {
        case store, what, requests, until
        case isEndKnown = "endKnown"
    }

    package static let fields: [WireField] = [
        .required("store", .text, "The store's configured name."),
        .required("what", .text, "What keeps them."),
        .required("requests", .integer, "Deletions that left copies there."),
        .required("end_known", .boolean, "Whether the end of all of them is known."),
        .optional("until", .time, "The last known end."),
    ]
}

/// Holds that are in force now.
package struct WireReportHolds: WireObject, Codable, Hashable {
    package var stores: [WireReportHold] = []
    package var users = 0

    package init() {}

    package static let fields: [WireField] = [
        .required("stores", .list(.object("ReportHold")), "By store."),
        .required("users", .integer, "Users on hold."),
    ]
}

/// The holds on one store.
package struct WireReportHold: WireObject, Codable, Hashable {
    package var store: String
    package var count: Int
    package var since: WallTime

    package init(store: String, count: Int, since: WallTime) {
        (self.store, self.count, self.since) = (store, count, since)
    }

    package static let fields: [WireField] = [
        .required("store", .text, "The store's configured name."),
        .required("count", .integer, "Holds on it, or on rows of it."),
        .required("since", .time, "The oldest of them."),
    ]
}
