import COpenSSL
import Engine
import Lifecycle
import Testing

@testable import Vault

@Suite("Known answers")
struct KnownAnswerTests {
    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 16 (in NIST's submission).
    @Test("AES-256-GCM gives the published ciphertext and tag")
    func galoisCounterMode() throws {
        let key = bytes("feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308")
        let nonce = bytes("cafebabefacedbaddecaf888")
        let plaintext = bytes(
            """
            d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72
            1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b39
            """
        )
        let bound = bytes("feedfacedeadbeeffeedfacedeadbeef abaddad2")
        let ciphertext = bytes(
            """
            522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa
            8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662
            """
        )
        let tag = bytes("76fc6ece0f4e1768cddf8853bb2d551b")
        let sealed = try SealCipher.seal(plaintext, key: key, nonce: nonce, bound: bound)
        #expect(sealed == [1] + nonce + ciphertext + tag)
        #expect(try SealCipher.open(sealed, key: key, bound: bound) == plaintext)
    }

    /// RFC 4231 §4.2, §4.3 and §4.7.
    @Test(
        "HMAC-SHA-256 gives the codes of RFC 4231",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
    )
    func keyedHash(key: [UInt8], message: String, code: String) throws {
        let mac = try HMACSHA256(key: Secret(key))
        #expect(try mac.code(for: Array(message.utf8)) == bytes(code))
        #expect(try mac.code(for: Array(message.utf8)) == bytes(code))
    }

    @Test("base64 gives the texts of RFC 4648 §10")
    func base64() throws {
        for (plain, text) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.encode(Array(plain.utf8)) == Array(text.utf8))
            let decoded = try #require(Base64.decode(Array(text.utf8)))
            #expect(decoded.exposeText() == plain)
        }
        for text in [
            "Z", "Zg=", "Zg===", "=", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm-_", "Zm\09v",
        ] {
            #expect(Base64.decode(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test("random bytes of libcrypto have the asked length and differ")
    func entropy() throws {
        let source = LibraryEntropy()
        #expect(try source.bytes(0).isEmpty)
        let first = try source.bytes(32)
        #expect(first.count == 32)
        #expect(try source.bytes(32) != first)
    }
}
