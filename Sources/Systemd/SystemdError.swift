/// Why something that systemd hands to a service could not be used.
package struct SystemdError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of thing is wrong; closed, so that every reader can decide by it.
    package enum Kind: String, Sendable, CaseIterable {
        /// Something that must be there is not.
        case missing
        /// A socket or file of a name that nobody asked for.
        case unexpected
        /// The right name, but not the type of thing that it must be.
        case wrongType = "wrong type"
        /// Somebody else could change it.
        case unsafePermissions = "unsafe permissions"
        /// More bytes than anything of its kind needs.
        case tooLarge = "too large"
        /// A name that could lead out of its directory.
        case malformedName = "malformed name"
        /// The kernel or libsystemd refused.
        case system
    }

    /// What kind of thing is wrong.
    package let kind: Kind
    /// What was attempted: verb and object, such as `read credential 'apple-key.p8'`.
    package let action: String
    /// The path or socket that it was attempted on.
    package let place: String
    /// What the reader needs to know besides; never a secret.
    package let cause: String

    init(_ kind: Kind, cannot action: String, at place: String, because cause: String) {
        self.kind = kind
        self.action = action
        self.place = place
        self.cause = cause
    }

    package var description: String {
        "cannot \(action) at '\(place)' (\(kind.rawValue)): \(cause)"
    }
}
