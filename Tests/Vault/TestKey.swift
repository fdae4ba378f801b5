import COpenSSL
import Lifecycle
import Testing

/// A key pair made for one test, and libcrypto's own verdict on signatures under it.
@safe
final class TestKey {
    private let key: OpaquePointer

    enum Kind: String {
        case p256 = "P-256"
        case p384 = "P-384"
        case rsa = "2048"
        case weakRSA = "1024"

        var isCurve: Bool { self == .p256 || self == .p384 }
    }

    init(_ kind: Kind) throws {
        let name = kind.isCurve ? "EC" : "RSA"
        let context = unsafe try #require(unsafe EVP_PKEY_CTX_new_from_name(nil, name, nil))
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try #require(unsafe EVP_PKEY_keygen_init(context) == 1)
        if kind.isCurve {
            try #require(unsafe EVP_PKEY_CTX_set_group_name(context, kind.rawValue) == 1)
        } else {
            let count = Int32(kind.rawValue) ?? 0
            try #require(unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, count) == 1)
        }
        var made: OpaquePointer?
        try #require(unsafe EVP_PKEY_generate(context, &made) == 1)
        unsafe key = try #require(unsafe made)
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// PKCS#8 PEM, encrypted when there is a password.
    func privatePEM(password: String? = nil) throws -> String {
        unsafe try text { output in
            guard let password else {
                return unsafe PEM_write_bio_PKCS8PrivateKey(output, key, nil, nil, 0, nil, nil)
            }
            var bytes = Array(password.utf8CString)
            return unsafe PEM_write_bio_PKCS8PrivateKey(
                output,
                key,
                EVP_aes_256_cbc(),
                &bytes,
                Int32(bytes.count - 1),
                nil,
                nil
            )
        }
    }

    func publicPEM() throws -> String {
        unsafe try text { unsafe PEM_write_bio_PUBKEY($0, key) }
    }

    func accepts(
        _ signature: [UInt8],
        for message: [UInt8],
        isJoined: Bool,
        isPSS: Bool = false
    ) throws -> Bool {
        let context = unsafe try #require(unsafe EVP_MD_CTX_new())
        defer { unsafe EVP_MD_CTX_free(context) }
        var parameters: OpaquePointer?
        let ready = unsafe EVP_DigestVerifyInit_ex(
            context,
            &parameters,
            "SHA256",
            nil,
            nil,
            key,
            nil
        )
        try #require(ready == 1)
        if isPSS {
            let padding = unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING)
            let salt = unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, 32)
            try #require(padding == 1 && salt == 1)
        }
        let plain = isJoined ? try Self.derEncoded(signature) : signature
        let verdict = unsafe EVP_DigestVerify(
            context,
            plain,
            plain.count,
            message,
            message.count
        )
        return verdict == 1
    }

    private static func derEncoded(_ joined: [UInt8]) throws -> [UInt8] {
        try #require(joined.count == 64)
        let signature = unsafe try #require(unsafe ECDSA_SIG_new())
        defer { unsafe ECDSA_SIG_free(signature) }
        let (r, s) = (Array(joined.prefix(32)), Array(joined.suffix(32)))
        try #require(
            unsafe ECDSA_SIG_set0(signature, BN_bin2bn(r, 32, nil), BN_bin2bn(s, 32, nil)) == 1
        )
        var bytes = [UInt8](repeating: 0, count: 80)
        let count = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return unsafe i2d_ECDSA_SIG(signature, &next)
        }
        return Array(bytes.prefix(Int(count)))
    }

    private func text(_ write: (OpaquePointer) -> Int32) throws -> String {
        let output = unsafe try #require(unsafe BIO_new(BIO_s_mem()))
        defer { unsafe BIO_free(output) }
        try #require(unsafe write(output) == 1)
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe BIO_read(output, &bytes, Int32(bytes.count))
        return String(decoding: bytes.prefix(Int(count)), as: UTF8.self)
    }
}
