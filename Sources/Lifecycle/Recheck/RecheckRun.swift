/// What a decision of a ``RecheckRun`` reads.
struct RecheckContext {
    let now: WallTime
    var random: SeededGenerator
    let environment: RecheckEnvironment

    func store(_ name: StoreName) -> RecheckStore? { environment.store(name) }
}

/// One run through the stores that looks for data of erased users: a pure state machine.
///
/// ```
/// rechecks:  loading → rechecking → closing → loading … → ended
/// sample:    loading → listing → verifying → reopening → ended
/// drill:     learning → loading → listing → verifying → ended
/// replay:    checkingLedger → learning → findingOpen → restoring → loading → findingLate → listing
///            → findingBegun → checkingHolds → noting → purging → verifying → recording → … → ended
/// ```
///
/// A run makes one call at a time. ``handle(_:_:in:)`` records the answer and decides the next one.
/// A run that is lost in a crash is not continued: the next one finds what is left, since every
/// purge is noted before it is made.
package struct RecheckRun: Sendable {
    /// What a run is for.
    package enum Kind: Hashable, Sendable {
        case rechecks
        /// Looks for users who were erased long ago, from a position of the tombstones on.
        case sample(after: Int)
        case replay(ReplayTerms)
    }

    enum Step {
        case enter(RecheckPhase)
        /// The first phase of the agenda.
        case next
        case end(next: WallTime?)
    }

    package let kind: Kind
    package internal(set) var phase = RecheckPhase.idle
    package internal(set) var report = RecheckReport()
    var agenda: [RecheckPhase] = []
    var tombstones: [[UInt8]: Tombstone] = [:]
    /// The requests of which something was left and counted.
    var counted: [StoreName: Set<RequestID>] = [:]
    var findings: [RecheckFinding] = []
    package var retries: [StoreName: Retry] = [:]
    /// When a store was reported as overdue that has not answered since.
    var warnedAt: [StoreName: WallTime] = [:]
    var announcements: [RecheckAnnouncement] = []

    package init(_ kind: Kind) { self.kind = kind }

    /// Whether stores and state stay as they are; with a copy, a drill purges there.
    var isDrill: Bool { terms.isDrill }

    /// Where nothing is replayed: a drill of everything.
    var terms: ReplayTerms {
        if case .replay(let terms) = kind { return terms }
        var drill = ReplayTerms(since: .distantPast)
        drill.isDrill = true
        return drill
    }

    /// At most one of the effects is a call; none for an event that does not fit the phase.
    package mutating func handle(
        _ event: RecheckEvent,
        _ context: inout StepContext,
        in environment: RecheckEnvironment
    ) -> [RecheckEffect] {
        var decision = RecheckContext(
            now: context.now,
            random: context.random,
            environment: environment
        )
        defer { context.random = decision.random }
        if case .failed(let code) = event {
            guard phase != .idle, !phase.isEnded else { return [] }
            report = report.broken(code)
            agenda = []
            return end(next: nil, decision, isBroken: true)
        }
        guard let step = take(event, &decision) else { return [] }
        return advance(step, decision)
    }

    private mutating func advance(_ step: Step, _ context: RecheckContext) -> [RecheckEffect] {
        var next: RecheckPhase?
        switch step {
        case .enter(let phase): next = phase
        case .next: next = agenda.isEmpty ? nil : agenda.removeFirst()
        case .end(let time): return end(next: time, context)
        }
        while let entered = next {
            if let effect = effect(of: entered, context) {
                phase = entered
                return takeAnnouncements() + [effect]
            }
            next = agenda.isEmpty ? nil : agenda.removeFirst()
        }
        return end(next: nil, context)
    }

    private mutating func end(
        next: WallTime?,
        _ context: RecheckContext,
        isBroken: Bool = false
    ) -> [RecheckEffect] {
        phase = .ended(next: next)
        if case .sample = kind {
            announcements += report.stores.compactMap { store in
                store.error.map { .unsearched(store.name, $0) }
            }
        }
        if case .replay(let terms) = kind {
            if !isBroken, terms.restoredAt == nil { report.judgeNewer(context.environment) }
            announcements.append(.replayEnded(isComplete: report.isComplete, report.erasedCount))
        }
        return takeAnnouncements()
    }

    private mutating func takeAnnouncements() -> [RecheckEffect] {
        defer { announcements = [] }
        return announcements.map(RecheckEffect.announce)
    }
}

