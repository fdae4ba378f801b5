package import Engine
internal import Glibc

/// Where keys and nonces come from.
package protocol Entropy: Sendable {
    /// Makes `count` unpredictable bytes; throws `library` when there are none.
    func bytes(_ count: Int) throws(VaultError) -> [UInt8]
}

/// The random generator of the kernel, asked anew for every value (getentropy(3)).
///
/// libcrypto's own generators are seeded by the kernel, too, but then run by themselves for up to
/// 65,536 calls or 7 minutes (EVP_RAND(7)): two machines that resume from one snapshot would draw
/// the same nonces meanwhile. Nothing of this generator lives in our memory.
package struct KernelEntropy: Entropy {
    /// What one call of getentropy(3) may ask for.
    private static let byteCountMax = 256

    package init() {}

    /// Throws `library` also for more than 256 bytes.
    package func bytes(_ count: Int) throws(VaultError) -> [UInt8] {
        guard (0...Self.byteCountMax).contains(count) else { throw VaultError(kind: .library) }
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe getentropy(&bytes, count) == 0 else { throw VaultError(kind: .library) }
        return bytes
    }
}
