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

/// Base64 (RFC 4648 §4) of a key as people keep it: white space anywhere, padding optional.
enum KeyText {
    /// Decodes; every copy on the way is wiped.
    ///
    /// - Returns: `nil` for other characters, misplaced padding or unused bits that are not zero.
    static func decode(_ text: [UInt8]) -> Secret? {
        var digits: [UInt8] = []
        digits.reserveCapacity(text.count + 3)
        defer { digits.wipe() }
        for byte in text where ![0x20, 0x09, 0x0a, 0x0d].contains(byte) { digits.append(byte) }
        if digits.last != UInt8(ascii: "=") {
            while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
        }
        guard var bytes = Base64.decode(digits) else { return nil }
        defer { bytes.wipe() }
        return Secret(bytes)
    }
}

/// The vault keys that are loaded: one that wraps, and retired ones that only unwrap.
package struct VaultKeyring: Sendable {
    package let active: VaultKey
    private let keys: [String: VaultKey]

    /// Retired keys are kept until everything they wrapped is wrapped anew.
    package init(active: VaultKey, retired: [VaultKey] = []) {
        self.active = active
        keys = Dictionary((retired + [active]).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    }

    package var ids: [String] { keys.keys.sorted() }

    package func key(id: String) -> VaultKey? { keys[id] }
}
