extension Revocation {
    /// A token that cannot be asked about is revoked all the same; one that may rotate is not.
    ///
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
        let counted = RefusalCount.adding(refusal, to: credentials[index].refusals, at: context.now)
        credentials[index].refusals = counted
        guard counted.count >= Limits.refusalsMax else {
            retry.fail(&context)
            return []
        }
        if credentials[index].step == .stored, !mayRotate {
            credentials[index].beginRevoking()
            credentials[index].refusals = nil
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
