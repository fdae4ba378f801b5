import Encoding
import Testing

@testable import Cryptography

@Suite("Hashes") struct HashTests {
    @Test("SHA-256 and MD5 of 'abc' are those of FIPS 180-4 and RFC 1321")
    func known() {
        #expect(
            Hexadecimal.text(SHA256.hash(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        let md5 = MD5.hash(Array("abc".utf8)).map { Hexadecimal.text($0) }
        #expect(md5 == "900150983cd24fb0d6963f7d28e17f72")
    }

    @Test("a hash over pieces is that of the whole", arguments: [1, 7, 64, 1000])
    func pieces(size: Int) {
        let whole = (0..<1000).map { UInt8($0 & 255) }
        let running = RunningSHA256()
        for start in stride(from: 0, to: whole.count, by: size) {
            running.add(Array(whole[start..<min(start + size, whole.count)]))
        }
        #expect(running.finish() == SHA256.hash(whole))
    }

    @Test("keyed hashes are those of RFC 4231 §4.3 and RFC 2202 §3, test 2")
    func keyed() {
        let (key, message) = (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        let code = KeyedHash.sha256(key: key, message: message)
        #expect(
            Hexadecimal.text(code)
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        #expect(
            Hexadecimal.text(KeyedHash.sha1(key: key, message: message))
                == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        )
        #expect(KeyedHash.isValid(code, key: key, message: message))
        let changed = [code[0] ^ 1] + code.dropFirst()
        for wrong in [changed, Array(code.dropLast()), code + [0], []] {
            #expect(!KeyedHash.isValid(wrong, key: key, message: message))
        }
    }
}

/// The key and the signature of RFC 7515, appendix A.3.
@Suite("Keys that verify ES256") struct P256Tests {
    private static let x = bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
    private static let y = bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    private static let message = Array(
        ("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
            + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ").utf8
    )
    private static let signature = bytes(
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    )

    private static func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text.utf8) ?? [] }

    @Test("take the one signature, and no other form of it")
    func signature() throws {
        let key = try #require(VerifyingKey(p256: Self.x, Self.y))
        let (good, message) = (Self.signature, Self.message)
        #expect(key.isValid(good, of: message))
        #expect(!key.isValid(good, of: message.dropLast() + [0]))
        let der = try #require(ECDSASignature.der(fromJOSE: good))
        let (r, s) = (good[..<32], good[32...])
        let wrong: [[UInt8]] = [
            [good[0] ^ 1] + good.dropFirst(), good.dropLast() + [(good.last ?? 0) ^ 1],
            Array(s) + Array(r), Array(good.dropLast()), good + [0], [], der,
            [UInt8](repeating: 0, count: 64),
        ]
        for signature in wrong { #expect(!key.isValid(signature, of: message)) }
    }

    @Test("are points of the curve, 32 bytes each")
    func point() {
        let zeros = [UInt8](repeating: 0, count: 32)
        let other = Array(Self.y.dropLast()) + [(Self.y.last ?? 0) ^ 1]
        #expect(VerifyingKey(p256: Self.x, other) == nil)
        #expect(VerifyingKey(p256: zeros, zeros) == nil)
        #expect(VerifyingKey(p256: Array(Self.x.dropLast()), Self.y) == nil)
        #expect(VerifyingKey(p256: Self.x, Self.y + [0]) == nil)
    }

    @Test("the form of JWTs becomes DER and is itself again", arguments: [1, 0x7f, 0x80, 0xff])
    func forms(byte: UInt8) {
        let short = [UInt8](repeating: 0, count: 31) + [byte]
        let long = [byte] + [UInt8](repeating: 0, count: 31)
        for signature in [short + long, long + short] {
            let der = ECDSASignature.der(fromJOSE: signature)
            #expect(der.flatMap { ECDSASignature.jose(fromDER: $0) } == signature)
        }
    }
}
