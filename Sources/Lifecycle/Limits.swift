/// Every bound of the state machine and the engine, with its unit and its reason.
///
/// What an operator may change is a setting; these are not.
package enum Limits {
    /// How long a request shows `accepted` while the spool is read; then it is parked.
    ///
    /// As long as a lock on the spool may last before it counts as a failure.
    package static let spoolPatience = Duration.seconds(5)
    /// Parked requests whose place in the order of reads the engine knows, 24 bytes each; others
    /// wait for one read more.
    package static let spoolPlacesMax = 65_536
    /// Users that the engine knows to have unsealed credentials; beyond it, every user may be one.
    package static let unsealedUsersMax = 10_000
    /// A difference between the system's clock and the service's time that counts as a step: NTP
    /// slews at most 500 ppm, so an hour of slewing without any wake-up stays below it.
    package static let clockStepMin = Duration.seconds(2)
    /// A clock that has not jumped for so long is believed.
    package static let clockTrustAge = Duration.seconds(86_400)
    /// Jumps that follow each other within this time correct each other: NTP steps in its first
    /// minutes.
    package static let clockSettling = Duration.seconds(3600)
    /// A clock that is set back by no more is waited for: until it shows again what it has shown.
    package static let clockWaitMax = Duration.seconds(60)
    /// A row that is dated further in the future has a wrong date; less is a skew between machines.
    package static let rowSkewMax = Duration.seconds(60)
    /// First step of the retry delay: long enough for a restart of the other side's process.
    package static let backoffBase = Duration.milliseconds(500)
    /// Longest retry delay of what somebody has to mend.
    package static let backoffMax = Duration.seconds(86_400)
    /// Longest retry delay at a provider or store that is not well: as long as the longest pause of
    /// a breaker, so that both notice its return alike.
    package static let outageBackoffMax = breakerPauseMax
    /// `Retry-After` below this is not believed: it would turn a polite answer into a busy loop.
    package static let retryAfterMin = Duration.seconds(1)
    /// Longest pause between two tries of an authorization code: its whole life is five minutes.
    package static let codeBackoffMax = Duration.seconds(5)
    /// A code older than this is given up unsent.
    ///
    /// Apple documents five minutes; ten have been seen.
    package static let codeAgeMax = Duration.seconds(900)
    /// After this many failed confirmations a successful revoke counts as `accepted`.
    package static let confirmationsMax = 5
    /// After this many refusals of one token, and of that token alone, it is given up: the last one
    /// comes a quarter of an hour after the first at the earliest.
    package static let refusalsMax = 5
    /// Refusals closer to each other than this count as one.
    package static let refusalSpacing = Duration.seconds(225)
    /// A token that was given up is tried again after this, for as long as its identity waits.
    package static let refusedRetry = Duration.seconds(86_400)
    /// A request that was being worked on in this many crashes of our own is quarantined.
    package static let crashesMax = 3
    /// Tokens of one identity where each must be revoked: nearly three years of daily sign-ins.
    package static let credentialsPerIdentityMax = 1024
    /// Identities of one user that hold nothing but the memory of refused credentials: more client
    /// ids than any application has.
    package static let refusedIdentitiesMax = 32
    /// Accounts of one user at one provider: nobody signs in to an application with as many.
    package static let accountsMax = 16
    /// Where one revocation ends the whole grant, older tokens are dropped beyond this number.
    package static let credentialsPerGrantMax = 16
    /// The newest tokens that are kept then, of those that were seen live.
    package static let credentialsPerGrantKept = 8
    /// Requests that the engine holds in memory at once.
    ///
    /// The backlog stays in SQLite.
    package static let windowMax = 2048
    /// Requests beyond the window for those whose submitter has few in it, while one submitter's
    /// flood fills it.
    package static let windowReserve = 256
    /// Requests of one submitter that a full window or lane still takes; as many as usual calls
    /// under way at a provider.
    package static let submitterShare = 8
    /// Requests that one read of due work brings; a quarter of the window, so that reads stay
    /// short.
    package static let fetchMax = 512
    /// Parked requests that one commit makes due; a million of them never hold up the others.
    package static let wakePageMax = 500
    /// A purge call takes at most this many requests: one short transaction.
    package static let purgeBatchMax = 128
    /// Keys of other stores that one user's rows may name; more are a wrong column, not a user.
    package static let keysMax = 10_000
    /// What one store may take for its check at the start or at a reload, beside all others: far
    /// below the minute and a half that the unit gives the start.
    ///
    /// A store that takes longer is paused and checked again without a limit.
    package static let startCheckMax = Duration.seconds(20)
    /// Plans that are made at once: counting must not compete with purging for the stores.
    package static let plansAtOnce = 2
    /// A store whose purge begins later than this after its part of the approved plan was compared
    /// is compared again: usual purges have followed one another by then.
    package static let comparisonLifetime = Duration.seconds(600)
    /// Callers whose calls fail in a row, with no answer between, that open a provider's breaker.
    package static let breakerFailures = 8
    /// Callers that a breaker remembers as failed, so that each probe is another one's: as many as
    /// probe within a day of the longest pauses.
    package static let breakerCallersMax = 256
    /// A provider that has answered nobody as it should for this long is reported, whatever its
    /// breaker does.
    package static let outageDoubt = Duration.seconds(120)
    /// First pause of an open breaker; doubles up to ``breakerPauseMax``.
    package static let breakerPauseMin = Duration.seconds(1)
    /// Longest pause between two probes of a provider that is down.
    package static let breakerPauseMax = Duration.seconds(300)
    /// A store that has let a deletion make no progress for this long is reported.
    package static let stuckAfter = Duration.seconds(300)
    /// Tries that find rows locked until an operator hears of it; half a minute, as they follow one
    /// another.
    package static let lockedTries = 8
    /// Deletions without progress that the engine remembers of one store; one is enough to report.
    package static let stuckMax = 256
    /// Slots of each provider that only authorization codes may use.
    package static let codeSlots = 4
    /// Between two pages of the search for tokens that die unused, and of what is due: a hundred
    /// thousand are gone through in minutes, beside everything else.
    package static let renewalSearchPause = Duration.seconds(1)
    /// Renewals of one provider that one search brings; with the pause above, their highest rate.
    package static let renewalsPerSearch = 4
    /// Between two searches for new tokens and dying ones: clocks of weeks need no more.
    package static let renewalTendPeriod = Duration.seconds(86_400)
    /// First pause after a refresh that brought no answer; doubles up to ``renewalRetryMax``.
    package static let renewalRetryMin = Duration.seconds(3600)
    /// Longest such pause: the last fifth of a token's life has room for several.
    package static let renewalRetryMax = Duration.seconds(86_400)
    /// How long a host owns a partition after it last renewed the lease: the time without a writer
    /// when the host dies.
    package static let leaseLifetime = Duration.seconds(5)
    /// Between two renewals; one may fail without harm.
    package static let leaseRenewal = Duration.seconds(2)
    /// What a host stops before the end of a lease: clocks run up to a fiftieth faster or slower.
    package static let leaseMargin = Duration.milliseconds(100)
    /// How long calls under way may keep a partition that another host is to have.
    package static let leaseLeaving = Duration.seconds(10)
}
