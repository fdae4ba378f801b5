internal import COpenSSL
internal import Cryptography
package import Engine
internal import Glibc

/// AES-256-GCM in the sealed format: version byte, 12-byte nonce, ciphertext, 16-byte tag.
enum SealCipher {
    /// The first byte of everything sealed; another value is another format and does not open.
    static let version: UInt8 = 1
    /// 96 bits, the size for which GCM needs no further hashing (NIST SP 800-38D §5.2.1.1).
    static let nonceByteCount = 12
    static let tagByteCount = 16
    static let keyByteCount = 32
    static let overheadByteCount = 1 + nonceByteCount + tagByteCount

    /// Fetched once: looking an algorithm up costs more than sealing a token with it.
    private static let algorithm = unsafe SharedObject(
        EVP_CIPHER_fetch(nil, "AES-256-GCM", nil),
        release: { unsafe EVP_CIPHER_free($0) }
    )

    /// Seals `plaintext`; `nonce` must never have been used with `key`.
    static func seal(
        _ plaintext: [UInt8],
        key: [UInt8],
        nonce: [UInt8],
        bound: [UInt8]
    ) throws(VaultError) -> [UInt8] {
        guard let length = Int32(exactly: plaintext.count), let context = Context(key, nonce, .seal)
        else { throw failure(.library) }
        guard context.authenticate(bound) else { throw failure(.library) }
        var isSealed = false
        let total = plaintext.count + overheadByteCount
        let sealed = unsafe [UInt8](unsafeUninitializedCapacity: total) { buffer, count in
            unsafe buffer[0] = version
            for index in 0..<nonceByteCount { unsafe buffer[1 + index] = nonce[index] }
            guard let start = buffer.baseAddress else { return }
            let body = unsafe start + 1 + nonceByteCount
            isSealed = unsafe context.finishSealing(plaintext, length, into: body)
            count = isSealed ? total : 0
        }
        guard isSealed else { throw failure(.library) }
        return sealed
    }

    /// Throws `broken` for anything that was not sealed with this key and these bound facts; the
    /// caller wipes the result.
    static func open(_ sealed: [UInt8], key: [UInt8], bound: [UInt8]) throws(VaultError) -> [UInt8]
    {
        guard sealed.count >= overheadByteCount, sealed[0] == version,
            let length = Int32(exactly: sealed.count - overheadByteCount)
        else { throw VaultError(kind: .broken) }
        let nonce = Array(sealed[1...nonceByteCount])
        guard let context = Context(key, nonce, .open), context.authenticate(bound) else {
            throw failure(.library)
        }
        var plaintext = [UInt8](repeating: 0, count: Int(length))
        guard context.finishOpening(sealed, into: &plaintext) else {
            plaintext.wipe()
            throw failure(.broken)
        }
        return plaintext
    }

    /// Empties the thread's error queue, so that no later caller mistakes our error for its own.
    private static func failure(_ kind: VaultError.Kind) -> VaultError {
        ERR_clear_error()
        return VaultError(kind: kind)
    }
}

extension SealCipher {
    private enum Direction: Int32 {
        case open = 0
        case seal = 1
    }

    /// One run of the cipher; freeing it wipes the key schedule.
    @safe
    private struct Context: ~Copyable {
        private let pointer: OpaquePointer

        init?(_ key: [UInt8], _ nonce: [UInt8], _ direction: Direction) {
            guard key.count == keyByteCount, nonce.count == nonceByteCount,
                let algorithm, let pointer = unsafe EVP_CIPHER_CTX_new()
            else { return nil }
            let isReady = unsafe EVP_CipherInit_ex(
                pointer,
                algorithm.pointer,
                nil,
                key,
                nonce,
                direction.rawValue
            )
            guard isReady == 1 else {
                unsafe EVP_CIPHER_CTX_free(pointer)
                return nil
            }
            unsafe self.pointer = pointer
        }

        deinit { unsafe EVP_CIPHER_CTX_free(pointer) }

        func authenticate(_ bound: [UInt8]) -> Bool {
            var written: Int32 = 0
            guard let length = Int32(exactly: bound.count) else { return false }
            return unsafe EVP_CipherUpdate(pointer, nil, &written, bound, length) == 1
        }

        /// Writes ciphertext and tag; `body` has room for both.
        func finishSealing(
            _ plaintext: [UInt8],
            _ length: Int32,
            into body: UnsafeMutablePointer<UInt8>
        ) -> Bool {
            var written: Int32 = 0
            if length > 0 {
                guard unsafe EVP_CipherUpdate(pointer, body, &written, plaintext, length) == 1,
                    written == length
                else { return false }
            }
            let tag = unsafe body + plaintext.count
            return unsafe EVP_CipherFinal_ex(pointer, tag, &written) == 1
                && EVP_CIPHER_CTX_ctrl(
                    pointer,
                    EVP_CTRL_AEAD_GET_TAG,
                    Int32(tagByteCount),
                    tag
                ) == 1
        }

        /// Fills `plaintext`; its content must not be used when the answer is false.
        func finishOpening(_ sealed: [UInt8], into plaintext: inout [UInt8]) -> Bool {
            var written: Int32 = 0
            var tag = Array(sealed.suffix(tagByteCount))
            let length = Int32(plaintext.count)
            return unsafe sealed.withUnsafeBufferPointer { sealed in
                guard let start = sealed.baseAddress else { return false }
                let body = unsafe start + 1 + nonceByteCount
                if length > 0 {
                    guard unsafe EVP_CipherUpdate(pointer, &plaintext, &written, body, length) == 1
                    else { return false }
                }
                guard
                    unsafe EVP_CIPHER_CTX_ctrl(
                        pointer,
                        EVP_CTRL_AEAD_SET_TAG,
                        Int32(tagByteCount),
                        &tag
                    ) == 1
                else { return false }
                var rest = [UInt8](repeating: 0, count: tagByteCount)
                return unsafe EVP_CipherFinal_ex(pointer, &rest, &written) == 1
            }
        }
    }
}

extension [UInt8] {
    /// Overwrites the bytes; a copy that shared this storage is not reached.
    mutating func wipe() {
        unsafe withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}

/// Writes facts so that no two lists of facts give the same bytes: each is preceded by its length.
///
/// Used as additional authenticated data, so that a ciphertext opens in its own place only.
struct BoundText {
    private(set) var bytes: [UInt8]

    /// Starts with the format's version and a purpose that no other use has.
    init(version: UInt8, purpose: StaticString) {
        bytes = [version]
        bytes.reserveCapacity(160)
        append(purpose.description.utf8)
    }

    /// Adds one fact: its length as 32 bits, big end first, and its bytes.
    mutating func append(_ fact: some Collection<UInt8>) {
        let length = UInt32(fact.count)
        for shift in [24, 16, 8, 0] as [UInt32] {
            bytes.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        bytes.append(contentsOf: fact)
    }
}

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
