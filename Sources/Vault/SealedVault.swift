package import Engine
package import Lifecycle
internal import Synchronization

/// Seals credentials in two layers: a vault key wraps one data key per user, which seals the user's
/// values.
///
/// Destroying a wrapped data key makes all values of its user unopenable, also in old backups of
/// them. Without a keyring the vault is sealed: every call fails with `sealed` until a restart with
/// the key. A data key has a random id of its own inside the wrapping; values are bound to that id,
/// so they still open after ``rewrap(_:userHash:)``.
package final class SealedVault: CredentialVault {
    /// How many data keys one vault key may wrap: with random 96-bit nonces the chance that two are
    /// equal stays below 2^-48, far under the 2^-32 that NIST SP 800-38D §8.3 asks for.
    package static let wrapCountMax: UInt64 = 1 << 24

    private static let dataKeyIDByteCount = 8

    private let keyring: VaultKeyring?
    let lostKeyIDs: Set<String>
    let entropy: any Entropy
    private let wraps: Mutex<UInt64>

    /// Without a keyring the vault is sealed.
    ///
    /// `wrapsBefore` is how many data keys the active vault key has wrapped so far. The caller
    /// keeps this number beside the key's id, and adds one in the transaction that stores a wrapped
    /// key. What was sealed under one of `lostKeyIDs` is broken instead of waiting for its key.
    package init(
        keyring: VaultKeyring?,
        wrapsBefore: UInt64 = 0,
        lostKeyIDs: Set<String> = [],
        entropy: any Entropy = KernelEntropy()
    ) {
        (self.keyring, self.lostKeyIDs, self.entropy) = (keyring, lostKeyIDs, entropy)
        wraps = Mutex(wrapsBefore)
    }

    package var isOpen: Bool { keyring != nil }

    package var activeKeyID: String? { keyring?.active.id }

    package var keyIDs: [String] { keyring?.ids ?? [] }

    /// `wrapsBefore` included.
    package var wrapCount: UInt64 { wraps.withLock { $0 } }

    /// Makes a random data key for a user.
    ///
    /// - Throws: `sealed`, `exhausted` after ``wrapCountMax`` wraps, or `library` without entropy.
    package func makeUserKey(userHash: [UInt8]) throws(VaultError) -> WrappedKey {
        let keyring = try loadedKeyring()
        var dataKey = try entropy.bytes(Self.dataKeyIDByteCount + SealCipher.keyByteCount)
        defer { dataKey.wipe() }
        return try wrap(dataKey, with: keyring.active, userHash: userHash)
    }

    /// Seals one value under a user's data key.
    ///
    /// - Throws: `sealed`, `unknownKey`, `broken` when `key` is not this user's, `library` without
    ///   entropy.
    package func seal(
        _ secret: Secret,
        under key: WrappedKey,
        context: SealContext
    ) throws(VaultError) -> [UInt8] {
        var dataKey = try unwrap(key, userHash: context.userHash)
        defer { dataKey.wipe() }
        let nonce = try entropy.bytes(SealCipher.nonceByteCount)
        var (id, cipherKey) = Self.split(dataKey)
        defer { cipherKey.wipe() }
        let bound = Self.bound(to: context, dataKeyID: id)
        return try secret.withBytes { bytes throws(VaultError) in
            try SealCipher.seal(bytes, key: cipherKey, nonce: nonce, bound: bound)
        }
    }

    /// Opens one value.
    ///
    /// - Throws: `sealed`, `unknownKey`, or `broken` when key, context or any bit is not what was
    ///   sealed, or the key is lost for good.
    package func open(
        _ sealed: [UInt8],
        under key: WrappedKey,
        context: SealContext
    ) throws(VaultError) -> Secret {
        if try loadedKeyring().key(id: key.keyID) == nil, lostKeyIDs.contains(key.keyID) {
            throw VaultError(kind: .broken)
        }
        var dataKey = try unwrap(key, userHash: context.userHash)
        defer { dataKey.wipe() }
        var (id, cipherKey) = Self.split(dataKey)
        defer { cipherKey.wipe() }
        let bound = Self.bound(to: context, dataKeyID: id)
        var bytes = try SealCipher.open(sealed, key: cipherKey, bound: bound)
        defer { bytes.wipe() }
        return Secret(bytes)
    }

    /// Wraps a data key anew, unless the active vault key wrapped it; sealed values stay as they
    /// are.
    ///
    /// - Throws: `sealed`, `unknownKey`, `broken`, `exhausted` or `library`, as the other calls do.
    package func rewrap(_ key: WrappedKey, userHash: [UInt8]) throws(VaultError) -> WrappedKey {
        let keyring = try loadedKeyring()
        var dataKey = try unwrap(key, userHash: userHash)
        defer { dataKey.wipe() }
        guard key.keyID != keyring.active.id else { return key }
        return try wrap(dataKey, with: keyring.active, userHash: userHash)
    }
}

