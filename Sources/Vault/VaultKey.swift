import Encoding
internal import Engine
package import Lifecycle

/// The key that wraps every user's data key: 32 random bytes, base64 in a systemd credential.
package struct VaultKey: Sendable {
    package static let byteCount = 32
    private static let action = "load vault key"

    /// 16 hexadecimal digits derived from the key, to be stored beside what it wrapped; not secret.
    package let id: String
    /// Derived from the key for wrapping alone, so that no other use shares a key with it.
    let wrapping: Secret
    /// Makes the keys of cases out of their random bytes.
    let cases: HMACSHA256

    /// Reads a credential; white space anywhere and a missing `=` at the end are allowed.
    ///
    /// - Throws: ``VaultSetupError`` unless it is base64 (RFC 4648 §4) of exactly 32 bytes.
    package init(text: Secret, name: String) throws(VaultSetupError) {
        func malformed(_ cause: String) -> VaultSetupError {
            let rule = "; it must be \(Self.byteCount) random bytes in base64"
            return VaultSetupError(.malformed, Self.action, at: name, cause + rule)
        }
        guard let key = text.withBytes({ KeyText.decode($0) }) else {
            throw malformed("it is not base64")
        }
        guard key.count == Self.byteCount else {
            throw malformed(key.count == 0 ? "it is empty" : "it has \(key.count) bytes")
        }
        try self.init(key: key, name: name)
    }

    private init(key: Secret, name: String) throws(VaultSetupError) {
        do throws(VaultError) {
            var digest = try HMACSHA256.derive(from: key, purpose: "expunged vault key id")
            id = Hexadecimal.text(digest.prefix(8))
            digest.wipe()
            var derived = try HMACSHA256.derive(from: key, purpose: "expunged vault key wrapping")
            wrapping = Secret(derived)
            derived.wipe()
            var forRechecks = try HMACSHA256.derive(from: key, purpose: "expunged vault key cases")
            cases = try HMACSHA256(key: Secret(forRechecks))
            forRechecks.wipe()
        } catch {
            let cause = "libcrypto cannot derive keys (HMAC-SHA-256)"
            throw VaultSetupError(.library, Self.action, at: name, cause)
        }
    }
}
