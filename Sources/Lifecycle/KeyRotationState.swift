/// How far a rotation of the vault key is.
package enum KeyRotationState: String, Sendable, CaseIterable {
    case idle, running, finished, stopped
}
