internal import COpenSSL

/// A public key that verifies signatures: RSA (RS256), P-256 (ES256) or Ed25519.
package struct VerifyingKey: Sendable {
    /// Bits of an RSA modulus: RFC 7518 §3.3 asks for 2048 or more.
    private static let modulusBits = 2_048...8_192
    /// Bits of an RSA exponent: from 3 to what BoringSSL takes; vendors use 65537.
    private static let exponentBits = 2...33

    private let key: SharedObject
    /// Ed25519 hashes by itself (RFC 8032 §5.1).
    private let isHashed: Bool
    private let isP256: Bool

    /// An RSA key of odd numbers, the big end first; `nil` for one of another length.
    package init?(modulus: [UInt8], exponent: [UInt8]) {
        guard Self.isOdd(modulus, Self.modulusBits), Self.isOdd(exponent, Self.exponentBits) else {
            return nil
        }
        var (n, e) = (Self.native(modulus), Self.native(exponent))
        let made: SharedObject? = unsafe n.withUnsafeMutableBufferPointer { n in
            unsafe e.withUnsafeMutableBufferPointer { e in
                unsafe Self.make(
                    "RSA",
                    [
                        OSSL_PARAM_construct_BN(ossl_rsa_modulus, n.baseAddress, n.count),
                        OSSL_PARAM_construct_BN(ossl_rsa_exponent, e.baseAddress, e.count),
                    ]
                )
            }
        }
        guard let made else { return nil }
        (key, isHashed, isP256) = (made, true, false)
    }

    /// A point of P-256, 32 bytes each (RFC 7518 §6.2.1.2); `nil` for one that is not on the curve.
    package init?(p256 x: [UInt8], _ y: [UInt8]) {
        guard x.count == 32, y.count == 32 else { return nil }
        var point = [4] + x + y
        var group = Array("P-256".utf8CString)
        let made: SharedObject? = unsafe point.withUnsafeMutableBufferPointer { point in
            unsafe group.withUnsafeMutableBufferPointer { group in
                unsafe Self.make(
                    "EC",
                    [
                        OSSL_PARAM_construct_utf8_string(ossl_group_name, group.baseAddress, 0),
                        OSSL_PARAM_construct_octet_string(
                            ossl_public_key,
                            point.baseAddress,
                            point.count
                        ),
                    ]
                )
            }
        }
        guard let made else { return nil }
        (key, isHashed, isP256) = (made, true, true)
    }

    /// 32 bytes (RFC 8032 §5.1.5); `nil` for another length.
    package init?(ed25519 bytes: [UInt8]) {
        let made = unsafe SharedObject(
            EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count),
            release: { unsafe EVP_PKEY_free($0) }
        )
        guard let made else {
            ERR_clear_error()
            return nil
        }
        (key, isHashed, isP256) = (made, false, false)
    }

    /// Whether this is the key's signature over a message: PKCS #1 v1.5 for RSA, r and s of 32
    /// bytes each for P-256 (RFC 7518 §3.4).
    package func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let digest = unsafe isHashed ? EVP_sha256() : nil
        guard let encoded = isP256 ? ECDSASignature.der(fromJOSE: signature) : signature,
            let context = SharedObject.digestContext(),
            unsafe EVP_DigestVerifyInit(context.pointer, nil, digest, nil, key.pointer) == 1,
            unsafe EVP_DigestVerify(
                context.pointer,
                encoded,
                encoded.count,
                message,
                message.count
            ) == 1
        else {
            ERR_clear_error()
            return false
        }
        return true
    }

    private static func isOdd(_ number: [UInt8], _ bits: ClosedRange<Int>) -> Bool {
        let digits = number.drop { $0 == 0 }
        guard let first = digits.first, let last = digits.last else { return false }
        return last % 2 == 1 && bits.contains(digits.count * 8 - first.leadingZeroBitCount)
    }

    /// OSSL_PARAM(3): unsigned integers are in the byte order of the machine.
    private static func native(_ number: [UInt8]) -> [UInt8] {
        1.littleEndian == 1 ? number.reversed() : number
    }

    /// EVP_PKEY_fromdata(3).
    private static func make(_ type: String, _ parameters: [OSSL_PARAM]) -> SharedObject? {
        var parameters = unsafe parameters + [OSSL_PARAM_construct_end()]
        var made: OpaquePointer?
        guard
            let context = unsafe SharedObject(
                EVP_PKEY_CTX_new_from_name(nil, type, nil),
                release: { unsafe EVP_PKEY_CTX_free($0) }
            ),
            unsafe EVP_PKEY_fromdata_init(context.pointer) == 1,
            unsafe EVP_PKEY_fromdata(context.pointer, &made, evp_pkey_public_key, &parameters) == 1
        else {
            ERR_clear_error()
            return nil
        }
        return unsafe SharedObject(made, release: { unsafe EVP_PKEY_free($0) })
    }
}

/// Turns ECDSA signatures from the form of JWTs (r‖s, RFC 7518 §3.4) into libcrypto's DER and back.
package enum ECDSASignature {
    /// DER of a 64-byte r‖s; `nil` for another length, as DER itself would have.
    package static func der(fromJOSE signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64 else { return nil }
        let numbers = integer(signature[..<32]) + integer(signature[32...])
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// r‖s of a DER signature as libcrypto writes it.
    package static func jose(fromDER signature: [UInt8]) -> [UInt8]? {
        var rest = signature.dropFirst(2)
        var numbers: [UInt8] = []
        for _ in 0..<2 {
            guard rest.count > 2, rest.removeFirst() == 0x02 else { return nil }
            let length = Int(rest.removeFirst())
            guard rest.count >= length else { return nil }
            let number = rest.prefix(length).drop { $0 == 0 }
            guard number.count <= 32 else { return nil }
            numbers += [UInt8](repeating: 0, count: 32 - number.count) + number
            rest = rest.dropFirst(length)
        }
        return numbers
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var number = Array(bytes.drop { $0 == 0 })
        if number.first.map({ $0 >= 0x80 }) ?? true {
            number.insert(0, at: 0)
        }
        return [0x02, UInt8(number.count)] + number
    }
}
