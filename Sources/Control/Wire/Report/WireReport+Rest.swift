package import Lifecycle

/// What is open now of the requests that were accepted before the end of the month.
package struct WireReportOpen: WireObject, Codable, Hashable {
    package var states: [String: Int] = [:]
    package var parked: [String: Int] = [:]
    package var waiting: [WireReportWaiting] = []
    package var waitingCount = 0

    package init() {}

    package static let members: [WireMember<WireReportOpen>] = [
        .field("states", \.states, "Requests by state."),
        .field("parked", \.parked, "Parked requests by reason."),
        .field("waiting", \.waiting, "The first 100, by deadline."),
        .field("waiting_count", \.waitingCount, "All that are parked or past their deadline."),
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

    package static let members: [WireMember<WireReportWaiting>] = [
        .field("request_id", \.requestID, "The request."),
        .field("kind", \.kind, "What was asked for."),
        .field("state", \.state, "Where it stands."),
        .field(
            "reason",
            \.reason,
            as: .choice(of: ParkReason.self),
            "What it waits for, if it is parked."
        ),
        .field("created_at", \.createdAt, "When it was made."),
        .field("deadline_at", \.deadlineAt, "When it must be done."),
        .field("since", \.since, "Since when it stands there."),
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

    package static let members: [WireMember<WireReportVerdicts>] = [
        .field("provider", \.provider, "Its configured name."),
        .field("total", \.total, "Identities."),
        .field("verdicts", \.verdicts, "Identities by verdict."),
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

    package static let members: [WireMember<WireReportKept>] = [
        .field("store", \.store, "The store's configured name."),
        .field("table", \.table, "The table, folder, prefix or key."),
        .field("reason", \.reason, "Why, in the words of the receipts."),
        .field("requests", \.requests, "Deletions that left something there."),
        .field("rows", \.rows, "Rows, files or objects."),
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

    package static let members: [WireMember<WireReportCopies>] = [
        .field("store", \.store, "The store's configured name."),
        .field("what", \.what, "What keeps them."),
        .field("requests", \.requests, "Deletions that left copies there."),
        .field("end_known", \.isEndKnown, "Whether the end of all of them is known."),
        .field("until", \.until, "The last known end."),
    ]
}

/// Holds that are in force now.
package struct WireReportHolds: WireObject, Codable, Hashable {
    package var stores: [WireReportHold] = []
    package var users = 0

    package init() {}

    package static let members: [WireMember<WireReportHolds>] = [
        .field("stores", \.stores, "By store."),
        .field("users", \.users, "Users on hold."),
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

    package static let members: [WireMember<WireReportHold>] = [
        .field("store", \.store, "The store's configured name."),
        .field("count", \.count, "Holds on it, or on rows of it."),
        .field("since", \.since, "The oldest of them."),
    ]
}
