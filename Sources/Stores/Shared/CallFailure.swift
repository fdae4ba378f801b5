import Lifecycle

/// Why a call of a remote store did not do its work; holds no name and no text of the server.
struct CallFailure: Error, Hashable {
    let failure: EffectFailure
    /// The answer was a 404: nothing is at that address, or what its path names is not there.
    let isNotFound: Bool
    /// The vendor's code, where there is one: a word of its documentation.
    let code: String?

    /// A store has no user whose token could be refused: what its interface rejects means nothing.
    init(_ failure: EffectFailure, isNotFound: Bool = false, code: String? = nil) {
        self.failure = failure == .rejected ? .unusable : failure
        (self.isNotFound, self.code) = (isNotFound, code)
    }

    /// Whether the server refuses some calls.
    ///
    /// - Throws: ``CallFailure`` when they fail for another reason.
    static func isRefused(
        _ calls: () async throws(CallFailure) -> Void
    ) async throws(CallFailure) -> Bool {
        do throws(CallFailure) {
            try await calls()
            return false
        } catch {
            guard error.failure == .misconfigured else { throw error }
            return true
        }
    }
}

extension EffectFailure {
    /// Whether every further call of a store would meet it.
    var isOfAll: Bool {
        switch self {
        case .unreachable, .throttled, .misconfigured: true
        case .lost, .unusable, .rejected, .refused, .refusesAll, .sealBroken, .vaultSealed,
            .keys, .blocked, .notConfigured:
            false
        }
    }
}
