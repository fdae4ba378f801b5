package import Lifecycle

/// What binds a sealed credential to its place; all of it is authenticated with the ciphertext.
package struct SealContext: Hashable, Sendable {
    /// The column's name, such as `credentials.secret`.
    package let field: String
    /// Random, unique per sealed value; a blob moved to another row does not open.
    package let rowNonce: [UInt8]
    package let provider: ProviderName
    package let userHash: [UInt8]

    package init(field: String, rowNonce: [UInt8], provider: ProviderName, userHash: [UInt8]) {
        (self.field, self.rowNonce) = (field, rowNonce)
        (self.provider, self.userHash) = (provider, userHash)
    }
}

/// A user's data key, wrapped by the vault key.
///
/// Destroying it makes every sealed value of the user unopenable.
package struct WrappedKey: Hashable, Sendable {
    package let bytes: [UInt8]
    package let keyID: String

    package init(bytes: [UInt8], keyID: String) { (self.bytes, self.keyID) = (bytes, keyID) }
}

/// Why the vault could not seal or open.
package struct VaultError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// There is no vault key: the daemon runs in sealed mode.
        case sealed = "vault_sealed"
        /// Ciphertext, context or key do not fit together.
        case broken = "seal_broken"
        /// The value was sealed under a vault key that is not loaded.
        case unknownKey = "unknown_vault_key"
        /// The vault key has wrapped as many data keys as it may; it must be rotated.
        case exhausted = "vault_key_exhausted"
        case library = "crypto_library"

        var reason: String {
            switch self {
            case .sealed: "there is no vault key, so the service runs sealed"
            case .broken: "a sealed value, its place and its key do not fit together"
            case .unknownKey: "a value was sealed under a vault key that is not loaded"
            case .exhausted: "the vault key has wrapped as many keys as it may; rotate it"
            case .library: "the cryptographic library failed"
            }
        }
    }

    package let kind: Kind

    package init(kind: Kind) { self.kind = kind }

    package var description: String {
        "cannot use the vault (\(kind.rawValue)): \(kind.reason)"
    }
}

extension VaultError {
    /// What it means for what was to be opened: only bits that do not fit burn it.
    package var failure: EffectFailure {
        switch kind {
        case .broken: .sealBroken
        case .sealed, .unknownKey, .exhausted, .library: .vaultSealed
        }
    }
}

/// Seals and opens credentials: AES-256-GCM, one data key per user, wrapped by the vault key.
package protocol CredentialVault: Sendable {
    /// False in sealed mode: nothing can be sealed or opened until a restart with the key.
    var isOpen: Bool { get }

    func makeUserKey(userHash: [UInt8]) throws(VaultError) -> WrappedKey

    func seal(
        _ secret: Secret,
        under key: WrappedKey,
        context: SealContext
    ) throws(VaultError) -> [UInt8]

    /// Opens one value; fails unless key, context and every bit of `sealed` are what was sealed.
    func open(
        _ sealed: [UInt8],
        under key: WrappedKey,
        context: SealContext
    ) throws(VaultError) -> Secret
}

/// Keyed hashes (HMAC-SHA-256, 32 bytes) that let equal values be found without storing them.
///
/// The key is never rotated: tombstones and idempotency keys must be found years later.
package protocol KeyedHasher: Sendable {
    /// 32 bytes; equal texts in two domains do not correlate.
    func hash(_ text: String, domain: HashDomain) -> [UInt8]
}

/// The uses of ``KeyedHasher``.
package enum HashDomain: String, Sendable, CaseIterable {
    case user, subject, credential
    case plan
    case idempotencyKey = "idempotency_key"
    case spoolRow = "spool_row"
    case signIn = "sign_in"
    /// What makes a provider's notification the same as an earlier one.
    case notification
    case mask
    case foundKey = "found_key"
    case erasedKey = "erased_key"
}
