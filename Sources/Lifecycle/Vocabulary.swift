/// What a request asks for; the spool's `kind`.
package enum RequestKind: String, Sendable, CaseIterable {
    /// Revoke at every linked provider, then purge every store.
    case deleteAccount = "delete_account"
    case revokeTokens = "revoke_tokens"
}

/// What a credential is (RFC 6749 §1.3.1, §1.4, §1.5; OpenID Connect Core §2).
package enum CredentialKind: String, Sendable, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
    case idToken = "id_token"
    /// The provider's own id of the user, for a provider that revokes by it.
    case subject
}

/// How the revocation of one identity ended.
///
/// Every verdict is final; `accepted` and `unconfirmed` may rise to `proven` while the request
/// still revokes.
package enum Verdict: String, Sendable, CaseIterable {
    /// The link is cut, and the provider has shown it; ``Proof`` says how.
    case proven
    /// The provider accepted the revocation of a token that was seen live; it offers no proof, or
    /// its budget for asking is spent.
    case accepted
    /// The provider answered success, which says nothing: the token was never seen live, or the
    /// provider issued tokens that the service does not hold. NOT revoked.
    case unconfirmed
    /// The grant is proven gone for this subject and client.
    case alreadyGone = "already_gone"
    /// Every stored token is refused for good; whether the link still shows is unknown.
    case tokenDead = "token_dead"
    /// There never was a token (password, phone, anonymous accounts).
    case nothingToRevoke = "nothing_to_revoke"
    /// The provider has no API for it; the receipt carries the user's link.
    case manual
    /// No usable credential, and the deadline for finding one passed. NOT revoked.
    case unrevoked
    /// An operator decided to stop. NOT revoked.
    case abandoned

    /// Whether the receipt may say that the link to the provider was cut.
    package var isRevoked: Bool {
        switch self {
        case .proven, .accepted, .alreadyGone: true
        case .unconfirmed, .tokenDead, .nothingToRevoke, .manual, .unrevoked, .abandoned: false
        }
    }

    /// Whether the provider's own word that the link is cut adds to it.
    package var mayRise: Bool {
        switch self {
        case .accepted, .unconfirmed: true
        case .proven, .alreadyGone, .tokenDead, .nothingToRevoke, .manual, .unrevoked, .abandoned:
            false
        }
    }

    /// Whether the link may still exist, so that the user has to look at it.
    package var mayLeaveLink: Bool {
        switch self {
        case .proven, .accepted, .alreadyGone, .nothingToRevoke: false
        case .unconfirmed, .tokenDead, .manual, .unrevoked, .abandoned: true
        }
    }
}

/// What showed that a link is cut, and who said so.
package enum Proof: String, Sendable, CaseIterable {
    /// The provider honored the token before the revocation and refused it when asked afterwards.
    case refusedAfter = "refused_after"
    /// The provider honored the token before the revocation, and refused a repeated revocation.
    case refusedAgain = "refused_again"
    /// The provider answered that this user has no grant for this client.
    case grantGone = "grant_gone"
    case notification
}

/// Why a request waits for more than a retry; the `detail` of the state `parked`.
package enum ParkReason: String, Sendable, CaseIterable {
    case needsReauthentication = "needs_reauthentication"
    case providerPaused = "provider_paused"
    /// The configuration lacks the provider or directory.
    case unknownProvider = "unknown_provider"
    case storePaused = "store_paused"
    case vaultSealed = "vault_sealed"
    case onHold = "on_hold"
    case awaitingApproval = "awaiting_approval"
    case massDeletionGuard = "mass_deletion_guard"
    case sharedIdentity = "shared_identity"
    case quarantined
    /// Credentials may wait in the spool, which has not been read since the request was accepted.
    case awaitingSpool = "awaiting_spool"
    /// A credential of the user waits in the spool and cannot be sealed.
    case awaitingCredentials = "awaiting_credentials"
    /// The clock shows an earlier time than the newest checkpoint of the ledger.
    case clockBehind = "clock_behind"
    /// No key led into a store whose `without_keys` is `park`.
    case withoutKeys = "without_keys"

    /// What a request may show that waits for a paused provider: of several reasons it shows one.
    package static let ofRevocations: [Self] = [
        .providerPaused, .unknownProvider, .needsReauthentication, .sharedIdentity,
    ]

    /// Whether another host may see it otherwise: it is no rule that all hosts obey.
    package var isOfHost: Bool {
        switch self {
        case .vaultSealed, .awaitingApproval, .sharedIdentity, .needsReauthentication,
            .awaitingSpool, .awaitingCredentials, .clockBehind, .withoutKeys, .unknownProvider:
            true
        case .providerPaused, .storePaused, .onHold, .massDeletionGuard, .quarantined: false
        }
    }
}

/// The ten states that applications see, in the spool, over HTTP and in the journal.
package enum RequestState: String, Sendable, CaseIterable {
    case submitted, accepted, scheduled, revoking, purging, verifying, completed
    case rejected, cancelled, parked
}

/// Why a request was not taken; the `detail` of the state `rejected` and the `code` of a
/// problem.
package enum RejectReason: String, Error, Sendable, CaseIterable {
    case malformedRow = "malformed_row"
    case malformedUserID = "malformed_user_id"
    case unknownKind = "unknown_kind"
    case unknownOption = "unknown_option"
    case malformedOption = "malformed_option"
    case unknownProvider = "unknown_provider"
    /// An open `delete_account` for the same user has other options.
    case alreadyOpen = "already_open"
    /// The account of `account_created_at` was erased; what has its id now is a later one.
    case alreadyErased = "already_erased"
    /// A `delete_account` of the same user is already past the point of joining.
    case deletionInProgress = "deletion_in_progress"
    case idempotencyConflict = "idempotency_conflict"
    case freshSignInRequired = "fresh_sign_in_required"
}

/// Why a credential was not taken; the `detail` of a rejected credential.
package enum CredentialRejectReason: String, Error, Sendable, CaseIterable {
    case malformedRow = "malformed_row"
    case malformedUserID = "malformed_user_id"
    case unknownProvider = "unknown_provider"
    case unknownClientID = "unknown_client_id"
    case clientIDRequired = "client_id_required"
    case unknownCredentialKind = "unknown_credential_kind"
    case missingSecret = "missing_secret"
    case vaultSealed = "vault_sealed"
    /// The identity already holds the most credentials that it may
    /// (``Limits/credentialsPerIdentityMax``); the identity remembers that one was refused.
    case tooManyCredentials = "too_many_credentials"
    case deletionInProgress = "deletion_in_progress"
    case subjectMismatch = "subject_mismatch"
    case malformedIDToken = "malformed_id_token"
}

/// How far a rotation of the vault key is.
package enum KeyRotationState: String, Sendable, CaseIterable {
    case idle
    case running
    case finished
    case stopped
}

/// Why a provider or a store is paused, where no call has failed.
package enum PauseReason {
    package static let byOperator = "operator"
    /// The service could not set it up with its configuration.
    package static let notSetUp = "not_set_up"
}
