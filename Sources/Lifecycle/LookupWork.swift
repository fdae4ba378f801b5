/// Asking a directory which identities the user has, before every revocation.
///
/// Once the account at the directory is gone, nothing shows any more where it was linked.
package struct LookupWork: Hashable, Sendable, RequestWork {
    package let directory: ProviderName
    package var isDone = false
    package var attempts = 0
    package var retry = Retry()
    /// A call is under way in this process; not stored.
    package var isBusy = false

    package init(directory: ProviderName) { self.directory = directory }
}

extension LookupWork {
    mutating func begin() {
        isBusy = true
        attempts += 1
        retryAt = nil
    }

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
        retry.fail(after: failure, &context)
        return []
    }

    mutating func takeBackCall() {
        isBusy = false
        attempts -= 1
    }

    mutating func forgetFindings() {}
}
