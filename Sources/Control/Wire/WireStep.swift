package import Lifecycle

/// What a step does.
package enum StepKind: String, Sendable, CaseIterable {
    /// Asking the directory where the user is linked.
    case lookup
    /// Counting what the purge would do, for an approval.
    case plan
    /// An authorization code for a refresh token.
    case exchange
    /// Whether a credential is live, before or after its revocation.
    case check
    case revoke
    /// Asked again after the revocation.
    case confirm
    case purge
    case verify
    /// Looking again, after the end.
    case recheck
}

/// How far a step is.
package enum StepState: String, Sendable, CaseIterable {
    case pending
    case running
    case retrying
    case parked
    case done
    /// Not needed, or given up; the verdict says which.
    case skipped
}

/// One provider or store action of a request.
package struct WireStep: WireObject, Codable, Hashable {
    /// The verdict of a plan that the first of two operators approved.
    package static let halfApproved = "approved_1_of_2"

    package var name: String
    package var kind: WireValue<StepKind>
    package var provider: String?
    package var store: String?
    package var state: WireValue<StepState>
    package var attempts: Int
    package var verdict: String?
    package var lastError: String?
    package var answer: WireAnswer?
    package var obstacle: String?
    package var startedAt: WallTime?
    package var endedAt: WallTime?
    package var durationMilliseconds: Int64?
    package var retryAt: WallTime?

    package init(name: String, kind: StepKind, state: StepState, attempts: Int = 0) {
        (self.name, self.kind, self.state) = (name, .known(kind), .known(state))
        self.attempts = attempts
    }

    enum CodingKeys: String, CodingKey {
        case name, kind, provider, store, state, attempts, verdict, answer, obstacle, lastError
        case startedAt, endedAt, retryAt
        case durationMilliseconds = "durationMs"
    }

    package static let members: [WireMember<WireStep>] = [
        .field("name", \.name, "The step, such as `revoke PROVIDER`."),
        .field("kind", \.kind, "What it does."),
        .field("provider", \.provider, "The provider it works at."),
        .field("store", \.store, "The store it works at."),
        .field("state", \.state, "How far it is."),
        .field("attempts", \.attempts, "Calls so far, the check of a token included."),
        .field(
            "verdict",
            \.verdict,
            "What it found or did; `\(halfApproved)`: the first of two operators approved the plan."
        ),
        .field("last_error", \.lastError, "A code, and the answer: why the last attempt failed."),
        .field(
            "answer",
            \.answer,
            "The provider's answer to the last call; absent after a success or without an answer."
        ),
        .field("obstacle", \.obstacle, "The constraint, trigger or column that stands in the way."),
        .field("started_at", \.startedAt, "When the first attempt started."),
        .field("ended_at", \.endedAt, "When it ended."),
        .field("duration_ms", \.durationMilliseconds, "Duration of the step, including waits."),
        .field("retry_at", \.retryAt, "When it is tried again."),
    ]
}
