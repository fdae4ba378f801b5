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

/// How a ``MessageSigner`` signs; the raw value is the JOSE `alg` (RFC 7518 §3.1).
package enum SigningAlgorithm: String, Sendable, CaseIterable {
    /// ECDSA with P-256 and SHA-256; a signature is 64 bytes, r then s (RFC 7518 §3.4).
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes (RFC 7518 §3.5).
    case ps256 = "PS256"
    /// HMAC with SHA-256 under a secret that both sides have (RFC 7518 §3.2).
    case hs256 = "HS256"
}

/// Signs with a key that the caller never sees; the key may live outside the process.
package protocol MessageSigner: Sendable {
    /// What the key is for; goes into the JOSE header as it is.
    var algorithm: SigningAlgorithm { get }

    /// Signs `message` and returns the signature in its JOSE form, not base64url encoded.
    ///
    /// - Throws: ``VaultError`` of kind `library` when libcrypto or the key's token fails.
    func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8]
}
