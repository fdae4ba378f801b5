package import Lifecycle

/// How far a replay is.
package enum ReplayState: String, Sendable, CaseIterable {
    case idle, running, finished
    /// Something was not erased again; the stores say what.
    case incomplete
}

/// The replay that runs, or ran last since the start.
package struct WireReplay: WireObject, Codable, Hashable {
    package var state: WireValue<ReplayState>
    /// What its caller named it; after a restart of the daemon there is none.
    package var id: String?
    package var isDrill = false
    package var since: WallTime?
    package var tombstones = 0
    package var reopened = 0
    package var stores: [StoreReport] = []

    package init(state: ReplayState) { self.state = .known(state) }

    enum CodingKeys: String, CodingKey {
        case state, id, since, tombstones, reopened, stores
        case isDrill = "drill"
    }

    package static let fields: [WireField] = [
        .required("state", .choice(of: ReplayState.self), "How far it is."),
        .optional("id", .text, "What its caller named it."),
        .required("drill", .boolean, "Whether the stores themselves were left alone."),
        .optional("since", .time, "Erasures from then on are repeated."),
        .required("tombstones", .integer, "How many there are."),
        .required("reopened", .integer, "Open deletions that purge again what they had purged."),
        .required(
            "stores",
            .atMost(ControlLimits.storesMax, .object("ReplayStore")),
            "What was found where."
        ),
    ]
}

extension StoreReport: WireObject {
    package static let schemaName = "ReplayStore"
    package static let fields: [WireField] = [
        .required("name", .text, "The store."),
        .required("found", .integer, "Erased users that the store knows, or ids of them."),
        .required("erased", .integer, "Of these, erased again and verified."),
        .required("rows", .integer, "Rows or files that went."),
        .required(
            "newer",
            .integer,
            "Rows or files left alone, since the store dates them after the erasure or not at all."
        ),
        .optional("error", .text, "Why it is not complete, such as cannot_list."),
        .optional("detail", .text, "The same in words."),
    ]
}
