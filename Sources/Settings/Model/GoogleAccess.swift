/// How one of Google's interfaces is reached.
package struct GoogleAccess: Hashable, Sendable {
    /// The key file of a service account; `nil` for an emulator.
    package let keyCredential: String?
    /// Without a slash at the end; `nil` means Google's own.
    package let baseURL: String?
    package let connection: ConnectionConfiguration

    /// Whether it is Firebase's emulator, on this machine.
    package var isEmulator: Bool { keyCredential == nil }
}