extension SealedVault {
    func loadedKeyring() throws(VaultError) -> VaultKeyring {
        guard let keyring else { throw VaultError(kind: .sealed) }
        return keyring
    }

    private func wrap(
        _ dataKey: [UInt8],
        with key: VaultKey,
        userHash: [UInt8]
    ) throws(VaultError) -> WrappedKey {
        // Counted before the nonce is drawn: a failing wrap may cost one too many, never one too
        // few.
        let isWithinBound = wraps.withLock { count in
            guard count < Self.wrapCountMax else { return false }
            count += 1
            return true
        }
        guard isWithinBound else { throw VaultError(kind: .exhausted) }
        let nonce = try entropy.bytes(SealCipher.nonceByteCount)
        let bound = Self.bound(toUser: userHash, keyID: key.id)
        let bytes = try key.wrapping.withBytes { wrapping throws(VaultError) in
            try SealCipher.seal(dataKey, key: wrapping, nonce: nonce, bound: bound)
        }
        return WrappedKey(bytes: bytes, keyID: key.id)
    }

    /// - Returns: The data key's id and the data key itself; the caller wipes them.
    private func unwrap(_ key: WrappedKey, userHash: [UInt8]) throws(VaultError) -> [UInt8] {
        guard let vaultKey = try loadedKeyring().key(id: key.keyID) else {
            throw VaultError(kind: .unknownKey)
        }
        let bound = Self.bound(toUser: userHash, keyID: vaultKey.id)
        let dataKey = try vaultKey.wrapping.withBytes { wrapping throws(VaultError) in
            try SealCipher.open(key.bytes, key: wrapping, bound: bound)
        }
        guard dataKey.count == Self.dataKeyIDByteCount + SealCipher.keyByteCount else {
            throw VaultError(kind: .broken)
        }
        return dataKey
    }

    private static func split(_ dataKey: [UInt8]) -> (id: [UInt8], key: [UInt8]) {
        (Array(dataKey.prefix(dataKeyIDByteCount)), Array(dataKey.dropFirst(dataKeyIDByteCount)))
    }

    private static func bound(toUser userHash: [UInt8], keyID: String) -> [UInt8] {
        var text = BoundText(version: SealCipher.version, purpose: "user data key")
        text.append(userHash)
        text.append(keyID.utf8)
        return text.bytes
    }

    private static func bound(to context: SealContext, dataKeyID: [UInt8]) -> [UInt8] {
        var text = BoundText(version: SealCipher.version, purpose: "value")
        text.append(context.field.utf8)
        text.append(context.rowNonce)
        text.append(context.provider.rawValue.utf8)
        text.append(context.userHash)
        text.append(dataKeyID)
        return text.bytes
    }
}

/// User ids that are sealed each under a key of its own: those of rechecks, for some days after the
/// end, and those that one store names and another knows the user by.
///
/// The key is HMAC-SHA-256 of 32 random bytes of the row under a key derived from the vault key.
/// Neither the row nor the vault key alone opens anything, and whoever destroys the random bytes
/// destroys the key. Nothing is wrapped, so nothing counts towards ``SealedVault/wrapCountMax``.
extension SealedVault {
    /// Vault keys whose recheck records can be opened, or never will be.
    package var recheckKeyIDs: [String] { keyIDs + lostKeyIDs.sorted() }

    /// Seals the user of a completed deletion; throws `sealed`, or `library` without entropy.
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

    /// Seals ids that were found for a request; throws `sealed`, or `library` without entropy.
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
        bound("found keys", request, [name.store.rawValue, name.key], keyID)
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
