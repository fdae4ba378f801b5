package import Engine
internal import Lifecycle

/// Ids that one store names and another knows the user by, sealed like the user id of a case: the
/// key is used once, and whoever destroys the random bytes beside the row destroys it.
extension SealedVault {
    /// Seals the ids that were found for a request.
    ///
    /// - Throws: `sealed`, or `library` without entropy.
    package func sealKeys(_ found: FoundKeys) throws(VaultError) -> SealedKeys {
        let key = try loadedKeyring().active
        let random = try entropy.bytes(Self.ownKeyByteCount + SealCipher.nonceByteCount)
        let ownKey = Array(random.prefix(Self.ownKeyByteCount))
        var cipherKey = try key.cases.code(for: ownKey)
        defer { cipherKey.wipe() }
        // No id has a control character, so a line feed stands between two of them only.
        var text = Array(found.ids.map { $0.exposeText() }.joined(separator: "\n").utf8)
        defer { text.wipe() }
        return SealedKeys(
            request: found.request,
            name: found.name,
            keyID: key.id,
            ownKey: ownKey,
            sealedIDs: try SealCipher.seal(
                text,
                key: cipherKey,
                nonce: Array(random.dropFirst(Self.ownKeyByteCount)),
                bound: Self.bound(to: found.request, found.name, keyID: key.id)
            )
        )
    }

    /// Opens what was sealed for a request.
    ///
    /// - Throws: `sealed`, `unknownKey`, or `broken` when its key is lost for good or any bit of it
    ///   is not what was sealed.
    package func openKeys(_ sealed: SealedKeys) throws(VaultError) -> FoundKeys {
        guard let key = try loadedKeyring().key(id: sealed.keyID) else {
            throw VaultError(kind: lostKeyIDs.contains(sealed.keyID) ? .broken : .unknownKey)
        }
        var cipherKey = try key.cases.code(for: sealed.ownKey)
        defer { cipherKey.wipe() }
        var text = try SealCipher.open(
            sealed.sealedIDs,
            key: cipherKey,
            bound: Self.bound(to: sealed.request, sealed.name, keyID: key.id)
        )
        defer { text.wipe() }
        var ids: [UserID] = []
        for line in text.split(separator: 0x0a) {
            guard let id = UserID(String(decoding: line, as: UTF8.self)) else {
                throw VaultError(kind: .broken)
            }
            ids.append(id)
        }
        return FoundKeys(request: sealed.request, name: sealed.name, ids: ids)
    }

    /// Seals ids anew under the active vault key.
    ///
    /// - Throws: As ``openKeys(_:)`` and ``sealKeys(_:)`` do.
    package func resealKeys(_ sealed: SealedKeys) throws(VaultError) -> SealedKeys {
        try sealKeys(try openKeys(sealed))
    }

    private static let ownKeyByteCount = 32

    private static func bound(
        to request: RequestID,
        _ name: KeyName,
        keyID: String
    ) -> [UInt8] {
        var text = BoundText(version: SealCipher.version, purpose: "found keys")
        var id: [UInt8] = []
        request.value.appendText(to: &id)
        text.append(id)
        text.append(name.target.rawValue.utf8)
        text.append(name.key.utf8)
        text.append(keyID.utf8)
        return text.bytes
    }
}
