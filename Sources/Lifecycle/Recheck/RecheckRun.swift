/// One run through the stores that looks for data of erased users: a pure state machine.
///
/// ```
/// rechecks:  loading → verifying → closing → loading … → ended
/// sample:    loading → listing → verifying → reopening → ended
/// drill:     learning → loading → listing → verifying → ended
/// replay:    learning → findingOpen → restoring → loading → findingLate → listing → findingBegun
///            → checkingHolds → noting → purging → verifying → recording → … → ended
/// ```
///
/// A run makes one call at a time. ``handle(_:_:in:)`` records the answer and decides the next one.
/// A run that is lost in a crash is not continued: the next one finds what is left, since every
/// purge is noted before it is made.
package struct RecheckRun: Sendable {
    /// What a run is for.
    package enum Kind: Hashable, Sendable {
        /// Verifies the deletions whose recheck is due.
        case rechecks
        /// Looks for users who were erased long ago, from a position of the tombstones on.
        case sample(after: Int)
        /// Erases again what was erased, or only looks for it in a drill.
        case replay(ReplayTerms)
    }

    package let kind: Kind
    package internal(set) var phase = RecheckPhase.idle
    package internal(set) var report = RecheckReport()
    /// What comes after the present phase, in order.
    var agenda: [RecheckPhase] = []
    /// The tombstones of the page, by hash.
    var tombstones: [[UInt8]: Tombstone] = [:]
    /// The requests of which something was left and counted.
    var counted: [TargetName: Set<RequestID>] = [:]
    var findings: [RecheckFinding] = []
    package var retries: [TargetName: Retry] = [:]
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
        if case .failed(let code) = event {
            guard phase != .idle, !phase.isEnded else { return [] }
            report.change(TargetName("state")) { $0.error = code }
            agenda = []
            return end(next: nil, environment, isBroken: true)
        }
        guard let step = take(event, &context, environment) else { return [] }
        return advance(step, context.now, environment)
    }

    /// Enters phases until one of them needs a call.
    private mutating func advance(
        _ step: Step,
        _ now: WallTime,
        _ environment: RecheckEnvironment
    ) -> [RecheckEffect] {
        var next: RecheckPhase?
        switch step {
        case .enter(let phase): next = phase
        case .next: next = agenda.isEmpty ? nil : agenda.removeFirst()
        case .end(let time): return end(next: time, environment)
        }
        while let entered = next {
            if let effect = effect(of: entered, now, environment) {
                phase = entered
                return takeAnnouncements() + [effect]
            }
            next = agenda.isEmpty ? nil : agenda.removeFirst()
        }
        return end(next: nil, environment)
    }

    private mutating func end(
        next: WallTime?,
        _ environment: RecheckEnvironment,
        isBroken: Bool = false
    ) -> [RecheckEffect] {
        phase = .ended(next: next)
        if case .sample = kind {
            announcements += report.stores.compactMap { store in
                store.error.map { .unsearched(store.name, $0) }
            }
        }
        if case .replay(let terms) = kind {
            if !isBroken, terms.restoredAt == nil { report.judgeNewer(environment) }
            announcements.append(.replayEnded(isComplete: report.isComplete, report.erasedCount))
        }
        return takeAnnouncements()
    }

    private mutating func takeAnnouncements() -> [RecheckEffect] {
        defer { announcements = [] }
        return announcements.map(RecheckEffect.announce)
    }
}

/// What an answer leads to.
enum Step {
    case enter(RecheckPhase)
    /// The first phase of the agenda.
    case next
    case end(next: WallTime?)
}

extension RecheckRun {
    /// `nil` for an event that does not fit the phase.
    private mutating func take(
        _ event: RecheckEvent,
        _ context: inout StepContext,
        _ environment: RecheckEnvironment
    ) -> Step? {
        switch (phase, event) {
        case (.idle, .begin), (.ended, .begin): return begin(environment)
        case (.learning, .learned(let alarm)): return learned(alarm, environment)
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
            return loaded(page, next, after: position, environment)
        case (.loading, .loadedDue(let page)):
            guard !page.opened.isEmpty || !page.unopened.isEmpty else {
                return .end(next: page.next)
            }
            return goOn(RecheckLooks(page, at: context.now), context.now, environment)
        case (.findingLate(let known), .foundLate(let requests)):
            return foundLate(requests.compactMap { known[$0] }, &context, environment)
        case (.listing(let name, let tries), .listed(let answer)):
            return listed(answer, in: name, tries, &context, environment)
        case (.findingBegun(let name, let listed), .foundBegun(let begun)):
            return foundBegun(begun, in: name, besides: listed, environment)
        case (.waiting(_, let then), .due):
            return .enter(then)
        case (.endingBegun(let name, let ended), .recorded):
            report.change(name) { store in
                store.found += ended.count
                store.erased += ended.count
            }
            return .next
        case (.checkingHolds(let batch), .readHolds(let holds, let users)):
            return checkHolds(batch, holds, users, &context, environment)
        case (.noting(let batch), .noted(let known)):
            return .enter(.purging(batch.resuming(known)))
        case (.purging(let batch), .purged(let answers)):
            return .enter(.verifying(batch.noting(answers)))
        case (.verifying(let batch), .verified(let answers)):
            return verified(batch, answers, &context, environment)
        case (.looking(let looks), .verified(let answers)):
            return looked(looks, answers, context.now, environment)
        case (.recording(let batch, _), .recorded):
            return follow(batch, &context, environment)
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
            agenda += report.stores.filter { $0.found > 0 }.map { .reopening(.sampled($0)) }
            return .next
        default: return nil
        }
    }

    private mutating func announce(_ announcement: RecheckAnnouncement) -> Step {
        announcements.append(announcement)
        return .next
    }

    private mutating func begin(_ environment: RecheckEnvironment) -> Step {
        switch kind {
        case .rechecks, .sample: return .enter(.loading(after: startPosition))
        case .replay(let terms):
            announcements.append(.replayBegan(isDrill: terms.isDrill))
            return .enter(.learning)
        }
    }

    private var startPosition: Int { if case .sample(let position) = kind { position } else { 0 } }

    private mutating func learned(_ alarm: String?, _ environment: RecheckEnvironment) -> Step {
        if let alarm {
            report.change(TargetName("state")) { $0.error = alarm }
            return .end(next: nil)
        }
        let names = environment.names(of: terms)
        if !terms.isDrill {
            let restored = Set(names).union(environment.dependents(of: Set(names)))
            agenda.append(.findingOpen(restored))
        }
        if let name = terms.target, let place = terms.copy {
            agenda.append(.openingCopy(name, place))
        } else {
            for name in names { report.change(name) { _ in } }
            agenda.append(.loading(after: 0))
        }
        return .next
    }

    private mutating func openedCopy(of name: TargetName, _ refusal: CopyRefusal?) -> Step {
        report.change(name) { store in
            (store.error, store.detail) = (refusal?.code, refusal?.detail)
        }
        return refusal == nil ? .enter(.checkingCopy(name)) : .next
    }

    private mutating func loaded(
        _ page: [Tombstone],
        _ next: Int,
        after position: Int,
        _ environment: RecheckEnvironment
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
        agenda += environment.names(of: terms).map { .listing($0, tries: 1) }
        if case .sample = kind {
            agenda.append(.reopening(.returned))
        } else {
            agenda.append(.loading(after: next))
        }
        return .next
    }
}
