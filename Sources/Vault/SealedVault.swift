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
