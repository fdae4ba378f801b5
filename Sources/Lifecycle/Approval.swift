/// The plan of one request and who approved it.
///
/// It exists from the moment on that a request first needed an approval. The plan is made before
/// the first revocation and once more right before the purge begins, and again before each store
/// that had to wait since: only what is equal then runs.
package struct Approval: Hashable, Sendable, Codable, RequestWork {
    /// An operator's word for one plan.
    package struct Given: Hashable, Sendable, Codable {
        package let hash: String
        package let at: WallTime
        /// The operator's login uid.
        package let by: UInt32

        package init(hash: String, at: WallTime, by: UInt32) {
            (self.hash, self.at, self.by) = (hash, at, by)
        }
    }

    /// Where the plan that was made last stands.
    package enum State: Hashable, Sendable, Codable {
        /// There is none, or it no longer fits the request.
        case unplanned
        /// It waits for an operator; with the word of the first where it takes two.
        case shown(PurgePlan, first: Given?)
        case approved(PurgePlan, by: Given, first: Given?)
    }

    /// Whether this process makes a plan.
    package enum Planning: Hashable, Sendable {
        case idle
        /// The parts of stores that are not asked are taken over.
        ///
        /// Stale after a reload: other stores and rules may be in force.
        case underWay(asked: Set<StoreName>, isStale: Bool)
    }

    /// That parts of the plan are what would be done now.
    package struct Confirmation: Hashable, Sendable {
        package fileprivate(set) var stores: Set<StoreName>
        package let at: WallTime
    }

    package var state = State.unplanned
    /// The plan that was approved before, or the first that was shown; the difference to it is what
    /// operators have not read yet.
    package var earlier: PurgePlan?
    package var retry = Retry()
    /// The store that could not be asked then.
    package var failingStore: StoreName?
    /// Not stored.
    package var planning = Planning.idle
    /// The parts that were compared last and are the approved ones, for the purges that follow at
    /// once.
    ///
    /// Not stored: after a restart they are compared again.
    package var confirmation: Confirmation?

    private enum CodingKeys: String, CodingKey { case state, earlier, retry, failingStore }

    package init() {}

    package var plan: PurgePlan? {
        switch state {
        case .unplanned: nil
        case .shown(let plan, _), .approved(let plan, _, _): plan
        }
    }

    package var given: Given? { if case .approved(_, let given, _) = state { given } else { nil } }

    /// The word of the first of two operators, where one is not enough.
    package var first: Given? {
        switch state {
        case .unplanned: nil
        case .shown(_, let first), .approved(_, _, let first): first
        }
    }

    package var isGiven: Bool { given != nil }

    package var latest: Given? { given ?? first }

    package var isBusy: Bool { planning != .idle }

    /// The plan whose parts count for stores that are not asked again: the approved one, or the
    /// one that was.
    var basis: PurgePlan? { isGiven ? plan : earlier ?? plan }

    var asked: Set<StoreName> {
        if case .underWay(let asked, _) = planning { asked } else { [] }
    }

    /// Whether a store's part was compared so short a time ago that its purge follows at once.
    func isConfirmed(_ store: StoreName?, at now: WallTime) -> Bool {
        guard let confirmation,
            (Duration.zero...Limits.comparisonLifetime).contains(now.since(confirmation.at))
        else { return false }
        return store.map(confirmation.stores.contains) ?? true
    }

    /// Other rules may be in force for what was compared, or is being compared.
    package mutating func expire() {
        if isBusy { planning = .underWay(asked: asked, isStale: true) }
        confirmation = nil
    }

    /// The parts of stores that have to wait are to be compared again.
    mutating func unconfirm(where isWaiting: (StoreName) -> Bool) {
        guard let stores = confirmation?.stores, stores.contains(where: isWaiting) else {
            return
        }
        confirmation?.stores = stores.filter { !isWaiting($0) }
    }

    /// The plan no longer fits: what operators have read stays to be compared with.
    mutating func reset() {
        confirmation = nil
        if isGiven || earlier == nil { earlier = plan }
        state = .unplanned
    }

    mutating func takeBackCall() { planning = .idle }

    /// A plan that was only shown so far may be out of date.
    mutating func forgetFindings() { if !isGiven { reset() } }

    mutating func begin(asking stores: Set<StoreName>) {
        planning = .underWay(asked: stores, isStale: false)
        retryAt = nil
    }

    /// Takes in a plan that was made of these stores' answers.
    ///
    /// - Returns: Whether it takes an approval away.
    mutating func adopt(_ made: PurgePlan, of asked: Set<StoreName>, at now: WallTime) -> Bool {
        failures = 0
        lastFailure = nil
        failingStore = nil
        let before = state
        switch before {
        case .approved(let plan, let given, let first) where plan.hash == made.hash:
            state = .approved(made, by: given, first: first)
            confirmation = Confirmation(stores: asked, at: now)
            return false
        case .shown(let plan, let first) where plan.hash == made.hash:
            state = .shown(made, first: first)
            confirmation = nil
            return false
        case .unplanned, .shown, .approved:
            let hadApproval = latest != nil
            reset()
            state = .shown(made, first: nil)
            return hadApproval
        }
    }

    mutating func fail(
        _ failure: EffectFailure,
        at store: StoreName,
        _ context: inout StepContext
    ) {
        lastFailure = failure.code
        failingStore = store
        guard failure != .misconfigured else { return }
        retry.fail(after: failure, &context)
    }
}
