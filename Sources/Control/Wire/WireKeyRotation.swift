package import Lifecycle

/// How far a rotation of the vault key is.
package enum KeyRotationState: String, Sendable, CaseIterable {
    case idle
    case running
    case finished
    case stopped
}

/// A rotation of the vault key: every user's data key is wrapped anew.
package struct WireKeyRotation: WireObject, Codable, Hashable {
    package var state: WireValue<KeyRotationState>
    package var rewrapped = 0
    package var unreadable = 0
    package var startedAt: WallTime?
    package var endedAt: WallTime?
    package var error: String?

    package init(state: KeyRotationState) { self.state = .known(state) }

    package static let fields: [WireField] = [
        .required("state", .choice(of: KeyRotationState.self), "How far it is."),
        .required("rewrapped", .integer, "Data keys wrapped since it started or resumed."),
        .required("unreadable", .integer, "Damaged data keys; they stay as they are."),
        .optional("started_at", .time, "When it started, or went on after a restart."),
        .optional("ended_at", .time, "When it ended."),
        .optional("error", .text, "A code: why it stopped."),
    ]
}
