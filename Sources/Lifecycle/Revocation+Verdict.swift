extension Revocation {
    /// Whether the provider may honor tokens that the service does not hold: a code exchange
    /// brought no answer, or a credential was refused.
    package var hasUnheldTokens: Bool {
        refusedCount > 0 || credentials.contains { $0.step == .lost }
    }

    /// The verdict that the credentials have earned together; `nil` while one is open or none says
    /// anything.
    ///
    /// A token that cannot be read or revoked may live on: without a revoke that ends the whole grant nothing
    /// can be said about the identity then.
    func earnedVerdict(_ traits: ProviderTraits) -> Verdict? {
        guard credentials.allSatisfy(\.step.isFinal),
            traits.revokesWholeGrant || !credentials.contains(where: \.mayLiveOn)
        else { return nil }
        switch verdictOfTokens(traits) {
        case .proven? where mayMissTokens(traits), .accepted? where mayMissTokens(traits):
            // No sign-in could bring these tokens back, so nothing waits for one.
            return .unconfirmed
        case let earned: return earned
        }
    }

    /// Whether tokens that the service does not hold are untouched by what it revoked.
    private func mayMissTokens(_ traits: ProviderTraits) -> Bool {
        // What was refused may be of another account of the user's: another grant.
        guard refusedCount == 0 else { return true }
        return hasUnheldTokens && (hasYoungerLostCode || !traits.revokesWholeGrant)
            && proof != .grantGone
    }

    /// Whether a code was lost after each token was last seen live, or after one was revoked.
    var hasYoungerLostCode: Bool {
        credentials.contains { $0.step == .lost && $0.isInDoubt }
    }

    /// Notes that a token is live now: it is of the grant that the lost codes are of, too.
    mutating func forgiveLostCodes() {
        for index in credentials.indices where credentials[index].step == .lost {
            credentials[index].isInDoubt = false
        }
    }

    private func verdictOfTokens(_ traits: ProviderTraits) -> Verdict? {
        let steps = Set(credentials.map(\.step))
        let isUnproven = steps.contains(.accepted) || steps.contains(.unconfirmed)
        if steps.contains(.proven) {
            return traits.revokesWholeGrant || !isUnproven ? .proven : .accepted
        }
        if steps.contains(.accepted) { return .accepted }
        if steps.contains(.gone) { return .alreadyGone }
        // A fresh sign-in brings a token that is known to be real.
        if steps.contains(.unconfirmed) { return nil }
        // A token that was rotated away unheard lives on while everything stored is refused.
        guard !credentials.contains(where: \.mayLiveOn) else { return nil }
        return steps.contains(.dead) ? .tokenDead : nil
    }
}
