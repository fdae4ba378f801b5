extension Revocation {
    /// A token that cannot be asked about is revoked all the same; one that may rotate is not.
    mutating func note(
        _ refusal: Refusal,
        at index: Int,
        mayRotate: Bool,
        _ context: inout StepContext
    ) -> [RequestEffect] {
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
