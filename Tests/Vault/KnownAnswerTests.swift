import COpenSSL
import Encoding
import Engine
import Lifecycle
import Testing

@testable import Vault

@Suite("Known answers")
struct KnownAnswerTests {
    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 16 (in NIST's
    /// submission).
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

    /// Computed by an independent program from the description in Vault's documentation: what is
    /// stored today must open in every later version.
    @Test("the sealed formats and the derived keys are those of version 1")
    func formats() throws {
        let key = try VaultKey(text: Secret(VaultKeyTests.text), name: "vault-key")
        #expect(key.id == "a768498a5c1cf729")
        let entropy = FakeEntropy([
            Array(0x40..<0x68), Array(0x10..<0x1c), Array(0x20..<0x2c),
        ])
        let vault = SealedVault(keyring: VaultKeyring(active: key), entropy: entropy)
        let wrapped = try vault.makeUserKey(userHash: Sample.userHash)
        #expect(
            wrapped.bytes
                == bytes(
                    """
                    01101112131415161718191a1b9eee7ca36a52933c2f0dd1421477afde9e6c29
                    cd13a3aec1a6242edd169833dbe8b07012ab6e145f9821967c931e20f3e70be4
                    a222e4b07d
                    """
                )
        )
        let sealed = try vault.seal(
            Secret("refresh-token"),
            under: wrapped,
            context: Sample.context()
        )
        #expect(
            sealed
                == bytes(
                    """
                    01202122232425262728292a2be6591c96071b6d0f564ca0647645d0e9352ac3
                    f059b4b9032aa9fdf11d
                    """
                )
        )
    }

    @Test("keyed hashes and the fingerprint are those of version 1")
    func hashes() throws {
        let hasher = try HMACHasher(key: Secret((1...32).map { UInt8($0) }))
        #expect(
            hasher.hash("alice", domain: .user)
                == bytes("7cddb8c960bad2e366a7674ba3d856f8218e70472e157f62494948bfb08a834f")
        )
        #expect(
            hasher.fingerprint
                == bytes("2e1710ccc1ddfdd5d5dcda51d0099dbe55f4532a68768ae2a625cfbaa5f13069")
        )
    }

    @Test("base64 gives the texts of RFC 4648 §10")
    func base64() throws {
        for (plain, text) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.encode(Array(plain.utf8)) == Array(text.utf8))
            let decoded = try #require(KeyText.decode(Array(text.utf8)))
            #expect(decoded.exposeText() == plain)
        }
        for text in [
            "Z", "Zg=", "Zg===", "=", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm-_", "Zm\09v",
        ] {
            #expect(KeyText.decode(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test("random bytes of the kernel have the asked length and differ")
    func entropy() throws {
        let source = KernelEntropy()
        #expect(try source.bytes(0).isEmpty)
        let first = try source.bytes(32)
        #expect(first.count == 32)
        #expect(try source.bytes(32) != first)
        #expect(try source.bytes(256).count == 256)
        #expect(throws: VaultError(kind: .library)) { try source.bytes(257) }
    }
}
