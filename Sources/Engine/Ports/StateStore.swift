package import Lifecycle

/// A sealed credential with everything that is needed to open it.
package struct SealedCredential: Hashable, Sendable {
    package let id: CredentialID
    package let kind: CredentialKind
    package let provider: ProviderName
    package let clientID: String
    package let userHash: [UInt8]
    package let rowNonce: [UInt8]
    package let sealedSecret: [UInt8]
    package let sealedCodeVerifier: [UInt8]?
    package let redirectURI: String?
    /// Keyed hash of the secret as it was stored; checked after opening and before sending.
    package let fingerprint: [UInt8]
    package let userKey: WrappedKey
    package var subject: LearnedSubject?
    /// The provider gave it out to this client, for a code.
    package var isFromCode = false

    package init(
        id: CredentialID,
        kind: CredentialKind,
        provider: ProviderName,
        clientID: String,
        userHash: [UInt8],
        rowNonce: [UInt8],
        sealedSecret: [UInt8],
        sealedCodeVerifier: [UInt8]?,
        redirectURI: String?,
        fingerprint: [UInt8],
        userKey: WrappedKey
    ) {
        (self.id, self.kind, self.provider) = (id, kind, provider)
        (self.clientID, self.userHash) = (clientID, userHash)
        (self.rowNonce, self.sealedSecret) = (rowNonce, sealedSecret)
        (self.sealedCodeVerifier, self.redirectURI) = (sealedCodeVerifier, redirectURI)
        (self.fingerprint, self.userKey) = (fingerprint, userKey)
    }
}

/// An open request as the engine works on it.
package struct LoadedRequest: Hashable, Sendable {
    package var request: Request
    package let user: UserID
    package let userHash: [UInt8]
    package var credentials: [CredentialID: SealedCredential]
    /// What the vault learned while the process was down; to be handled first.
    package let unseen: [IdentitySnapshot]
    /// Who submitted it over a socket; `nil` for a row of the spool, which names nobody.
    package var submitter: UInt32?
    /// It comes from the read of the spool that brought every credential of before it.
    package var isSpoolRead = false

    package init(
        request: Request,
        user: UserID,
        userHash: [UInt8],
        credentials: [CredentialID: SealedCredential],
        unseen: [IdentitySnapshot] = []
    ) {
        (self.request, self.user, self.userHash) = (request, user, userHash)
        (self.credentials, self.unseen) = (credentials, unseen)
    }
}

/// A code exchange with its sealed code.
package struct LoadedExchange: Hashable, Sendable {
    package var exchange: CodeExchange
    package let credential: SealedCredential

    package init(exchange: CodeExchange, credential: SealedCredential) {
        (self.exchange, self.credential) = (exchange, credential)
    }
}

/// A token that an exchange brought, sealed and ready to be stored beside the code it replaces.
package struct SealedToken: Hashable, Sendable {
    package let kind: CredentialKind
    package let rowNonce: [UInt8]
    package let sealedSecret: [UInt8]
    package let fingerprint: [UInt8]
    package let expiresAt: WallTime?
}

/// What an exchange told about the subject of the identity.
package struct LearnedSubject: Hashable, Sendable {
    package let hash: [UInt8]
    package let rowNonce: [UInt8]
    package let sealed: [UInt8]

    package init(hash: [UInt8], rowNonce: [UInt8], sealed: [UInt8]) {
        (self.hash, self.rowNonce, self.sealed) = (hash, rowNonce, sealed)
    }
}

/// One change of the state database; a batch of them is one commit, in order.
package enum StateChange: Sendable {
    /// Writes what differs between `was` and `now`. A request that ended is closed for good with
    /// it: its user id, data key, credentials and identities are destroyed (`delete_account`), or
    /// the credentials of the identities with a verdict (`revoke_tokens`), and a tombstone is
    /// written.
    ///
    /// Indirect, as a change is handed on by many hands and two requests are much to copy.
    indirect case save(now: Request, was: Request, at: WallTime)
    case openRecheck(OpenedRecheck)
    /// The new phase of an exchange; a final one destroys the code's secret in the same commit, and
    /// makes open requests of the user due that may still revoke.
    case saveExchange(CodeExchange, at: WallTime)
    /// Reads what is known of an identity, and makes open requests of the user due that may still
    /// revoke.
    case tell(IdentityID, of: [UInt8], at: WallTime)
    /// A successful exchange: destroys the code, stores its tokens (live at `at`) and the subject,
    /// and makes open requests of the user due that may still revoke. Tokens of another subject
    /// go to its own identity, or are not stored where that may not join.
    case storeTokens(CodeExchange, [SealedToken], LearnedSubject?, at: WallTime)
    /// A refresh token that the provider rotated: the new one takes the place of the old one in
    /// the same credential (live at `at`); nothing when the credential is gone.
    case rotate(CredentialID, SealedToken, at: WallTime)
    /// Enrols new tokens whose clock runs, and finds those that will die soon: one page.
    case tendRenewals([ProviderName: KeepAlivePolicy], at: WallTime)
    /// The intent to refresh a token that would die unused; nothing when it is not due any more.
    case beginRenewal(CredentialID, KeepAlivePolicy, at: WallTime)
    case endRenewal(EndedRenewal, at: WallTime)
    /// `by` is the operator who asked for it; without one it never replaces another reason.
    case pauseProvider(ProviderName, reason: String, by: UInt32? = nil, at: WallTime)
    /// With `isOwn` only what the service has paused by itself.
    case resumeProvider(ProviderName, by: UInt32? = nil, isOwn: Bool = false, at: WallTime)
    case pauseStore(StoreName, reason: String, by: UInt32? = nil, at: WallTime)
    case resumeStore(StoreName, by: UInt32? = nil, isOwn: Bool = false, at: WallTime)
    case placeHold(StoreHold)
    case liftHold(StoreHold, by: UInt32, at: WallTime)
    /// Makes open requests that are parked for `reason` due, so that they are looked at again: one
    /// page (``Lifecycle/Limits/wakePageMax``) in the order of ids, beginning behind `after`.
    case wake(parkedFor: ParkReason, after: RequestID? = nil, at: WallTime)
    /// Corrects what was dated by a clock that was wrong, and makes open requests due that are
    /// waiting for an implausible time.
    case reclock(ClockStep, at: WallTime)
    case useGuardOverride(purges: Int, at: WallTime)
    /// The answer to the row of an operation, in the commit that it was executed by.
    case answer(OperationID, OperationOutcome)
}

