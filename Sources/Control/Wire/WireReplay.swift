package import Lifecycle

/// How far a replay is.
package enum ReplayState: String, Sendable, CaseIterable {
    case idle, running, finished
    /// Something was not erased again; the targets say what.
    case incomplete
}

/// The replay that runs, or ran last since the start.
package struct WireReplay: WireObject, Codable, Hashable {
    package var state: WireValue<ReplayState>
    /// What its caller named it; after a restart of the daemon there is none.
    package var id: String?
    package var isDrill: Bool
    package var since: WallTime?
    package var tombstones: Int
    package var reopened: Int
    package var targets: [WireReplayTarget]

    package init(state: ReplayState) {
        self.state = .known(state)
        isDrill = false
        tombstones = 0
        reopened = 0
        targets = []
    }

    enum CodingKeys: String, CodingKey {
        case state, id, since, tombstones, reopened, targets
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
            "targets",
            .atMost(ControlLimits.targetsMax, .object("ReplayTarget")),
            "What was found where."
        ),
    ]
}
