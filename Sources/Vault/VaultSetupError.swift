/// Why a key could not be loaded or made; all of these stop the start or a command, none a request.
///
/// Says which credential or file and what is expected, never what was found inside it.
package struct VaultSetupError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// The text or bytes are not a key of the expected form.
        case malformed = "malformed_key"
        /// It is a key, but of another type, size or curve.
        case wrongType = "wrong_key_type"
        /// The file's owner, mode, size or type is not what we create.
        case unsafeFile = "unsafe_key_file"
        /// The file is missing and may not be made now.
        case missing = "missing_key_file"
        case exists = "key_file_exists"
        case system = "system_error"
        case library = "crypto_library"
    }

    package let kind: Kind
    /// What was tried, such as `load vault key`.
    package let action: String
    package let place: String
    /// What is expected, or what the operating system said.
    package let cause: String

    init(_ kind: Kind, _ action: String, at place: String, _ cause: String) {
        (self.kind, self.action, self.place, self.cause) = (kind, action, place, cause)
    }

    package var description: String {
        "cannot \(action) at '\(place)' (\(kind.rawValue)): \(cause)"
    }
}
