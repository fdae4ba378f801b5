import Engine
import Lifecycle
import Testing

@testable import Vault

struct CaseTests {
    private static let request = RequestID(TimeOrderedID(high: 1, low: 2))

    private static func vault(
        _ active: UInt8,
        retired: UInt8...,
        lost: [String] = []
    ) throws
        -> SealedVault
    {
        let retired = try retired.map { try Sample.vaultKey($0) }
        let keyring = VaultKeyring(active: try Sample.vaultKey(active), retired: retired)
        return SealedVault(keyring: keyring, lostKeyIDs: Set(lost))
    }

    private static func sealed(by vault: SealedVault) throws -> SealedRecheck {
        try vault.sealRecheck(try #require(UserID("canary-user-1f0e2d3c")), of: request)
    }

    @Test func `a case opens for its own request, and counts as no wrap`() throws {
        let vault = try Self.vault(1)
        let sealed = try Self.sealed(by: vault)
        #expect(try vault.openRecheck(sealed).exposeText() == "canary-user-1f0e2d3c")
        #expect(vault.wrapCount == 0)
        #expect(sealed.sealedUser.firstRange(of: Array("canary".utf8)) == nil)
        let again = try Self.sealed(by: vault)
        #expect(again.recheckKey != sealed.recheckKey && again.sealedUser != sealed.sealedUser)
    }

    @Test(arguments: ["case key", "sealed user", "request"])
    func `a case with one bit changed does not open`(_ part: String) throws {
        let vault = try Self.vault(1)
        let whole = try Self.sealed(by: vault)
        var (request, recheckKey, user) = (whole.request, whole.recheckKey, whole.sealedUser)
        switch part {
        case "case key": recheckKey[31] ^= 1
        case "sealed user": user[20] ^= 1
        default: request = RequestID(TimeOrderedID(high: 1, low: 3))
        }
        let changed = SealedRecheck(
            request: request,
            keyID: whole.keyID,
            recheckKey: recheckKey,
            sealedUser: user
        )
        #expect(throws: VaultError(kind: .broken)) { try vault.openRecheck(changed) }
    }

    @Test func `a case sealed anew needs the new vault key alone`() throws {
        let sealed = try Self.sealed(by: try Self.vault(1))
        let fresh = try Self.vault(2, retired: 1).resealRecheck(sealed)
        #expect(try Self.vault(2).openRecheck(fresh).exposeText() == "canary-user-1f0e2d3c")
        #expect(throws: VaultError(kind: .unknownKey)) { try Self.vault(1).openRecheck(fresh) }
    }

    @Test func `without its vault key a case waits, and is broken only when the key is lost`()
        throws
    {
        let sealed = try Self.sealed(by: try Self.vault(1))
        #expect(throws: VaultError(kind: .unknownKey)) { try Self.vault(2).openRecheck(sealed) }
        let without = try Self.vault(2, lost: [sealed.keyID])
        #expect(throws: VaultError(kind: .broken)) { try without.openRecheck(sealed) }
        #expect(without.recheckKeyIDs.contains(sealed.keyID))
        let none = SealedVault(keyring: nil)
        #expect(throws: VaultError(kind: .sealed)) { try none.openRecheck(sealed) }
        #expect(throws: VaultError(kind: .sealed)) { try Self.sealed(by: none) }
    }
}
