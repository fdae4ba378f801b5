import Engine
import Lifecycle
import Testing

@testable import Vault

@Suite("Signing key")
struct SigningKeyTests {
    @Test("ES256 gives 64 bytes that libcrypto verifies, also for short coordinates")
    func es256() throws {
        let pair = try TestKey(.p256)
        let signer = try SigningKey(
            pem: Secret(pair.privatePEM()),
            credential: "apple-key.p8",
            algorithm: .es256
        )
        #expect(signer.algorithm.rawValue == "ES256")
        // One in 128 has a leading zero byte in r or s: 2,000 hold some with all but certainty.
        for index in 0..<2_000 {
            let message = Array("header.payload \(index)".utf8)
            let signature = try signer.sign(message)
            #expect(signature.count == 64)
            #expect(try pair.accepts(signature, for: message, isJoined: true))
        }
        let signature = try signer.sign([1])
        #expect(try !pair.accepts(signature, for: [2], isJoined: true))
    }

    @Test("RS256 gives a signature that libcrypto verifies")
    func rs256() throws {
        let pair = try TestKey(.rsa)
        let signer = try SigningKey(
            pem: Secret(pair.privatePEM()),
            credential: "key",
            algorithm: .rs256
        )
        let signature = try signer.sign([1, 2, 3])
        #expect(signature.count == 256)
        #expect(try pair.accepts(signature, for: [1, 2, 3], isJoined: false))
        #expect(try !pair.accepts(signature, for: [1, 2, 4], isJoined: false))
    }

    @Test("PS256 gives a salted signature that libcrypto verifies, and never one of RS256")
    func ps256() throws {
        let pair = try TestKey(.rsa)
        let pem = Secret(try pair.privatePEM())
        let signer = try SigningKey(pem: pem, credential: "key", algorithm: .ps256)
        let signature = try signer.sign([1, 2, 3])
        #expect(signature.count == 256)
        #expect(try signer.sign([1, 2, 3]) != signature)
        #expect(try pair.accepts(signature, for: [1, 2, 3], isJoined: false, isPSS: true))
        #expect(try !pair.accepts(signature, for: [1, 2, 4], isJoined: false, isPSS: true))
        #expect(try !pair.accepts(signature, for: [1, 2, 3], isJoined: false))
    }

    @Test("HS256 gives the code of RFC 4231, case 2, and no private key is one for it")
    func hs256() throws {
        let signer = try HMACSigner(key: Secret("Jefe"))
        let code = try signer.sign(Array("what do ya want for nothing?".utf8))
        #expect(code.prefix(4) == [0x5b, 0xdc, 0xc1, 0x46])
        #expect(code.suffix(4) == [0x64, 0xec, 0x38, 0x43])
        #expect(signer.algorithm.rawValue == "HS256")
    }

    @Test("a key loads from a file URI")
    func uri() throws {
        let directory = try TemporaryDirectory()
        let pair = try TestKey(.p256)
        try directory.write("key.p8", Array(pair.privatePEM().utf8))
        let signer = try SigningKey(uri: "file:\(directory.path)/key.p8", algorithm: .es256)
        #expect(try pair.accepts(signer.sign([7]), for: [7], isJoined: true))
    }