extension StateChange {
    /// The request that ends revoking with it, for a deletion: from then on its user's credentials
    /// are refused.
    package var endsRevoking: Request? {
        guard case .save(let now, let was, _) = self, now.kind == .deleteAccount,
            was.phase.stage.map({ $0 <= .revoking }) ?? false
        else { return nil }
        let isPast = now.phase == .completed || now.phase.stage.map { $0 > .revoking } ?? false
        return isPast ? now : nil
    }
}

/// What a change made known, once it is durable.
package enum ChangeUpdate: Sendable {
    case identity(IdentityUpdate)
    case wakeGoesOn(ParkReason, after: RequestID)
    /// Tokens that were found dying, and whether there is another page.
    case renewalsTended(expiring: [ProviderName: Int], goesOn: Bool)
    /// The token as it is now; `nil` when it is not to be refreshed.
    case renewalBegun(CredentialID, SealedCredential?)
    /// With the identity's updates where the token is in doubt now.
    case renewalEnded(CredentialID, IdentityUpdate?)
}

/// What storing tokens made known about an identity.
package struct IdentityUpdate: Hashable, Sendable {
    package let snapshot: IdentitySnapshot
    package let credentials: [CredentialID: SealedCredential]
    package let openRequests: [RequestID]
    /// It is about a credential of another subject than that of the user's first account.
    package var isSubjectMismatch = false
    /// Identities of the same user that got the tokens of the code.
    package var otherAccounts: [IdentityUpdate] = []

    package init(
        snapshot: IdentitySnapshot,
        credentials: [CredentialID: SealedCredential],
        openRequests: [RequestID]
    ) {
        (self.snapshot, self.credentials, self.openRequests) = (snapshot, credentials, openRequests)
    }
}

/// An override of the mass-deletion guard, as far as it is not used up.
package struct GuardAllowance: Hashable, Sendable {
    package let purges: Int
    package let until: WallTime

    package init(purges: Int, until: WallTime) { (self.purges, self.until) = (purges, until) }
}

/// What was paused by us or by an operator, and why; survives restarts.
package struct StoredPauses: Hashable, Sendable {
    package var providers: [ProviderName: String]
    package var stores: [StoreName: String]
    /// Stops on stores, in the order in which they were placed.
    package var holds: [StoreHold] = []
    /// Wakes that a stop cut short, and behind which request each goes on.
    package var unfinishedWakes: [ParkReason: RequestID]

    package init(
        providers: [ProviderName: String] = [:],
        stores: [StoreName: String] = [:],
        unfinishedWakes: [ParkReason: RequestID] = [:]
    ) {
        (self.providers, self.stores, self.unfinishedWakes) = (providers, stores, unfinishedWakes)
    }
}

/// One page of due work.
package struct DueRequests: Sendable {
    package let requests: [LoadedRequest]
    /// When the next request becomes due that was not due yet; `nil` when there is none.
    package let nextDueAt: WallTime?

    package init(requests: [LoadedRequest], nextDueAt: WallTime?) {
        (self.requests, self.nextDueAt) = (requests, nextDueAt)
    }
}

/// What an engine reads of the state again and again, of one host or of several.
package protocol DueWork: Sendable {
    /// Requests of these partitions whose due time has come, the longest due first.
    ///
    /// `excluded` are in the engine's window already; of a lane with limit 0 all are left for now.
    /// - Throws: The state's error; nothing is known then.
    func dueRequests(
        at now: WallTime,
        limit: Int,
        excluding excluded: Set<RequestID>,
        laneLimits: [ProviderName: Int],
        in partitions: PartitionSet
    ) async throws -> DueRequests

    /// Open requests by id; ended and unknown ones are left out.
    func openRequests(_ ids: [RequestID]) async throws -> [LoadedRequest]

    /// Tokens whose time to be refreshed has come, at most `limit` of each provider.
    ///
    /// - Throws: The state's error; nothing is known then.
    func dueRenewals(
        of providers: [ProviderName],
        at now: WallTime,
        limit: Int,
        in partitions: PartitionSet
    ) async throws -> DueRenewals
}

/// The private, durable state, as the engine sees it.
///
/// Every call is one unit: a batch is committed and on disk when `commit` returns, or the state
/// throws and nothing may be assumed (a COMMIT that answered an error may have happened): the
/// process must exit, reopen and read the truth.
package protocol StateStore: DueWork {
    func openExchanges(limit: Int) async throws -> [LoadedExchange]

    func pauses() async throws -> StoredPauses

    func purgeCount(since: WallTime) async throws -> Int

    /// Commits a batch; for each change, what it made known, if anything.
    func commit(_ changes: [StateChange]) async throws -> [ChangeUpdate?]
}
