extension Revocation {
    /// Whether the provider may honor tokens that the service does not hold.
    package var hasUnheldTokens: Bool {
        refusedCount > 0 || credentials.contains { $0.step == .lost }
    }

    /// `nil` while a credential is open or none says anything.
    ///
    /// A token that may live on outweighs the others unless one revocation ends it with them.
    func earnedVerdict(_ traits: ProviderTraits) -> Verdict? {
        guard credentials.allSatisfy(\.step.isFinal),
            !credentials.contains(where: { $0.mayLiveOn && countsAlone($0, traits) })
        else { return nil }
        let earned = verdictOfTokens(traits)
        // No sign-in could bring these tokens back, so nothing waits for one.
        return earned?.isRevoked ?? false && mayMissTokens(traits) ? .unconfirmed : earned
    }

    private func mayMissTokens(_ traits: ProviderTraits) -> Bool {
        // What was refused may be of another account of the user's: another grant.
        guard refusedCount == 0 else { return true }
        let lost = credentials.filter { $0.step == .lost }
        guard !lost.isEmpty else { return false }
        let isWholeGrant =
            traits.revokesWholeGrant || proof == .grantGone || isEndedBySubject
            || credentials.contains { $0.step == .gone && !isAmbiguous($0) }
        return hasYoungerLostCode || !isWholeGrant || lost.contains(where: isAmbiguous)
    }

    /// Whether a code was lost after the provider's last word about the grant.
    var hasYoungerLostCode: Bool {
        credentials.contains { $0.step == .lost && $0.rotation.isInDoubt }
    }

    /// The provider's word on a token of the account covers the codes that were lost so far, too.
    mutating func forgiveLostCodes(after heard: Int) {
        guard !isAmbiguous(credentials[heard]) else { return }
        for index in credentials.indices where credentials[index].step == .lost {
            credentials[index].rotation = .settled
        }
    }

    /// Whether no revocation of another credential ends it, too.
    private func countsAlone(_ credential: CredentialWork, _ traits: ProviderTraits) -> Bool {
        !traits.revokesWholeGrant && !isEndedBySubject || isAmbiguous(credential)
    }

    /// Whether all that the user granted the client is shown to be ended.
    private var isEndedBySubject: Bool {
        credentials.contains {
            $0.kind == .subject && [.proven, .gone].contains($0.step) && !$0.isOfEarlierGrant
        }
    }

    /// Whether it may be of another account of the user, and says nothing of this one.
    func isAmbiguous(_ credential: CredentialWork) -> Bool {
        isOneOfSeveral && credential.isUnnamed
    }

    var unnamedCount: Int { credentials.count(where: \.isUnnamed) }

    private func verdictOfTokens(_ traits: ProviderTraits) -> Verdict? {
        // Of one grant all tokens are ended together, but of a later one nothing is.
        let deciding = credentials.filter {
            !(isAmbiguous($0) || traits.revokesWholeGrant && $0.isOfEarlierGrant)
        }
        let steps = Set(deciding.map(\.step))
        let isUnconfirmed = credentials.contains {
            // A subject that shows nothing takes nothing from what tokens show.
            $0.step == .unconfirmed && $0.kind != .subject && countsAlone($0, traits)
        }
        if !steps.isDisjoint(with: [.proven, .accepted, .gone]) {
            // No other token speaks for one that nobody saw live, and no sign-in would.
            if isUnconfirmed { return .unconfirmed }
            let isProven =
                steps.contains(.proven)
                && (traits.revokesWholeGrant || isEndedBySubject || !steps.contains(.accepted))
            if isProven { return .proven }
            return steps.contains(.accepted) ? .accepted : .alreadyGone
        }
        // A fresh sign-in brings a token that is known to be real.
        if isUnconfirmed || steps.contains(.unconfirmed) { return nil }
        // A token that was rotated away unheard lives on while everything stored is refused.
        guard !credentials.contains(where: \.mayLiveOn) else { return nil }
        return steps.contains(.dead) ? .tokenDead : nil
    }

    /// After a revoke of ours that answered success, the notification is its proof.
    var verdictOfCut: Verdict {
        let wasRevoked = credentials.contains { credential in
            switch credential.step {
            case .revoked, .accepted, .unconfirmed, .proven: !isAmbiguous(credential)
            case .codePending, .stored, .revoking, .gone, .dead, .unusable, .refused, .lost: false
            }
        }
        return wasRevoked ? .proven : .alreadyGone
    }

    func announcement(of verdict: Verdict) -> RequestEffect {
        .announce(.verdict(provider, verdict, calls: attempts))
    }
}

extension Revocation {
    /// A token that cannot be asked about is revoked all the same; one that may rotate is not.
    ///
    /// The last refusal of one that ``ProviderTraits/asksRefusedTokens`` leads to a check first.
    /// `traits` are those of the provider that refused to revoke it; `nil` for any other call.
    mutating func note(
        _ refusal: Refusal,
        at index: Int,
        mayRotate: Bool,
        traits: ProviderTraits? = nil,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        if let traits, credentials[index].livesOn(at: context.now, traits: traits) {
            // Asked about again: it may end meanwhile.
            credentials[index].step = .stored
            retry.fail(&context)
            return []
        }
        let wasGivenUp = credentials[index].isGivenUp
        let counted = RefusalCount.adding(refusal, to: credentials[index].refusals, at: context.now)
        credentials[index].refusals = counted
        guard counted.count >= Limits.refusalsMax else {
            retry.fail(&context)
            return []
        }
        if credentials[index].step == .stored, !mayRotate {
            credentials[index].beginRevoking()
            credentials[index].refusals = nil
        } else if !wasGivenUp, traits?.asksRefusedTokens ?? false,
            credentials[index].kind == .refreshToken
        {
            credentials[index].step = .stored
        } else {
            credentials[index].step = .refused
        }
        failures = 0
        return []
    }

    /// When a token that was given up is tried again; `nil` where none was.
    package var refusedAgainAt: WallTime? {
        credentials.filter { $0.step == .refused }.compactMap { $0.refusals?.lastAt }.min()
            .map { $0 + Limits.refusedRetry }
    }

    /// What was refused may have been so by a fault that is mended.
    mutating func takeUpRefused(at now: WallTime) {
        guard let due = refusedAgainAt, due <= now else { return }
        for index in credentials.indices where credentials[index].step == .refused {
            credentials[index].step = .revoking
        }
    }

    mutating func forgetRefusals() {
        guard verdict == nil else { return }
        for index in credentials.indices {
            credentials[index].refusals = nil
            guard credentials[index].step == .refused else { continue }
            credentials[index].step = .revoking
            waitingSince = nil
        }
    }
}
