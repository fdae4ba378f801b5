import Engine
import Glibc
import Lifecycle
import Testing

@testable import Vault

@Suite("Key files")
struct KeyFileTests {
    @Test("hash.key is made once, with mode 0600, and gives the same hashes ever after")
    func madeOnce() throws {
        let directory = try TemporaryDirectory()
        let first = try FileHashKey(directory: directory.path)
        let second = try FileHashKey(directory: directory.path, mayCreate: false)
        #expect(first.isNew)
        #expect(!second.isNew)
        #expect(first.hasher.fingerprint == second.hasher.fingerprint)
        #expect(
            first.hasher.hash("alice", domain: .user) == second.hasher.hash("alice", domain: .user)
        )
        #expect(directory.names() == ["hash.key"])
        #expect(directory.mode(of: "hash.key") == 0o600)
        #expect(try directory.read("hash.key").count == 32)
    }

    @Test("two directories have two keys, and the fingerprint tells them apart")
    func fingerprints() throws {
        let (left, right) = (try TemporaryDirectory(), try TemporaryDirectory())
        let hashers = try [left, right].map { try FileHashKey(directory: $0.path).hasher }
        #expect(hashers[0].fingerprint != hashers[1].fingerprint)
    }

    @Test("a crash after any step of making the key leaves a state that the next start repairs")
    func crashes() throws {
        let afterHalfWrite = try TemporaryDirectory()
        try afterHalfWrite.write(".hash.key.new", [1, 2, 3])
        #expect(try FileHashKey(directory: afterHalfWrite.path).isNew)
        #expect(afterHalfWrite.names() == ["hash.key"])

        let key = [UInt8](repeating: 9, count: 32)
        let afterWrite = try TemporaryDirectory()
        try afterWrite.write(".hash.key.new", key)
        #expect(try FileHashKey(directory: afterWrite.path).isNew)
        #expect(try afterWrite.read("hash.key") != key)

        let afterLink = try TemporaryDirectory()
        try afterLink.write(".hash.key.new", key)
        try #require(
            unsafe link("\(afterLink.path)/.hash.key.new", "\(afterLink.path)/hash.key") == 0
        )
        #expect(try !FileHashKey(directory: afterLink.path).isNew)
        #expect(try afterLink.read("hash.key") == key)
        #expect(afterLink.names() == ["hash.key"])
    }

    @Test("a missing key is not replaced when the database was written with one")
    func missing() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: VaultSetupError.self) {
            try FileHashKey(directory: directory.path, mayCreate: false)
        }
        #expect(directory.names().isEmpty)
    }

    @Test("a wrong mode is refused", arguments: [0o640, 0o604, 0o400, 0o700, 0o4600] as [mode_t])
    func mode(mode: mode_t) throws {
        let directory = try TemporaryDirectory()
        try directory.write("hash.key", [UInt8](repeating: 9, count: 32), mode: mode)
        let error = #expect(throws: VaultSetupError.self) {
            try FileHashKey(directory: directory.path)
        }
        #expect(error?.kind == .unsafeFile)
    }

    @Test("a wrong size is refused", arguments: [0, 31, 33, 64])
    func size(count: Int) throws {
        let directory = try TemporaryDirectory()
        try directory.write("hash.key", [UInt8](repeating: 9, count: count))
        let error = #expect(throws: VaultSetupError.self) {
            try FileHashKey(directory: directory.path)
        }
        #expect(error?.kind == .unsafeFile)
    }

    @Test("a link, a directory or a pipe in the key's place is refused")
    func types() throws {
        let linked = try TemporaryDirectory()
        try linked.write("elsewhere", [UInt8](repeating: 9, count: 32))
        try #require(
            unsafe symlink("\(linked.path)/elsewhere", "\(linked.path)/hash.key") == 0
        )
        #expect(throws: VaultSetupError.self) { try FileHashKey(directory: linked.path) }

        let hardLinked = try TemporaryDirectory()
        try hardLinked.write("elsewhere", [UInt8](repeating: 9, count: 32))
        try #require(
            unsafe link("\(hardLinked.path)/elsewhere", "\(hardLinked.path)/hash.key") == 0
        )
        #expect(throws: VaultSetupError.self) { try FileHashKey(directory: hardLinked.path) }

        let piped = try TemporaryDirectory()
        try #require(unsafe mkfifo("\(piped.path)/hash.key", 0o600) == 0)
        #expect(throws: VaultSetupError.self) { try FileHashKey(directory: piped.path) }
    }

    @Test("a file of another user is refused", .enabled(if: geteuid() == 0, "needs chown(2)"))
    func owner() throws {
        let directory = try TemporaryDirectory()
        try directory.write("hash.key", [UInt8](repeating: 9, count: 32))
        try #require(unsafe chown("\(directory.path)/hash.key", 65_534, 65_534) == 0)
        let error = #expect(throws: VaultSetupError.self) {
            try FileHashKey(directory: directory.path)
        }
        #expect(error?.kind == .unsafeFile)
    }

    @Test("no key is made without entropy")
    func noEntropy() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: VaultSetupError.self) {
            try FileHashKey(directory: directory.path, entropy: FakeEntropy())
        }
        #expect(throws: VaultSetupError.self) {
            try KeyGenerator.makeVaultKey(
                at: "\(directory.path)/vault-key",
                entropy: FakeEntropy()
            )
        }
        #expect(directory.names().isEmpty)
    }

    @Test("equal texts in two domains have different hashes")
    func domains() throws {
        let hasher = try HMACHasher(key: Secret([UInt8](repeating: 1, count: 32)))
        var seen: Set<[UInt8]> = [hasher.fingerprint]
        for domain in HashDomain.allCases { seen.insert(hasher.hash("alice", domain: domain)) }
        #expect(seen.count == HashDomain.allCases.count + 1)
        #expect(seen.allSatisfy { $0.count == 32 })
    }

    @Test("a generated vault key is loadable, mode 0600, and never overwritten")
    func generate() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/vault-key"
        let id = try KeyGenerator.makeVaultKey(at: path)
        let text = try directory.read("vault-key")
        #expect(text.count == 45)
        #expect(directory.mode(of: "vault-key") == 0o600)
        #expect(try VaultKey(text: Secret(text), name: "vault-key").id == id)
        let error = #expect(throws: VaultSetupError.self) {
            try KeyGenerator.makeVaultKey(at: path)
        }
        #expect(error?.kind == .exists)
        #expect(try directory.read("vault-key") == text)
    }

    @Test("a path that cannot be a file is an error", arguments: ["", "/", "/nonexistent/dir/key"])
    func badPath(path: String) {
        #expect(throws: VaultSetupError.self) { try KeyGenerator.makeVaultKey(at: path) }
    }
}

