import Engine
import Lifecycle
import Testing

@testable import Vault

struct FoundKeyTests {
    private static let request = RequestID(TimeOrderedID(high: 1, low: 2))
    private static let name = KeyName(store: StoreName("app-db"), key: "customer")
    private static let texts = ["canary-id-1f0e2d3c", "canary-id-4b5a6978"]

    private static func vault(
        _ active: UInt8,
        retired: UInt8...,
        lost: [String] = []
    ) throws -> SealedVault {
        let retired = try retired.map { try Sample.vaultKey($0) }
        let keyring = VaultKeyring(active: try Sample.vaultKey(active), retired: retired)
        return SealedVault(keyring: keyring, lostKeyIDs: Set(lost))
    }

    private static func sealed(
        by vault: SealedVault,
        _ texts: [String] = texts
    ) throws -> SealedKeys {
        let ids = texts.compactMap { UserID($0) }
        return try vault.sealKeys(FoundKeys(request: request, name: name, ids: ids))
    }

    // No arguments: the log of the tests shows them, and none of the ids may be in it.
    @Test func `found ids open for their request and name, and count as no wrap`() throws {
        let vault = try Self.vault(1)
        for texts in [Self.texts, [], ["one"], ["with blanks ", " ünd"]] {
            let sealed = try Self.sealed(by: vault, texts)
            #expect(try vault.openKeys(sealed).ids.map { $0.exposeText() } == texts)
            #expect(vault.wrapCount == 0)
            #expect(sealed.sealedIDs.firstRange(of: Array("canary".utf8)) == nil)
            let again = try Self.sealed(by: vault, texts)
            #expect(again.ownKey != sealed.ownKey && again.sealedIDs != sealed.sealedIDs)
        }
    }

    @Test(arguments: ["own key", "sealed ids", "request", "store", "name"])
    func `found ids with one bit changed, or in another place, do not open`(_ part: String) throws {
        let vault = try Self.vault(1)
        let whole = try Self.sealed(by: vault)
        var (request, name, key, ids) = (whole.request, whole.name, whole.ownKey, whole.sealedIDs)
        switch part {
        case "own key": key[31] ^= 1
        case "sealed ids": ids[20] ^= 1
        case "store": name = KeyName(store: StoreName("app-d"), key: "bcustomer")
        case "name": name = KeyName(store: name.store, key: "workspace")
        default: request = RequestID(TimeOrderedID(high: 1, low: 3))
        }
        let changed = SealedKeys(
            request: request,
            name: name,
            keyID: whole.keyID,
            ownKey: key,
            sealedIDs: ids
        )
        #expect(throws: VaultError(kind: .broken)) { try vault.openKeys(changed) }
    }

    @Test func `a case's blob is no found id, though both are sealed alike`() throws {
        let vault = try Self.vault(1)
        let user = try #require(UserID("canary-user"))
        let sealed = try vault.sealRecheck(user, of: Self.request)
        let moved = SealedKeys(
            request: Self.request,
            name: Self.name,
            keyID: sealed.keyID,
            ownKey: sealed.recheckKey,
            sealedIDs: sealed.sealedUser
        )
        #expect(throws: VaultError(kind: .broken)) { try vault.openKeys(moved) }
    }

    @Test func `found ids sealed anew need the new vault key alone`() throws {
        let sealed = try Self.sealed(by: try Self.vault(1))
        let fresh = try Self.vault(2, retired: 1).resealKeys(sealed)
        #expect(try Self.vault(2).openKeys(fresh).ids.count == 2)
        #expect(throws: VaultError(kind: .unknownKey)) { try Self.vault(1).openKeys(fresh) }
        let without = try Self.vault(2, lost: [sealed.keyID])
        #expect(throws: VaultError(kind: .broken)) { try without.openKeys(sealed) }
        #expect(throws: VaultError(kind: .sealed)) {
            try SealedVault(keyring: nil).openKeys(sealed)
        }
    }
}
