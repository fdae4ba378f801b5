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

    package static let fields: [WireField] = [
        .required("name", .text, "Its configured name."),
        .required("kind", .text, "Its configured kind."),
        .required("state", .choice(of: HealthState.self), "Whether it takes work."),
        .optional("detail", .text, "Why it does not."),
        .required("in_flight", .integer, "Actions running there now."),
        .required("concurrency", .integer, "The most that may run there at once."),
        .required("waiting", .integer, "Steps that wait for it."),
        .optional("retry_at", .time, "When it is tried again."),
        .optional("last_success_at", .time, "When it last answered as documented."),
        .optional("last_failure_at", .time, "When it last did not."),
        .optional("last_error", .text, "A code: why not."),
        .required("findings", .list(.text), "What a check found wrong; not for viewers."),
        .optional("summary", .text, "After a check: what it found, in one sentence."),
        .optional(
            "uncovered",
            .list(.text),
            "After a check of a store: unmapped data, and keys that stop deletions."
        ),
        .optional(
            "sampled",
            .list(.text),
            "After a check of a store: what was searched only in part."
        ),
        .optional(
            "unexamined",
            .list(.text),
            "After a check of a store: what could not be searched."
        ),
        .optional(
            "advice",
            .list(.text),
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

    package static let fields: [WireField] = [
        .required("state", .choice(of: DaemonState.self), "How far the service is."),
        .required("version", .text, "The version of the service."),
        .required("intake_paused", .boolean, "Whether it refuses new requests."),
        .required("vault_sealed", .boolean, "Whether the vault key is missing."),
    ]
}
