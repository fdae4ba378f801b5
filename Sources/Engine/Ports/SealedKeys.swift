package import Lifecycle

/// Ids that were found for one request, under a key of their own.
package struct SealedKeys: Hashable, Sendable {
    package let request: RequestID
    package let name: KeyName
    /// The vault key without which ``ownKey`` opens nothing.
    package let keyID: String
    /// Random bytes of this row alone; once they are destroyed nobody can open ``sealedIDs``.
    package let ownKey: [UInt8]
    package let sealedIDs: [UInt8]
    /// For tombstones, 32 bytes each, never read back; none where others may own the ids.
    package var hashes: [[UInt8]] = []

    package init(
        request: RequestID,
        name: KeyName,
        keyID: String,
        ownKey: [UInt8],
        sealedIDs: [UInt8]
    ) {
        (self.request, self.name, self.keyID) = (request, name, keyID)
        (self.ownKey, self.sealedIDs) = (ownKey, sealedIDs)
    }
}

/// Where a user wants the confirmation of a deletion, under a key of its own.
package struct SealedAddress: Hashable, Sendable {
    /// ``SealedKeys/request`` is what the seal is bound to, and no request.
    package let keys: SealedKeys
    package let language: MessageLanguage

    package init(keys: SealedKeys, language: MessageLanguage) {
        (self.keys, self.language) = (keys, language)
    }
}
