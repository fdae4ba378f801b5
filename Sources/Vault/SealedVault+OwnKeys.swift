package import Engine
package import Lifecycle

/// User ids that are sealed each under a key of its own: those of rechecks, for some days after the
/// end, and those that a store names and another store knows the user by.
///
/// The key is HMAC-SHA-256 of 32 random bytes of the row under a key derived from the vault key.
/// Neither the row nor the vault key alone opens anything, and whoever destroys the random bytes
/// destroys the key. Nothing is wrapped, so nothing counts towards ``SealedVault/wrapCountMax``.
extension SealedVault {
    /// Vault keys whose recheck records can be opened, or never will be.
    package var recheckKeyIDs: [String] { keyIDs + lostKeyIDs.sorted() }

    /// Seals the user of a completed deletion.
    ///
    /// - Throws: `sealed`, or `library` without entropy.
    package func sealRecheck(
        _ user: UserID,
        of request: RequestID
    ) throws(VaultError) -> SealedRecheck {
        let own = try seal([user]) { Self.bound("case", request, [], $0) }
        return SealedRecheck(
            request: request,
            keyID: own.keyID,
            recheckKey: own.key,
            sealedUser: own.sealed
        )
    }

    /// Opens a recheck record.
    ///
    /// - Throws: `sealed`, `unknownKey`, or `broken` when its key is lost for good or any bit of it
    ///   is not what was sealed.
    package func openRecheck(_ sealed: SealedRecheck) throws(VaultError) -> UserID {
        let users = try open(
            sealed.sealedUser,
            key: sealed.recheckKey,
            keyID: sealed.keyID,
            bound: Self.bound("case", sealed.request, [], sealed.keyID)
        )
        guard let user = users.first, users.count == 1 else { throw VaultError(kind: .broken) }
        return user
    }

    /// Seals a recheck record anew under the active vault key; throws as opening and sealing do.
    package func resealRecheck(_ sealed: SealedRecheck) throws(VaultError) -> SealedRecheck {
        try sealRecheck(try openRecheck(sealed), of: sealed.request)
    }

    /// Seals the ids that were found for a request.
    ///
    /// - Throws: `sealed`, or `library` without entropy.
    package func sealKeys(_ found: FoundKeys) throws(VaultError) -> SealedKeys {
        let own = try seal(found.ids) { Self.bound(found.request, found.name, $0) }
        return SealedKeys(
            request: found.request,
            name: found.name,
            keyID: own.keyID,
            ownKey: own.key,
            sealedIDs: own.sealed
        )
    }

    /// Opens what was sealed for a request; throws as ``openRecheck(_:)`` does.
    package func openKeys(_ sealed: SealedKeys) throws(VaultError) -> FoundKeys {
        let ids = try open(
            sealed.sealedIDs,
            key: sealed.ownKey,
            keyID: sealed.keyID,
            bound: Self.bound(sealed.request, sealed.name, sealed.keyID)
        )
        return FoundKeys(request: sealed.request, name: sealed.name, ids: ids)
    }

    /// Seals ids anew under the active vault key; throws as opening and sealing do.
    package func resealKeys(_ sealed: SealedKeys) throws(VaultError) -> SealedKeys {
        try sealKeys(try openKeys(sealed))
    }
}

extension SealedVault {
    private static let ownKeyByteCount = 32

    private func seal(
        _ ids: [UserID],
        bound: (_ keyID: String) -> [UInt8]
    ) throws(VaultError) -> (keyID: String, key: [UInt8], sealed: [UInt8]) {
        let vaultKey = try loadedKeyring().active
        // One call of the kernel for both.
        let random = try entropy.bytes(Self.ownKeyByteCount + SealCipher.nonceByteCount)
        let key = Array(random.prefix(Self.ownKeyByteCount))
        var cipherKey = try vaultKey.cases.code(for: key)
        defer { cipherKey.wipe() }
        // No id has a control character, so a line feed stands between two of them only.
        var text = Array(ids.map { $0.exposeText() }.joined(separator: "\n").utf8)
        defer { text.wipe() }
        let sealed = try SealCipher.seal(
            text,
            key: cipherKey,
            nonce: Array(random.dropFirst(Self.ownKeyByteCount)),
            bound: bound(vaultKey.id)
        )
        return (vaultKey.id, key, sealed)
    }

    private func open(
        _ sealed: [UInt8],
        key: [UInt8],
        keyID: String,
        bound: [UInt8]
    ) throws(VaultError) -> [UserID] {
        guard let vaultKey = try loadedKeyring().key(id: keyID) else {
            throw VaultError(kind: lostKeyIDs.contains(keyID) ? .broken : .unknownKey)
        }
        var cipherKey = try vaultKey.cases.code(for: key)
        defer { cipherKey.wipe() }
        var text = try SealCipher.open(sealed, key: cipherKey, bound: bound)
        defer { text.wipe() }
        var ids: [UserID] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let id = UserID(String(decoding: line, as: UTF8.self)) else {
                throw VaultError(kind: .broken)
            }
            ids.append(id)
        }
        return ids
    }

    private static func bound(_ request: RequestID, _ name: KeyName, _ keyID: String) -> [UInt8] {
        bound("found keys", request, [name.target.rawValue, name.key], keyID)
    }

    private static func bound(
        _ purpose: StaticString,
        _ request: RequestID,
        _ names: [String],
        _ keyID: String
    ) -> [UInt8] {
        var text = BoundText(version: SealCipher.version, purpose: purpose)
        var id: [UInt8] = []
        request.value.appendText(to: &id)
        text.append(id)
        for name in names { text.append(name.utf8) }
        text.append(keyID.utf8)
        return text.bytes
    }
}
