/// Why something from systemd could not be used.
package struct SystemdError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    package enum Kind: String, Sendable, CaseIterable {
        case missing
        case unexpected
        case wrongType = "wrong type"
        /// Others could change it.
        case unsafePermissions = "unsafe permissions"
        case tooLarge = "too large"
        case malformedName = "malformed name"
        case system
    }

    package let kind: Kind
    /// Verb and object, such as `read credential 'apple-key.p8'`.
    package let action: String
    /// A path or socket.
    package let place: String
    /// Never a secret.
    package let cause: String

    init(_ kind: Kind, cannot action: String, at place: String, because cause: String) {
        (self.kind, self.action, self.place, self.cause) = (kind, action, place, cause)
    }

    package var description: String {
        "cannot \(action) at '\(place)' (\(kind.rawValue)): \(cause)"
    }
}