extension RecheckRun {
    /// `nil` for an event that does not fit the phase.
    private mutating func take(_ event: RecheckEvent, _ context: inout RecheckContext) -> Step? {
        switch (phase, event) {
        case (.idle, .begin), (.ended, .begin): return begin()
        case (.checkingLedger, .readAlarm(let alarm)):
            return alarm.map { stop($0) } ?? .enter(.learning)
        case (.learning, .learned(let isReadable)):
            return isReadable ? learned(context) : stop("checkpoint_file")
        case (.findingOpen(let names), .foundOpen(let found)):
            report.reopened = found.values.count { $0 }
            return .enter(.restoring(found.keys.sorted(), in: names))
        case (.restoring(let requests, let names), .restored):
            return .enter(.restoring(Array(requests.dropFirst(Self.restoredMax)), in: names))
        case (.openingCopy(let name, _), .openedCopy(let refusal)):
            return openedCopy(of: name, refusal)
        case (.checkingCopy(let name), .checkedCopy(let problem)):
            guard let problem else { return .enter(.loading(after: 0)) }
            report.change(name) {
                ($0.error, $0.detail) = (EffectFailure.misconfigured.code, problem)
            }
            return .next
        case (.loading(let position), .loaded(let page, let next)):
            return loaded(page, next, after: position, context)
        case (.loading, .loadedDue(let page)):
            guard !page.opened.isEmpty || !page.unopened.isEmpty else {
                return .end(next: page.next)
            }
            return goOn(RecheckGroup(page, at: context.now), context)
        case (.loading, .vaultSealed): return .end(next: nil)
        case (.findingLate(let known), .foundLate(let requests)):
            return foundLate(requests.compactMap { known[$0] }, &context)
        case (.listing(let name, let retry), .listed(let answer)):
            return listed(answer, in: name, retry, &context)
        case (.findingBegun(let name, let listed), .foundBegun(let begun)):
            return foundBegun(begun, in: name, besides: listed, context)
        case (.waiting(_, let then), .due):
            return .enter(then)
        default: return record(event, &context)
        }
    }

    /// What a run purges, verifies and records.
    private mutating func record(
        _ event: RecheckEvent,
        _ context: inout RecheckContext
    ) -> Step? {
        switch (phase, event) {
        case (.endingBegun(let name, let ended), .recorded):
            report.change(name) { store in
                store.found += ended.count
                store.erased += ended.count
            }
            return .next
        case (.checkingHolds(let batch), .readHolds(let holds, let users)):
            return checkHolds(batch, holds, users, &context)
        case (.noting(let batch), .noted(let known)):
            return .enter(.purging(batch.resuming(known)))
        case (.purging(let batch), .purged(let answers)):
            return .enter(.verifying(batch.noting(answers)))
        case (.verifying(let batch), .verified(let answers)):
            return verified(batch, answers, &context)
        case (.rechecking(let group), .verified(let answers)):
            return rechecked(group, answers, context)
        case (.recording(let batch, _), .recorded):
            return follow(batch, &context)
        case (.forgetting, .recorded): return .next
        case (.reopening(.sampled(let store)), .recorded): return announce(.sampled(store))
        case (.closing(let ended), .closed(let recorded)):
            let isFull = ended.count >= Limits.purgeBatchMax
            for ended in recorded { announcements.append(.rechecked(ended)) }
            guard isFull else { return .enter(.loading(after: 0)) }
            let until = context.now + Self.batchPause
            return .enter(.waiting(until: until, then: .loading(after: 0)))
        case (.reopening(.returned), .reopened(let recorded)):
            announcements += recorded.map { .reopened($0.0, $0.1) }
            report.returned = Set(findings.map(\.order.request))
            agenda += report.stores.filter { $0.found > 0 }.map { .reopening(.sampled($0)) }
            return .next
        default: return nil
        }
    }

    private mutating func announce(_ announcement: RecheckAnnouncement) -> Step {
        announcements.append(announcement)
        return .next
    }

    private mutating func begin() -> Step {
        switch kind {
        case .rechecks: return .enter(.loading(after: 0))
        case .sample(let position): return .enter(.loading(after: position))
        case .replay(let terms):
            announcements.append(.replayBegan(isDrill: terms.isDrill))
            // A state that disagrees with the ledger does not know who was erased, or is on hold.
            return .enter(terms.isDrill ? .learning : .checkingLedger)
        }
    }

    private mutating func stop(_ code: String) -> Step {
        report = report.broken(code)
        return .end(next: nil)
    }

    private mutating func learned(_ context: RecheckContext) -> Step {
        let names = context.environment.names(of: terms)
        if !terms.isDrill {
            let restored = Set(names).union(context.environment.dependents(of: Set(names)))
            agenda.append(.findingOpen(restored))
        }
        if let name = terms.store, let place = terms.copy {
            agenda.append(.openingCopy(name, place))
        } else {
            for name in names { report.change(name) { _ in } }
            agenda.append(.loading(after: 0))
        }
        return .next
    }

    private mutating func openedCopy(of name: StoreName, _ refusal: CopyRefusal?) -> Step {
        report.change(name) { store in
            (store.error, store.detail) = (refusal?.code, refusal?.detail)
        }
        return refusal == nil ? .enter(.checkingCopy(name)) : .next
    }

    private mutating func loaded(
        _ page: [Tombstone],
        _ next: Int,
        after position: Int,
        _ context: RecheckContext
    ) -> Step {
        report.position = next
        guard !page.isEmpty else {
            guard case .sample = kind, position > 0 else { return .end(next: nil) }
            // All were looked for: from the first on again.
            return .enter(.loading(after: 0))
        }
        // Of several lives of an account, or owners of a shared id, the last erasure counts.
        tombstones = Dictionary(page.map { ($0.hash, $0) }) {
            $0.erasedAt > $1.erasedAt ? $0 : $1
        }
        report.tombstones += page.count { !$0.isKey }
        if !isDrill {
            // An id may have been buried later than its user, whose cutoff counts.
            let known = Dictionary(page.map { ($0.request, $0) }) {
                $0.cutoff <= $1.cutoff ? $0 : $1
            }
            agenda.append(.findingLate(known))
        }
        agenda += context.environment.names(of: terms).map { .listing($0, Retry()) }
        if case .sample = kind {
            agenda.append(.reopening(.returned))
        } else {
            agenda.append(.loading(after: next))
        }
        return .next
    }
}
