/// Asking a directory which identities the user has, within one request.
///
/// It comes before every revocation: once the account at the directory is gone, nobody can tell
/// any more where it was linked.
package struct LookupWork: Hashable, Sendable, Retryable {
    /// The configured name of the directory; calls to it have a lane like those to a provider.
    package let directory: ProviderName
    package var isDone: Bool
    package var attempts: Int
    package var retry = Retry()
    /// A call is being made by this process.
    ///
    /// Not stored.
    package var isBusy = false

    package init(directory: ProviderName) {
        self.directory = directory
        isDone = false
        attempts = 0
    }
}

extension LookupWork {
    mutating func begin() {
        isBusy = true
        attempts += 1
        retryAt = nil
    }

    /// Ends it with what was found, or without.
    mutating func end() {
        isDone = true
        isBusy = false
        retry = Retry()
    }

    mutating func record(_ failure: EffectFailure, _ context: inout StepContext) -> [RequestEffect]
    {
        isBusy = false
        lastFailure = failure.code
        guard failure != .misconfigured else {
            attempts -= 1
            return [.pauseProvider(directory)]
        }
        retry.fail(after: failure.retryAfter, &context)
        return []
    }

    /// Takes back a call that was not made.
    mutating func postpone(until: WallTime) {
        guard isBusy else { return }
        isBusy = false
        attempts -= 1
        retryAt = until
    }
}
