import Engine
import Lifecycle
import Testing

@testable import Vault

@Suite("Sealed vault")
struct SealedVaultTests {
    @Test("what was sealed opens in its own place", arguments: [0, 1, 15, 16, 17, 4_096, 70_000])
    func roundTrip(count: Int) throws {
        let sample = try Sample()
        let secret = Secret([UInt8](repeating: 0x61, count: count))
        let sealed = try sample.vault.seal(secret, under: sample.key, context: sample.context)
        let opened = try sample.vault.open(sealed, under: sample.key, context: sample.context)
        #expect(opened.isEqual(to: secret))
        #expect(sealed.count == count + 29)
    }

    @Test("a vault with the same key opens it after a restart")
    func restart() throws {
        let sample = try Sample()
        let other = SealedVault(keyring: VaultKeyring(active: try Sample.vaultKey(1)))
        let opened = try other.open(sample.sealed, under: sample.key, context: sample.context)
        #expect(opened.isEqual(to: Secret(Sample.token)))
    }

    @Test("every flipped bit of a sealed value is rejected")
    func valueBits() throws {
        let sample = try Sample()
        for bit in 0..<(sample.sealed.count * 8) {
            var sealed = sample.sealed
            sealed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: VaultError.broken, "bit \(bit)") {
                try sample.vault.open(sealed, under: sample.key, context: sample.context)
            }
        }
    }

    @Test("every flipped bit of a wrapped key is rejected")
    func keyBits() throws {
        let sample = try Sample()
        for bit in 0..<(sample.key.bytes.count * 8) {
            var bytes = sample.key.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            let key = WrappedKey(bytes: bytes, keyID: sample.key.keyID)
            #expect(throws: VaultError.broken, "bit \(bit)") {
                try sample.vault.open(sample.sealed, under: key, context: sample.context)
            }
            #expect(throws: VaultError.broken, "bit \(bit)") {
                try sample.vault.seal(Secret("x"), under: key, context: sample.context)
            }
        }
    }

    @Test("truncations of every length are rejected, and so is a longer value")
    func lengths() throws {
        let sample = try Sample()
        for count in 0..<sample.sealed.count {
            let cut = Array(sample.sealed.prefix(count))
            #expect(throws: VaultError.broken, "\(count) bytes") {
                try sample.vault.open(cut, under: sample.key, context: sample.context)
            }
        }
        for count in 0..<sample.key.bytes.count {
            let cut = WrappedKey(
                bytes: Array(sample.key.bytes.prefix(count)),
                keyID: sample.key.keyID
            )
            #expect(throws: VaultError.broken, "\(count) bytes") {
                try sample.vault.open(sample.sealed, under: cut, context: sample.context)
            }
        }
        #expect(throws: VaultError.broken) {
            try sample.vault.open(sample.sealed + [0], under: sample.key, context: sample.context)
        }
    }

    @Test(
        "a value in another place is rejected",
        arguments: [
            Sample.context(field: "credentials.subject"),
            Sample.context(field: "credentials.secre", rowNonce: [0x74, 1, 2, 3, 4, 5, 6, 7, 8]),
            Sample.context(field: ""),
            Sample.context(rowNonce: [1, 2, 3, 4, 5, 6, 7, 9]),
            Sample.context(rowNonce: []),
            Sample.context(provider: "google"),
            Sample.context(provider: "appl"),
            Sample.context(userHash: [UInt8](repeating: 0x56, count: 32)),
            Sample.context(userHash: []),
        ]
    )
    func place(context: SealContext) throws {
        let sample = try Sample()
        #expect(throws: VaultError.broken) {
            try sample.vault.open(sample.sealed, under: sample.key, context: context)
        }
    }

    @Test("a value does not open under another key of the same user")
    func otherDataKey() throws {
        let sample = try Sample()
        let other = try sample.vault.makeUserKey(userHash: Sample.userHash)
        #expect(throws: VaultError.broken) {
            try sample.vault.open(sample.sealed, under: other, context: sample.context)
        }
    }

    @Test("a wrapped key is no value and a value is no wrapped key")
    func purposes() throws {
        let sample = try Sample()
        #expect(throws: VaultError.broken) {
            try sample.vault.open(sample.key.bytes, under: sample.key, context: sample.context)
        }
        let key = WrappedKey(bytes: sample.sealed, keyID: sample.key.keyID)
        #expect(throws: VaultError.broken) {
            try sample.vault.open(sample.sealed, under: key, context: sample.context)
        }
    }

    @Test("facts with moved borders are different facts")
    func borders() {
        var left = BoundText(version: 1, purpose: "value")
        left.append("ab".utf8)
        left.append("c".utf8)
        var right = BoundText(version: 1, purpose: "value")
        right.append("a".utf8)
        right.append("bc".utf8)
        #expect(left.bytes != right.bytes)
    }

    @Test("without a key every call is refused as sealed")
    func sealedMode() throws {
        let sample = try Sample()
        let vault = SealedVault(keyring: nil)
        #expect(!vault.isOpen)
        #expect(vault.activeKeyID == nil)
        #expect(throws: VaultError.sealed) { try vault.makeUserKey(userHash: Sample.userHash) }
        #expect(throws: VaultError.sealed) {
            try vault.seal(Secret("x"), under: sample.key, context: sample.context)
        }
        #expect(throws: VaultError.sealed) {
            try vault.open(sample.sealed, under: sample.key, context: sample.context)
        }
        #expect(throws: VaultError.sealed) {
            try vault.rewrap(sample.key, userHash: Sample.userHash)
        }
    }

    @Test("a key id that is not loaded is told apart from a broken value")
    func unknownKey() throws {
        let sample = try Sample()
        let other = SealedVault(keyring: VaultKeyring(active: try Sample.vaultKey(2)))
        #expect(throws: VaultError(kind: .unknownKey)) {
            try other.open(sample.sealed, under: sample.key, context: sample.context)
        }
        let bereft = SealedVault(
            keyring: VaultKeyring(active: try Sample.vaultKey(2)),
            lostKeyIDs: [sample.key.keyID]
        )
        #expect(throws: VaultError.broken) {
            try bereft.open(sample.sealed, under: sample.key, context: sample.context)
        }
        let found = SealedVault(
            keyring: VaultKeyring(active: try Sample.vaultKey(1)),
            lostKeyIDs: [sample.key.keyID]
        )
        let opened = try found.open(sample.sealed, under: sample.key, context: sample.context)
        #expect(opened.exposeText() == Sample.token)
        let renamed = WrappedKey(bytes: sample.key.bytes, keyID: other.activeKeyID ?? "")
        #expect(throws: VaultError.broken) {
            try other.open(sample.sealed, under: renamed, context: sample.context)
        }
    }

    @Test("rewrapping moves a key to the active vault key and leaves its values openable")
    func rewrap() throws {
        let sample = try Sample()
        let keyring = VaultKeyring(
            active: try Sample.vaultKey(2),
            retired: [try Sample.vaultKey(1)]
        )
        let rotated = SealedVault(keyring: keyring)
        let moved = try rotated.rewrap(sample.key, userHash: Sample.userHash)
        #expect(moved.keyID == keyring.active.id)
        #expect(rotated.wrapCount == 1)
        #expect(try rotated.rewrap(moved, userHash: Sample.userHash) == moved)
        #expect(throws: VaultError.broken) { try rotated.rewrap(sample.key, userHash: [1]) }

        let after = SealedVault(keyring: VaultKeyring(active: try Sample.vaultKey(2)))
        let opened = try after.open(sample.sealed, under: moved, context: sample.context)
        #expect(opened.isEqual(to: Secret(Sample.token)))
    }

    @Test("no two nonces are equal over 100,000 seals")
    func nonces() throws {
        let sample = try Sample()
        var seen: Set<[UInt8]> = []
        for _ in 0..<100_000 {
            let sealed = try sample.vault.seal(
                Secret("t"),
                under: sample.key,
                context: sample.context
            )
            seen.insert(Array(sealed[1...12]))
        }
        #expect(seen.count == 100_000)
    }

    @Test("nothing is sealed and no key is made without entropy")
    func noEntropy() throws {
        let sample = try Sample()
        let keyring = VaultKeyring(active: try Sample.vaultKey(1))
        let vault = SealedVault(keyring: keyring, entropy: FakeEntropy())
        #expect(throws: VaultError(kind: .library)) {
            try vault.seal(Secret("x"), under: sample.key, context: sample.context)
        }
        #expect(throws: VaultError(kind: .library)) {
            try vault.makeUserKey(userHash: Sample.userHash)
        }
        let half = FakeEntropy([[UInt8](repeating: 7, count: 40)])
        let vaultWithoutNonce = SealedVault(keyring: keyring, entropy: half)
        #expect(throws: VaultError(kind: .library)) {
            try vaultWithoutNonce.makeUserKey(userHash: Sample.userHash)
        }
        #expect(vaultWithoutNonce.wrapCount == 1)
    }

    @Test("a vault key that has wrapped 2^24 data keys wraps no more but still opens")
    func exhaustion() throws {
        let sample = try Sample()
        let vault = SealedVault(
            keyring: VaultKeyring(active: try Sample.vaultKey(1)),
            wrapsBefore: SealedVault.wrapCountMax - 1
        )
        _ = try vault.makeUserKey(userHash: Sample.userHash)
        #expect(vault.wrapCount == 1 << 24)
        #expect(throws: VaultError(kind: .exhausted)) {
            try vault.makeUserKey(userHash: Sample.userHash)
        }
        _ = try vault.open(sample.sealed, under: sample.key, context: sample.context)
    }

    @Test("many tasks seal and open at once")
    func concurrency() async throws {
        let sample = try Sample()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    let secret = Secret("canary-worker-51d7e3a08b94 \(worker)")
                    for _ in 0..<200 {
                        let sealed = try sample.vault.seal(
                            secret,
                            under: sample.key,
                            context: sample.context
                        )
                        let opened = try sample.vault.open(
                            sealed,
                            under: sample.key,
                            context: sample.context
                        )
                        #expect(opened.isEqual(to: secret))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

extension VaultError {
    static let broken = VaultError(kind: .broken)
    static let sealed = VaultError(kind: .sealed)
}
