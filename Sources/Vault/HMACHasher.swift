package import Engine
package import Lifecycle

/// ``Engine/KeyedHasher`` under the key of ``FileHashKey``.
package struct HMACHasher: KeyedHasher {
    /// The keyed hash of a fixed label: the state database keeps it, and a start with another key
    /// (a state directory restored without its `hash.key`) is noticed before anything is looked up.
    package let fingerprint: [UInt8]

    private let mac: HMACSHA256

    /// - Parameter key: 32 random bytes.
    /// - Throws: ``Engine/VaultError`` of kind `library` when libcrypto fails.
    package init(key: Secret) throws(VaultError) {
        mac = try HMACSHA256(key: key)
        // No domain holds a space, so no hash of a text can equal the fingerprint.
        fingerprint = try mac.code(for: Array("key fingerprint\0".utf8))
    }

    /// Hashes `text`; the domain's name and a NUL go first, so that no text of one domain is one of
    /// another.
    ///
    /// - Returns: 32 bytes.
    package func hash(_ text: String, domain: HashDomain) -> [UInt8] {
        var message = Array(domain.rawValue.utf8)
        message.append(0)
        message.append(contentsOf: text.utf8)
        defer { message.wipe() }
        do throws(VaultError) {
            return try mac.code(for: message)
        } catch {
            // The key worked in `init`, so memory is gone; the Swift runtime stops then, too.
            preconditionFailure("cannot hash (crypto_library): libcrypto is out of memory")
        }
    }
}
