package import Lifecycle

/// Where a user wants the confirmation of a deletion, under a key of its own.
package struct SealedAddress: Hashable, Sendable {
    /// ``SealedKeys/request`` is what the seal is bound to, and no request.
    package let keys: SealedKeys
    package let language: MessageLanguage

    package init(keys: SealedKeys, language: MessageLanguage) {
        (self.keys, self.language) = (keys, language)
    }
}
