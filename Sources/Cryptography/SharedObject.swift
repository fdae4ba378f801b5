internal import COpenSSL

/// Owns one libcrypto object that many threads use at once.
///
/// `@unchecked Sendable`: only objects that are never changed after `init` are put here (a fetched
/// algorithm, a loaded private key, a keyed MAC context that is only copied from), or that one
/// function makes, uses and drops. Any number of threads may read such (openssl-threads(7)).
@safe
package final class SharedObject: @unchecked Sendable {
    package let pointer: OpaquePointer
    private let release: (OpaquePointer) -> Void

    /// Takes the reference over; `release` gives it back.
    package init?(_ pointer: OpaquePointer?, release: @escaping @Sendable (OpaquePointer) -> Void) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
        unsafe self.release = release
    }

    deinit { unsafe release(pointer) }
}

extension SharedObject {
    package static func digestContext() -> SharedObject? {
        unsafe SharedObject(EVP_MD_CTX_new(), release: { unsafe EVP_MD_CTX_free($0) })
    }

    /// Signs with an EVP_MD_CTX that EVP_DigestSignInit(3) prepared.
    package func digestSign(_ message: [UInt8], byteCountMax: Int) -> [UInt8]? {
        var signature = [UInt8](repeating: 0, count: byteCountMax)
        var count = byteCountMax
        let isSigned = unsafe EVP_DigestSign(pointer, &signature, &count, message, message.count)
        return isSigned == 1 ? Array(signature.prefix(count)) : nil
    }
}
