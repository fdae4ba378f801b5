package import Lifecycle

/// How far the daemon is.
package enum DaemonState: String, Sendable, CaseIterable {
    case starting, running, stopping
}

/// The mass-deletion guard.
package struct WireGuard: WireObject, Codable, Hashable {
    package var isOpen: Bool
    package var deletionsLastHour: Int
    package var deletionsPerHourMax: Int
    package var waiting: Int
    package var overrideRemaining: Int?
    package var overrideExpiresAt: WallTime?

    package init(isOpen: Bool, deletionsLastHour: Int, deletionsPerHourMax: Int, waiting: Int) {
        (self.isOpen, self.deletionsLastHour) = (isOpen, deletionsLastHour)
        (self.deletionsPerHourMax, self.waiting) = (deletionsPerHourMax, waiting)
    }

    enum CodingKeys: String, CodingKey {
        case waiting, deletionsLastHour, deletionsPerHourMax, overrideRemaining, overrideExpiresAt
        case isOpen = "open"
    }

    package static let fields: [WireField] = [
        .required("open", .boolean, "Whether deletions may start purging now."),
        .required("deletions_last_hour", .integer, "Purges started within the last hour."),
        .required("deletions_per_hour_max", .integer, "The configured bound."),
        .required("waiting", .integer, "Requests parked because of it."),
        .optional("override_remaining", .integer, "Deletions that the override still allows."),
        .optional("override_expires_at", .time, "When the override ends."),
    ]
}

/// How the daemon is doing.
package struct WireStatus: WireObject, Codable, Hashable {
    package var version: String
    package var state: WireValue<DaemonState>
    package var startedAt: WallTime
    package var isIntakePaused = false
    package var isVaultSealed = false
    package var guardState: WireGuard
    /// Open and recently ended requests by state.
    package var requests: [String: Int] = [:]
    package var parked: [String: Int] = [:]
    package var oldestOpenAt: WallTime?
    package var oldestOpenID: RequestID?
    package var alarms: [String] = []
    package var refusedReload: WireRefusedReload?

    package init(version: String, state: DaemonState, startedAt: WallTime, guardState: WireGuard) {
        (self.version, self.state) = (version, .known(state))
        (self.startedAt, self.guardState) = (startedAt, guardState)
    }

    enum CodingKeys: String, CodingKey {
        case version, state, requests, parked, alarms, startedAt, oldestOpenAt, oldestOpenID
        case refusedReload
        case isIntakePaused = "intakePaused"
        case isVaultSealed = "vaultSealed"
        case guardState = "guard"
    }

    package static let fields: [WireField] = [
        .required("version", .text, "The daemon's version."),
        .required("state", .choice(of: DaemonState.self), "How far it is."),
        .required("started_at", .time, "When this run started."),
        .required("intake_paused", .boolean, "Whether new work is refused."),
        .required("vault_sealed", .boolean, "Whether the vault key is missing."),
        .required("guard", .object("Guard"), "The mass-deletion guard."),
        .required("requests", .counts, "Requests by state."),
        .required("parked", .counts, "Parked requests by reason."),
        .optional("oldest_open_at", .time, "When the oldest open request was made."),
        .optional("oldest_open_id", .uuid, "The oldest open request."),
        .required("alarms", .list(.text), "Codes of what needs an operator."),
        .optional("refused_reload", .object("RefusedReload"), "The last reload, if refused."),
    ]
}
