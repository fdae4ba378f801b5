package import Engine
package import Lifecycle

/// Cases: one user id each, sealed for a few days after the user is erased.
///
/// The key that seals is HMAC-SHA-256 of 32 random bytes of the case under a key derived from the
/// vault key, so that each is used once: neither the row nor the vault key alone opens anything,
/// and whoever destroys the random bytes destroys the key. Nothing is wrapped, so nothing counts
/// towards ``SealedVault/wrapCountMax``.
extension SealedVault {
    private static let recheckKeyByteCount = 32

    /// Vault keys whose cases can be opened, or never will be.
    package var recheckKeyIDs: [String] { keyIDs + lostKeyIDs.sorted() }

    /// Seals the user of a completed deletion.
    ///
    /// - Throws: `sealed`, or `library` without entropy.
    package func sealRecheck(
        _ user: UserID,
        of request: RequestID
    ) throws(VaultError) -> SealedRecheck {
        let key = try loadedKeyring().active
        // One call of the kernel for both.
        let random = try entropy.bytes(Self.recheckKeyByteCount + SealCipher.nonceByteCount)
        let recheckKey = Array(random.prefix(Self.recheckKeyByteCount))
        var cipherKey = try key.cases.code(for: recheckKey)
        defer { cipherKey.wipe() }
        return SealedRecheck(
            request: request,
            keyID: key.id,
            recheckKey: recheckKey,
            sealedUser: try SealCipher.seal(
                Array(user.exposeText().utf8),
                key: cipherKey,
                nonce: Array(random.dropFirst(Self.recheckKeyByteCount)),
                bound: Self.bound(to: request, keyID: key.id)
            )
        )
    }

    /// Opens a case.
    ///
    /// - Throws: `sealed`, `unknownKey`, or `broken` when its key is lost for good or any bit of it
    ///   is not what was sealed.
    package func openRecheck(_ sealed: SealedRecheck) throws(VaultError) -> UserID {
        guard let key = try loadedKeyring().key(id: sealed.keyID) else {
            throw VaultError(kind: lostKeyIDs.contains(sealed.keyID) ? .broken : .unknownKey)
        }
        var cipherKey = try key.cases.code(for: sealed.recheckKey)
        defer { cipherKey.wipe() }
        var text = try SealCipher.open(
            sealed.sealedUser,
            key: cipherKey,
            bound: Self.bound(to: sealed.request, keyID: key.id)
        )
        defer { text.wipe() }
        guard let user = UserID(String(decoding: text, as: UTF8.self)) else {
            throw VaultError(kind: .broken)
        }
        return user
    }

    /// Seals a case anew under the active vault key.
    ///
    /// - Throws: As ``openRecheck(_:)`` and ``sealRecheck(_:of:)`` do.
    package func resealRecheck(_ sealed: SealedRecheck) throws(VaultError) -> SealedRecheck {
        try sealRecheck(try openRecheck(sealed), of: sealed.request)
    }

    private static func bound(to request: RequestID, keyID: String) -> [UInt8] {
        var text = BoundText(version: SealCipher.version, purpose: "case")
        var id: [UInt8] = []
        request.value.appendText(to: &id)
        text.append(id)
        text.append(keyID.utf8)
        return text.bytes
    }
}
