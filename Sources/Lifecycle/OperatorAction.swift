/// What an operator asks of a request, with what the request itself does not know.
package enum OperatorAction: Hashable, Sendable {
    case cancel
    case retry
    case hold
    case approve
    /// Lifts the request's own hold; one on its user stops all of that user's requests.
    case release(isUserHeld: Bool, hasOwnHold: Bool)
    /// Ends the open revocations at one provider, or with `nil` every one.
    case abandon(ProviderName?, configured: Set<ProviderName>)
}

extension Request {
    /// Refuses what this request does not allow, before anything of the action is recorded.
    ///
    /// ``handle(_:_:in:)`` has the last word: the request may change until then.
    ///
    /// - Throws: ``OperationRefusal``.
    package func check(_ action: OperatorAction) throws(OperationRefusal) {
        guard !phase.isEnded else { throw .alreadyEnded }
        switch action {
        case .cancel, .retry, .hold, .approve: return
        case .release(let isUserHeld, let hasOwnHold):
            guard !isUserHeld || hasOwnHold else { throw .userOnHold }
        case .abandon(nil, _) where phase.parkReason == .withoutKeys: return
        case .abandon(let provider, let configured):
            if provider == nil, try !spelledOtherwise().isEmpty { return }
            // Whether it waits for an identity depends on the settings.
            if provider == nil, revocations.isEmpty { return }
            try checkAbandoning(provider, configured)
        }
    }

    private func checkAbandoning(
        _ provider: ProviderName?,
        _ configured: Set<ProviderName>
    ) throws(OperationRefusal) {
        let known = configured.union(revocations.map(\.provider))
        guard provider.map(known.contains) ?? true else { throw .unknownProvider }
        let open = revocations.filter { $0.verdict == nil }.map(\.provider)
        guard let stage = phase.stage, stage <= .revoking,
            provider.map(open.contains) ?? !open.isEmpty
        else { throw .nothingToAbandon }
        // The event ends all revocations of a request, so a provider must be the last.
        guard provider == nil || open.allSatisfy({ $0 == provider }) else { throw .providersOpen }
    }
}
