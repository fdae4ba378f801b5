/// Why the sandbox could not do what it was asked.
package struct SandboxError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, as a closed set.
    package enum Kind: String, Sendable {
        case cryptography
        /// A key is not what the place needs (PEM, P-256).
        case unsuitableKey = "unsuitable_key"
        case file
        case listen
        /// An admin call names an unknown client, user or command, or is malformed.
        case badRequest = "bad_request"
        /// The sandbox holds as many grants as it may.
        case full
    }

    package let kind: Kind
    /// The verb and its object: `make key`.
    package let action: String
    /// The file, endpoint or field.
    package let place: String
    package let cause: String?

    init(_ kind: Kind, cannot action: String, at place: String, cause: String? = nil) {
        (self.kind, self.action, self.place, self.cause) = (kind, action, place, cause)
    }

    package var description: String {
        let detail = cause.map { ": \($0)" } ?? ""
        return "cannot \(action) at '\(place)' (\(kind.rawValue))\(detail)"
    }
}
