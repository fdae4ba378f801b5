/// When a provider lets a stored token die by itself; a fact about the vendor.
package struct TokenClock: Hashable, Sendable {
    /// Whose clock it is.
    package let kind: CredentialKind
    /// From the last use that counts until death; from the day it was stored if none counts.
    package let lifetime: Duration
    /// Whether a refresh begins the lifetime anew.
    package let isRenewable: Bool
    /// Whether nothing is lost with the token where the subject is known.
    package let isMootWithSubject: Bool

    package init(
        _ lifetime: Duration,
        kind: CredentialKind = .refreshToken,
        isRenewable: Bool = true,
        isMootWithSubject: Bool = false
    ) {
        (self.kind, self.lifetime) = (kind, lifetime)
        (self.isRenewable, self.isMootWithSubject) = (isRenewable, isMootWithSubject)
    }
}

/// What is done about the clock of one provider's tokens.
///
/// ```
/// stored or used ────── 3/5 ──── renewals ──── 4/5 ──── retries, warning ──── dead
/// ```
package struct KeepAlivePolicy: Hashable, Sendable {
    package let clock: TokenClock
    /// Whether tokens are refreshed before they die; else there is only the warning.
    package let isKeptAlive: Bool
    /// How long before its death a token is warned about.
    package let warnBefore: Duration
    /// The least time between two refreshes of one token.
    package let refreshInterval: Duration
    /// Whether an unheard answer leaves the stored token in doubt.
    package let mayRotate: Bool

    /// `nil` where no clock runs, or where no token would ever be of use.
    ///
    /// `lifetime` is the operator's word. The warning comes in the last fifth at most: whatever is
    /// kept alive in time is never warned about.
    package init?(
        traits: ProviderTraits,
        lifetime: Duration? = nil,
        isWanted: Bool,
        warnBefore: Duration
    ) {
        guard !traits.hasNoRevocationAPI else { return nil }
        let documented = traits.tokenClock
        let own = lifetime.map {
            TokenClock($0, isMootWithSubject: documented?.isMootWithSubject ?? false)
        }
        guard let clock = own ?? documented else { return nil }
        self.clock = clock
        isKeptAlive = isWanted && clock.isRenewable
        self.warnBefore = min(warnBefore, clock.lifetime / 5)
        refreshInterval = traits.refreshInterval
        mayRotate = traits.rotatesRefreshTokens
    }

    /// In the fourth fifth of its life, so that a fifth is left for retries, each at its own time;
    /// no earlier, since some vendors put the end off only near the end (Kakao).
    package func renewalTime(usedAt: WallTime, _ id: CredentialID) -> WallTime {
        let fifth = max(1, clock.lifetime.milliseconds / 5)
        return usedAt + .milliseconds(fifth * 3 + scattered(id) % fifth)
    }

    package func warningTime(usedAt: WallTime, expiresAt: WallTime?) -> WallTime {
        let end = clock.isRenewable ? nil : expiresAt
        return (end ?? usedAt + clock.lifetime) - warnBefore
    }

    /// From when the clock runs: the last use that counts.
    package func usedAt(storedAt: WallTime, lastLiveAt: WallTime?) -> WallTime {
        guard clock.isRenewable, let lastLiveAt else { return storedAt }
        return max(storedAt, lastLiveAt)
    }

    package func retryTime(failures: Int, after now: WallTime, _ id: CredentialID) -> WallTime {
        let pause = max(RetryPolicy.renewal.delay(failures: failures), refreshInterval)
        let spread = max(1, pause.milliseconds / 4)
        return now + pause + .milliseconds(scattered(id) % spread)
    }

    /// Knuth's multiplier scatters neighbours.
    private func scattered(_ id: CredentialID) -> Int64 {
        Int64(bitPattern: UInt64(bitPattern: id.rowID) &* 2_654_435_761) & Int64.max
    }
}
