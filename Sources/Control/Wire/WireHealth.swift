package import Lifecycle

/// Whether a provider or store takes work.
package enum HealthState: String, Sendable, CaseIterable {
    case ready
    /// By an operator, or because its configuration is refused; `detail` says which.
    case paused
    /// The breaker is open: nothing is sent until `retry_at`.
    case broken
    /// The breaker lets single tries through.
    case probing
    /// An operator placed a hold on all of the store: nothing is purged from it.
    case held
}

/// Health of one provider or store.
package struct WireHealth: WireObject, Codable, Hashable {
    package var name: String
    package var kind: String
    package var state: WireValue<HealthState>
    package var detail: String?
    package var inFlight = 0
    package var concurrency = 0
    package var waiting = 0
    package var retryAt: WallTime?
    package var lastSuccessAt: WallTime?
    package var lastFailureAt: WallTime?
    package var lastError: String?
    package var findings: [String] = []
    package var summary: String?
    package var uncovered: [String]?
    package var sampled: [String]?
    package var unexamined: [String]?
    package var advice: [String]?

    package init(name: String, kind: String, state: HealthState) {
        (self.name, self.kind, self.state) = (name, kind, .known(state))
    }

    package static let listMax: Int? = ControlLimits.storesMax

    package static let members: [WireMember<WireHealth>] = [
        .field("name", \.name, "Its configured name."),
        .field("kind", \.kind, "Its configured kind."),
        .field("state", \.state, "Whether it takes work."),
        .field("detail", \.detail, "Why it does not."),
        .field("in_flight", \.inFlight, "Actions running there now."),
        .field("concurrency", \.concurrency, "The most that may run there at once."),
        .field("waiting", \.waiting, "Steps that wait for it."),
        .field("retry_at", \.retryAt, "When it is tried again."),
        .field("last_success_at", \.lastSuccessAt, "When it last answered as documented."),
        .field("last_failure_at", \.lastFailureAt, "When it last did not."),
        .field("last_error", \.lastError, "A code: why not."),
        .field("findings", \.findings, "What a check found wrong; not for viewers."),
        .field("summary", \.summary, "After a check: what it found, in one sentence."),
        .field(
            "uncovered",
            \.uncovered,
            "After a check of a store: unmapped data, and keys that stop deletions."
        ),
        .field("sampled", \.sampled, "After a check of a store: what was searched only in part."),
        .field("unexamined", \.unexamined, "After a check of a store: what could not be searched."),
        .field(
            "advice",
            \.advice,
            "After a check of a store: what to know about it, such as a column without an index."
        ),
    ]
}

/// Whether the service answers, and what it refuses for now.
package struct WireServiceHealth: WireObject, Codable, Hashable {
    package var state: WireValue<DaemonState>
    package var version: String
    package var isIntakePaused: Bool
    package var isVaultSealed: Bool

    package init(version: String, isIntakePaused: Bool, isVaultSealed: Bool) {
        state = .known(.running)
        (self.version, self.isIntakePaused) = (version, isIntakePaused)
        self.isVaultSealed = isVaultSealed
    }

    enum CodingKeys: String, CodingKey {
        case state, version
        case isIntakePaused = "intakePaused"
        case isVaultSealed = "vaultSealed"
    }

    package static let members: [WireMember<WireServiceHealth>] = [
        .field("state", \.state, "How far the service is."),
        .field("version", \.version, "The version of the service."),
        .field("intake_paused", \.isIntakePaused, "Whether it refuses new requests."),
        .field("vault_sealed", \.isVaultSealed, "Whether the vault key is missing."),
    ]
}