@Suite("Vault key")
struct VaultKeyTests {
    static let text = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="

    @Test(
        "white space and missing padding are tolerated",
        arguments: [
            text, "\(text)\n", "  \(text)\r\n", String(text.dropLast()),
            "\(text.prefix(20))\n\(text.dropFirst(20))\n",
        ]
    )
    func tolerance(variant: String) throws {
        let plain = try VaultKey(text: Secret(Self.text), name: "vault-key")
        #expect(try VaultKey(text: Secret(variant), name: "vault-key").id == plain.id)
    }

    @Test("the id is 16 hexadecimal digits that are not part of the key")
    func id() throws {
        let key = try VaultKey(text: Secret(Self.text), name: "vault-key")
        #expect(key.id.count == 16)
        #expect(key.id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(key.id != "0102030405060708")
        #expect(key.id != (try Sample.vaultKey(2)).id)
    }

    @Test(
        "anything but 32 bytes in base64 is refused without telling what it was",
        arguments: [
            ("", "it is empty"), ("\n", "it is empty"), ("secret", "it is not base64"),
            (String(text.dropLast(4)), "it has 30 bytes"), (text + "AAAA", "it is not base64"),
            (text + text, "it is not base64"), (String(text.dropFirst()), "it is not base64"),
            (text.replacing("A", with: "-"), "it is not base64"),
            (String(repeating: "0f", count: 32), "it has 48 bytes"),
        ]
    )
    func refusal(text: String, cause: String) {
        let error = #expect(throws: VaultSetupError.self) {
            try VaultKey(text: Secret(text), name: "vault-key")
        }
        #expect(error?.kind == .malformed)
        #expect(
            error.map { "\($0)" }
                == """
                cannot load vault key at 'vault-key' (malformed_key): \(cause); it must be 32 \
                random bytes in base64
                """
        )
    }

    @Test("a dump of keys and vault shows no key")
    func dumps() throws {
        let key = try VaultKey(text: Secret(Self.text), name: "vault-key")
        var shown = ""
        dump(key, to: &shown)
        dump(VaultKeyring(active: key), to: &shown)
        dump(SealedVault(keyring: VaultKeyring(active: key)), to: &shown)
        #expect(shown.contains("[redacted]"))
        #expect(!shown.contains("AQIDBAUG"))
        let raw = key.wrapping.withBytes { $0.map(String.init).joined(separator: ", ") }
        #expect(!shown.contains(raw.prefix(20)))
    }
}
