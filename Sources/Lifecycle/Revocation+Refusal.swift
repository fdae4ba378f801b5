extension Revocation {
    /// Counts a refusal that concerns one token alone.
    ///
    /// A token that cannot even be asked about is revoked without knowing more of it. One that may
    /// have rotated is not: a success would mean nothing.
    mutating func note(
        _ refusal: Refusal,
        at index: Int,
        mayRotate: Bool,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        let counted = RefusalCount.adding(
            refusal,
            to: credentials[index].refusals,
            at: context.now
        )
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

    /// Takes up what the provider refused before.
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
