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

    package static let members: [WireMember<WireGuard>] = [
        .field("open", \.isOpen, "Whether deletions may start purging now."),
        .field("deletions_last_hour", \.deletionsLastHour, "Purges started within the last hour."),
        .field("deletions_per_hour_max", \.deletionsPerHourMax, "The configured bound."),
        .field("waiting", \.waiting, "Requests parked because of it."),
        .field(
            "override_remaining",
            \.overrideRemaining,
            "Deletions that the override still allows."
        ),
        .field("override_expires_at", \.overrideExpiresAt, "When the override ends."),
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
    package var refusedReload: RefusedReload?

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

    package static let members: [WireMember<WireStatus>] = [
        .field("version", \.version, "The daemon's version."),
        .field("state", \.state, "How far it is."),
        .field("started_at", \.startedAt, "When this run started."),
        .field("intake_paused", \.isIntakePaused, "Whether new work is refused."),
        .field("vault_sealed", \.isVaultSealed, "Whether the vault key is missing."),
        .field("guard", \.guardState, "The mass-deletion guard."),
        .field("requests", \.requests, "Requests by state."),
        .field("parked", \.parked, "Parked requests by reason."),
        .field("oldest_open_at", \.oldestOpenAt, "When the oldest open request was made."),
        .field("oldest_open_id", \.oldestOpenID, "The oldest open request."),
        .field("alarms", \.alarms, "Codes of what needs an operator."),
        .field("refused_reload", \.refusedReload, "The last reload, if refused."),
    ]
}
