/// The plan of one request and who approved it.
///
/// It exists from the moment on that a request first needed an approval. The plan is made before
/// the first revocation and once more right before the purge begins, and again before each target
/// that had to wait since: only what is equal then runs.
package struct Approval: Hashable, Sendable, Retryable {
    /// An operator's word for one plan.
    package struct Given: Hashable, Sendable {
        /// ``PurgePlan/hash``.
        package let hash: String
        package let at: WallTime
        /// The operator's login uid.
        package let by: UInt32

        package init(hash: String, at: WallTime, by: UInt32) {
            self.hash = hash
            self.at = at
            self.by = by
        }
    }

    /// That parts of the plan are what would be done now.
    package struct Confirmation: Hashable, Sendable {
        package fileprivate(set) var targets: Set<TargetName>
        package let at: WallTime
    }

    /// The plan that was made last; `nil` while there is none or it no longer fits the request.
    package var plan: PurgePlan?
    /// The plan that was approved before, or the first that was shown; the difference to it is what
    /// operators have not read yet.
    package var earlier: PurgePlan?
    package var given: Given?
    /// The word of the first of two operators, where one is not enough; kept beside the second.
    package var first: Given?
    package var retry = Retry()
    /// The target that could not be asked then.
    package var failingTarget: TargetName?
    /// A plan is being made by this process.
    ///
    /// Not stored.
    package var isBusy = false
    /// The plan under way was begun before a reload: other targets and rules may be in force.
    ///
    /// Not stored.
    package var isStale = false
    /// The targets that the plan under way asks; the parts of the others are taken over.
    ///
    /// Not stored.
    package var asked: Set<TargetName> = []
    /// The parts that were compared last and are the approved ones, for the purges that follow at
    /// once.
    ///
    /// Not stored: after a restart they are compared again.
    package var confirmation: Confirmation?

    package init() {}

    /// Whether the plan that was made last is approved.
    package var isGiven: Bool { plan != nil && given?.hash == plan?.hash }

    /// The word that was given last.
    package var latest: Given? { given ?? first }

    /// The plan whose parts count for targets that are not asked again: the approved one, or the
    /// one that was.
    var basis: PurgePlan? { isGiven ? plan : earlier ?? plan }

    /// Whether a target's part was compared so short a time ago that its purge follows at once.
    func isConfirmed(_ target: TargetName?, at now: WallTime) -> Bool {
        guard let confirmation,
            (Duration.zero...Limits.comparisonLifetime).contains(now.since(confirmation.at))
        else { return false }
        return target.map(confirmation.targets.contains) ?? true
    }

    /// Other rules may be in force for what was compared, or is being compared.
    package mutating func expire() {
        isStale = isBusy
        confirmation = nil
    }

    /// The parts of targets that have to wait are to be compared again.
    mutating func unconfirm(where isWaiting: (TargetName) -> Bool) {
        guard let targets = confirmation?.targets, targets.contains(where: isWaiting) else {
            return
        }
        confirmation?.targets = targets.filter { !isWaiting($0) }
    }

    /// The plan no longer fits: what operators have read stays to be compared with.
    mutating func reset() {
        confirmation = nil
        if isGiven || earlier == nil { earlier = plan }
        plan = nil
        given = nil
        first = nil
    }

    mutating func retryNow() {
        retryAt = nil
        failures = 0
        // What was only shown so far may be out of date.
        if !isGiven { reset() }
    }

    /// Takes in a plan.
    ///
    /// - Returns: Whether it takes an approval away.
    mutating func adopt(_ made: PurgePlan, at now: WallTime) -> Bool {
        failures = 0
        lastFailure = nil
        failingTarget = nil
        guard made.hash != plan?.hash else {
            plan = made
            confirmation = isGiven ? Confirmation(targets: asked, at: now) : nil
            return false
        }
        let hadApproval = latest != nil
        reset()
        plan = made
        return hadApproval
    }

    mutating func fail(
        _ failure: EffectFailure,
        at target: TargetName,
        _ context: inout StepContext
    ) {
        lastFailure = failure.code
        failingTarget = target
        guard failure != .misconfigured else { return }
        retry.fail(after: failure.retryAfter, &context)
    }
}
