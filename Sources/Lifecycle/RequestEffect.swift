/// What the engine must do after a decision is durable.
package enum RequestEffect: Hashable, Sendable {
    case lookUp(ProviderName)
    case call(TokenCall)
    case plan
    case purge(StoreName)
    case verify(StoreName)
    /// Configuration is refused there: pause it for everybody and alarm.
    case pauseProvider(ProviderName)
    case pauseStore(StoreName)
    case announce(Announcement)
}

/// A call at the provider of an identity about one of its credentials.
package struct TokenCall: Hashable, Sendable {
    /// What the provider is to do; a confirmation is a check after a revocation.
    package enum Work: Hashable, Sendable { case check, revoke, confirm }

    package let work: Work
    package let identity: IdentityID
    package let credential: CredentialID

    package init(_ work: Work, _ identity: IdentityID, _ credential: CredentialID) {
        (self.work, self.identity, self.credential) = (work, identity, credential)
    }

    /// The answer to a check or a confirmation.
    package func checked(_ answer: CheckAnswer) -> RequestEvent {
        work == .confirm
            ? .confirmed(identity, credential, answer) : .checked(identity, credential, answer)
    }

    package func revoked(_ answer: RevokeAnswer) -> RequestEvent {
        .revoked(identity, credential, answer)
    }

    package func failed(_ failure: EffectFailure) -> RequestEvent {
        work == .revoke ? revoked(.failure(failure)) : checked(.failure(failure))
    }
}

/// A fact that an operator cares about; the engine turns it into a journal event.
package enum Announcement: Hashable, Sendable {
    /// With the provider, and with its answer, where it waits for those.
    case parked(ParkReason, at: ProviderName? = nil, Refusal? = nil)
    case resumed
    /// `calls` were made to the provider.
    case verdict(ProviderName, Verdict, calls: Int)
    case sealBroken(ProviderName)
    case vaultKeyMissing(ProviderName)
    case approved
    case planChanged
    case purgeStarted
    case remainingRows(StoreName)
    case blocked(StoreName, Obstacle)
    case completed
    /// It is completed, and all that there was of the user is newer than it.
    case nothingErased
    case cancelled
    case abandoned
}

/// What happened to a request.
package enum RequestEvent: Hashable, Sendable {
    /// It was loaded, a timer fired, or a pause, the vault or the guard changed.
    case due
    case lookedUp(LookupAnswer)
    case checked(IdentityID, CredentialID, CheckAnswer)
    case revoked(IdentityID, CredentialID, RevokeAnswer)
    case confirmed(IdentityID, CredentialID, CheckAnswer)
    case planned(PlanResult)
    case purged(StoreName, PurgeAnswer)
    case verified(StoreName, VerifyAnswer)
    /// A queued call was not made after all; no attempt is counted, and no try before `until`.
    case postponed(RequestEffect, until: WallTime)
    /// A `delete_account` of the same user took over what this `revoke_tokens` would have done.
    case absorbed
    /// All that became known together: nothing is decided in between.
    case identityChanged([IdentitySnapshot])
    case hold
    case release
    /// An operator, by login uid, approves the plan with this hash.
    case approve(String, by: UInt32)
    /// An operator wants the next try now; also ends a quarantine.
    case retry
    case cancel
    /// An operator ends every open revocation as `abandoned`, or goes on without any identity, or
    /// without a store that has no key or that another spelling stops.
    case abandon
    case quarantine
    /// These stores were restored from backups; what a store dates up to then came with them.
    case restored(Set<StoreName>, at: WallTime?)
}

/// Why an operation on a request was refused; `rawValue` is the problem code on the wire.
package enum OperationRefusal: String, Error, Hashable, Sendable, CaseIterable {
    case tooLate = "too_late"
    case alreadyEnded = "already_ended"
    case nothingToAbandon = "nothing_to_abandon"
    case notOnHold = "not_on_hold"
    case holdExists = "hold_exists"
    case deletionInProgress = "deletion_in_progress"
    case noPlan = "no_plan"
    case planChanged = "plan_changed"
    /// Whoever handed a request in does not approve it, and nobody approves one twice.
    case sameOperator = "same_operator"
    /// A hold on the user stops it, and it has none of its own.
    case userOnHold = "user_on_hold"
    case unknownProvider = "unknown_provider"
    /// Other providers than the one to abandon are not done.
    case providersOpen = "providers_open"
}
