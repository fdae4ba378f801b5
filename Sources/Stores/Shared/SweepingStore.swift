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

    /// - Throws: ``CallFailure`` for an id whose data could not be told from another user's.
    func sweep(_ order: PurgeOrder) throws(CallFailure) -> Sweep
}

extension SweepingStore {
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
