package import Engine
package import Lifecycle

/// Cases: one user id each, sealed for a few days after the user is erased.
///
/// The key that seals is HMAC-SHA-256 of 32 random bytes of the case under a key derived from the
/// vault key, so that each is used once: neither the row nor the vault key alone opens anything,
/// and whoever destroys the random bytes destroys the key. Nothing is wrapped, so nothing counts
/// towards ``SealedVault/wrapCountMax``.
extension SealedVault {
    private static let caseKeyByteCount = 32

    /// Vault keys whose cases can be opened, or never will be.
    package var caseKeyIDs: [String] { keyIDs + lostKeyIDs.sorted() }

    /// Seals the user of a completed deletion.
    ///
    /// - Throws: `sealed`, or `library` without entropy.
    package func sealCase(_ user: UserID, of request: RequestID) throws(VaultError) -> SealedCase {
        let key = try loadedKeyring().active
        // One call of the kernel for both.
        let random = try entropy.bytes(Self.caseKeyByteCount + SealCipher.nonceByteCount)
        let caseKey = Array(random.prefix(Self.caseKeyByteCount))
        var cipherKey = try key.cases.code(for: caseKey)
        defer { cipherKey.wipe() }
        return SealedCase(
            request: request,
            keyID: key.id,
            caseKey: caseKey,
            sealedUser: try SealCipher.seal(
                Array(user.exposeText().utf8),
                key: cipherKey,
                nonce: Array(random.dropFirst(Self.caseKeyByteCount)),
                bound: Self.bound(to: request, keyID: key.id)
            )
        )
    }

    /// Opens a case.
    ///
    /// - Throws: `sealed`, `unknownKey`, or `broken` when its key is lost for good or any bit of it
    ///   is not what was sealed.
    package func openCase(_ sealed: SealedCase) throws(VaultError) -> UserID {
        guard let key = try loadedKeyring().key(id: sealed.keyID) else {
            throw VaultError(kind: lostKeyIDs.contains(sealed.keyID) ? .broken : .unknownKey)
        }
        var cipherKey = try key.cases.code(for: sealed.caseKey)
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
    /// - Throws: As ``openCase(_:)`` and ``sealCase(_:of:)`` do.
    package func resealCase(_ sealed: SealedCase) throws(VaultError) -> SealedCase {
        try sealCase(try openCase(sealed), of: sealed.request)
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
