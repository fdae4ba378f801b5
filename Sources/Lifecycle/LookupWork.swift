/// Asking a directory which identities the user has, within one request.
///
/// It comes before every revocation: once the account at the directory is gone, nobody can tell
/// any more where it was linked.
package struct LookupWork: Hashable, Sendable {
    /// The configured name of the directory; calls to it have a lane like those to a provider.
    package let directory: ProviderName
    package var isDone: Bool
    package var attempts: Int
    package var failures: Int
    package var retryAt: WallTime?
    /// ``EffectFailure/code`` of the last call that brought no answer.
    package var lastFailure: String?
    /// A call is being made by this process.
    ///
    /// Not stored.
    package var isBusy = false

    package init(directory: ProviderName) {
        self.directory = directory
        isDone = false
        attempts = 0
        failures = 0
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
        failures = 0
        retryAt = nil
        lastFailure = nil
    }

    mutating func record(_ failure: EffectFailure, _ context: inout StepContext) -> [RequestEffect]
    {
        isBusy = false
        lastFailure = failure.code
        switch failure {
        case .misconfigured:
            attempts -= 1
            return [.pauseProvider(directory)]
        case .throttled(let retryAfter):
            retry(after: retryAfter, &context)
        case .unreachable, .lost, .unusable, .rejected, .refused, .wrongEndpoint, .sealBroken,
            .vaultSealed, .keys, .blocked:
            retry(after: nil, &context)
        }
        return []
    }

    private mutating func retry(after hint: Duration?, _ context: inout StepContext) {
        failures += 1
        let delay = Backoff.delay(failures: failures, retryAfter: hint, random: &context.random)
        retryAt = context.now + delay
    }

    /// Takes back a call that was not made.
    mutating func postpone(until: WallTime) {
        guard isBusy else { return }
        isBusy = false
        attempts -= 1
        retryAt = until
    }

    mutating func retryNow() {
        retryAt = nil
        failures = 0
    }
}