    @Test("a credential may hold the URI of a key in the place of the key")
    func uriInCredential() throws {
        let directory = try TemporaryDirectory()
        let pair = try TestKey(.p256)
        try directory.write("key.p8", Array(pair.privatePEM().utf8))
        for end in ["", "\n", "\r\n"] {
            let signer = try SigningKey(
                pem: Secret("file:\(directory.path)/key.p8\(end)"),
                credential: "key",
                algorithm: .es256
            )
            #expect(try pair.accepts(signer.sign([7]), for: [7], isJoined: true))
        }
        let error = #expect(throws: VaultSetupError.self) {
            try SigningKey(
                pem: Secret("pkcs11:token=x?pin-value=1234"),
                credential: "key",
                algorithm: .es256
            )
        }
        // A PIN is secret, and so is where the key is: the credential's name says enough.
        #expect(error.map { "\($0)".contains("pkcs11") || "\($0)".contains("1234") } == false)
    }

    @Test("a URI that leads nowhere is an error that leaves out the query")
    func badURI() {
        let uris = ["file:/nonexistent/key.p8", "pkcs11:token=x?pin-value=1234", "nonsense:", ""]
        for uri in uris {
            let error = #expect(throws: VaultSetupError.self) {
                try SigningKey(uri: uri, algorithm: .es256)
            }
            #expect(error?.kind == .malformed)
            #expect(error.map { "\($0)".contains("1234") } == false)
        }
    }

    @Test("many tasks sign with one key at once")
    func concurrency() async throws {
        let pair = try TestKey(.p256)
        let signer = try SigningKey(
            pem: Secret(pair.privatePEM()),
            credential: "key",
            algorithm: .es256
        )
        let signatures = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
            for worker in 0..<8 as Range<UInt8> {
                group.addTask { try (0..<100).map { _ in try signer.sign([worker]) } }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(signatures).count == 800)
        for signature in signatures {
            let accepted = try (0..<8 as Range<UInt8>).filter {
                try pair.accepts(signature, for: [$0], isJoined: true)
            }
            #expect(accepted.count == 1)
        }
    }

    @Test("loading many keys in a row works", arguments: [SigningAlgorithm.es256])
    func manyLoads(algorithm: SigningAlgorithm) throws {
        let pem = Secret(try TestKey(.p256).privatePEM())
        for _ in 0..<200 {
            let signer = try SigningKey(pem: pem, credential: "key", algorithm: algorithm)
            #expect(try signer.sign([]).count == 64)
        }
    }

    @Test("a key of another type, curve or size is refused")
    func wrongType() throws {
        for (kind, algorithm) in [
            (.p384, .es256), (.rsa, .es256), (.p256, .rs256), (.weakRSA, .rs256),
            (.p256, .ps256), (.rsa, .hs256),
        ] as [(TestKey.Kind, SigningAlgorithm)] {
            let pem = Secret(try TestKey(kind).privatePEM())
            let error = #expect(throws: VaultSetupError.self) {
                try SigningKey(pem: pem, credential: "apple-key.p8", algorithm: algorithm)
            }
            #expect(error?.kind == .wrongType)
        }
    }

    @Test("a bad PEM names the credential and what is expected, and shows none of its bytes")
    func badPEM() throws {
        let pem = try TestKey(.p256).privatePEM()
        let lines = pem.split(separator: "\n")
        let bad = [
            "", "garbage", String(pem.dropFirst(40)), String(pem.prefix(pem.count / 2)),
            try TestKey(.p256).publicPEM(),
            try TestKey(.p256).privatePEM(password: "hunter22"), pem + pem,
            String(repeating: "A", count: 100_000), "\0\0\0",
        ]
        for text in bad {
            let error = #expect(throws: VaultSetupError.self, "\(bad.firstIndex(of: text) ?? -1)") {
                try SigningKey(
                    pem: Secret(text),
                    credential: "apple-key.p8",
                    algorithm: .es256
                )
            }
            let shown = error.map { "\($0)" } ?? ""
            #expect(
                shown.hasPrefix(
                    "cannot load signing key at 'apple-key.p8' (malformed_key): expected"
                )
            )
            #expect(shown.contains("P-256"))
            for line in lines.dropFirst().dropLast() {
                #expect(!shown.contains(line.prefix(12)))
            }
        }
    }

    @Test("a dump of a signer shows no key")
    func dumps() throws {
        let pem = try TestKey(.p256).privatePEM()
        let signer = try SigningKey(pem: Secret(pem), credential: "key", algorithm: .es256)
        var shown = ""
        dump(signer, to: &shown)
        for line in pem.split(separator: "\n").dropFirst().dropLast() {
            #expect(!shown.contains(line.prefix(12)))
        }
    }
}
