internal import COpenSSL
package import Engine

/// Where keys and nonces come from.
package protocol Entropy: Sendable {
    /// Makes `count` unpredictable bytes.
    ///
    /// - Throws: ``Engine/VaultError`` of kind `library` when there are none; nothing is sealed
    ///   then.
    func bytes(_ count: Int) throws(VaultError) -> [UInt8]
}

/// The random generator of libcrypto, seeded by the kernel and reseeded after a fork (RAND(7)).
package struct LibraryEntropy: Entropy {
    /// Makes a source; it has no state of its own.
    package init() {}

    /// Makes `count` unpredictable bytes.
    ///
    /// - Throws: ``Engine/VaultError`` of kind `library` when the generator cannot be seeded.
    package func bytes(_ count: Int) throws(VaultError) -> [UInt8] {
        guard let length = Int32(exactly: count) else { throw VaultError(kind: .library) }
        var bytes = [UInt8](repeating: 0, count: count)
        // RAND_bytes(3): 1 on success, 0 or -1 otherwise, and then the bytes are not random.
        guard unsafe RAND_priv_bytes(&bytes, length) == 1 else {
            ERR_clear_error()
            throw VaultError(kind: .library)
        }
        return bytes
    }
}
