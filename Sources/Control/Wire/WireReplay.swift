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

    package static let members: [WireMember<WireReplay>] = [
        .field("state", \.state, "How far it is."),
        .field("id", \.id, "What its caller named it."),
        .field("drill", \.isDrill, "Whether the stores themselves were left alone."),
        .field("since", \.since, "Erasures from then on are repeated."),
        .field("tombstones", \.tombstones, "How many there are."),
        .field("reopened", \.reopened, "Open deletions that purge again what they had purged."),
        .field("stores", \.stores, "What was found where."),
    ]
}

extension StoreReport: WireObject {
    package static let schemaName = "ReplayStore"
    package static let listMax: Int? = ControlLimits.storesMax
    package static let members: [WireMember<StoreReport>] = [
        .field("name", \.name, "The store."),
        .field("found", \.found, "Erased users that the store knows, or ids of them."),
        .field("erased", \.erased, "Of these, erased again and verified."),
        .field("rows", \.rows, "Rows or files that went."),
        .field(
            "newer",
            \.newer,
            "Rows or files left alone, since the store dates them after the erasure or not at all."
        ),
        .field("error", \.error, "Why it is not complete, such as cannot_list."),
        .field("detail", \.detail, "The same in words."),
    ]
}
