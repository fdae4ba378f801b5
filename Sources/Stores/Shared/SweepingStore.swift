import Engine
import Lifecycle

/// Goes through what a store has of one user, rule by rule.
protocol UserSweep {
    /// What one rule leads to, with the rule as its description.
    associatedtype Place: CustomStringConvertible

    var places: [Place] { get }

    /// Deletes what is not newer than the cutoff.
    ///
    /// - Throws: ``CallFailure``; what was deleted until then stays deleted.
    func remove(_ place: Place) async throws(CallFailure) -> PurgeCounts

    func preview(_ place: Place) async throws(CallFailure) -> [PlanItem]

    /// Counts what is left, by other calls than ``remove(_:)``.
    func remaining(_ place: Place) async throws(CallFailure) -> Leftover
}

/// A store that is worked on user by user, where one user can be a lot of work.
protocol SweepingStore: PurgeStore {
    associatedtype Sweep: UserSweep

    var clock: StoreClock { get }

    /// - Throws: ``CallFailure`` for an id whose data could not be told from another user's.
    func sweep(_ order: PurgeOrder) throws(CallFailure) -> Sweep
}

extension SweepingStore {
    var walk: PageWalk { PageWalk(clock: clock) }

    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await swept(orders) { _ in [] }
    }

    /// Deletes what is each user's, and notes what else the store keeps of them.
    func swept(
        _ orders: [PurgeOrder],
        _ residualCopies: (Sweep) async throws(CallFailure) -> [PurgeCounts.ResidualCopies]
    ) async -> [PurgeAnswer] {
        await answers(orders, PurgeAnswer.failure) { order throws(CallFailure) in
            guard !order.isStopped else { return .stopped }
            let sweep = try sweep(order)
            var counts = PurgeCounts()
            for place in sweep.places {
                let found = try await sweep.remove(place)
                counts.entries += found.entries
                for copies in found.residualCopies { counts.note(copies) }
            }
            for copies in try await residualCopies(sweep) { counts.note(copies) }
            return .done(counts)
        }
    }

    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await answers(orders, VerifyAnswer.failure) { order throws(CallFailure) in
            let sweep = try sweep(order)
            var left = Leftover()
            for place in sweep.places {
                left.add(try await sweep.remaining(place), at: "\(place)")
            }
            return left.answer
        }
    }

    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        await answers([order], PlanAnswer.failure) { order throws(CallFailure) in
            let sweep = try sweep(order)
            var items: [PlanItem] = []
            for place in sweep.places { items += try await sweep.preview(place) }
            return .items(items)
        }[0]
    }

    /// One answer per order; once the store is gone, refuses or is overloaded, the rest is not
    /// tried.
    private func answers<Answer>(
        _ orders: [PurgeOrder],
        _ failure: (EffectFailure) -> Answer,
        _ body: (PurgeOrder) async throws(CallFailure) -> Answer
    ) async -> [Answer] {
        var answers: [Answer] = []
        var halt: EffectFailure?
        for order in orders {
            if let halt {
                answers.append(failure(halt))
                continue
            }
            do throws(CallFailure) {
                answers.append(try await body(order))
            } catch {
                answers.append(failure(error.failure))
                if error.failure != .unusable { halt = error.failure }
            }
        }
        return answers
    }
}

/// What a sweep found of one user by one rule.
struct SweepCounter {
    var count = 0
    /// Newer than the cutoff.
    var newerCount = 0
    /// Of the count, those without a date where others have one.
    var undatedCount = 0
    /// Something is dated later than any date can be.
    var isAhead = false
    /// Counting stopped at a bound.
    var isCut = false

    /// The line of the receipt.
    func entry(_ rule: String, _ action: PlanItem.Action = .delete) -> PurgeCounts.Entry {
        .init(name: rule, action: .rule(action), rowCount: count, newerCount: newerCount)
    }
}

/// What a verification found of one user in a store that dates its objects itself.
struct Leftover: Sendable {
    /// What the purge should have taken.
    var count = 0
    /// Something is dated later than now, so the clock is behind that of the store.
    var isAhead = false
    /// The first place of such a thing, without the user's id.
    private(set) var place: String?

    /// Adds what was found at a place, as the configuration names it.
    mutating func add(_ found: Leftover, at place: String) {
        count += found.count
        if found.isAhead, !isAhead { (isAhead, self.place) = (true, place) }
    }

    var answer: VerifyAnswer {
        guard count == 0 else { return .remaining(count) }
        return isAhead ? .failure(.blocked(Obstacle(.future, at: place))) : .clean
    }
}

extension PlanItem {
    /// What a deletion will do, from a line that its receipt would have: delete, or pass over.
    init(deletion entry: PurgeCounts.Entry, hasNoTimestamps: Bool = false) {
        let reason = entry.passedOver?.text
        self.init(
            name: entry.name,
            action: reason == nil ? .delete : .keep,
            reason: reason,
            count: entry.rowCount,
            newerCount: entry.newerCount,
            hasNoTimestamps: hasNoTimestamps
        )
    }
}
