import Encoding
package import Engine
import HTTP
package import Lifecycle
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// The data behind an HTTP API, erased by the calls that the configuration describes.
package struct HTTPStore: UserListing {
    package let name: StoreName

    /// What is asked of the API.
    private let plan: HTTPKind
    private let caller: HTTPCaller
    /// Of the host that answers the steps of verification, mostly the same.
    private let verifier: HTTPCaller
    private let clock: StoreClock
    /// Of orders whose jobs go on.
    private let begun = BegunOrders()
    private let searches = CheckedSearches()

    /// Prepares the store; no connection is made yet.
    init(
        _ plan: HTTPKind,
        _ caller: HTTPCaller,
        verifier: HTTPCaller,
        _ environment: StoreEnvironment
    ) {
        (name, self.plan, clock) = (environment.name, plan, environment.clock)
        (self.caller, self.verifier) = (caller, verifier)
    }

    /// Makes the steps for each user; a job that goes on is asked for later.
    ///
    /// A server that was away when the store was checked is asked before the first of them.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        do throws(HTTPFailure) {
            try await checkSearches()
        } catch {
            return orders.map { _ in .failure(error.failure) }
        }
        return await ask(orders) { order throws(HTTPFailure) in
            order.isStopped ? .stopped : try await purge(order)
        } failed: {
            .failure($0)
        }
    }

    /// Counts what the steps of verification find; after a promise, only once its time has come.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await ask(orders) { order throws(HTTPFailure) in
            guard !plan.verify.isEmpty, !isPromised(order) else { return .notLookedFor }
            let left = try await run(order, by: verifier).count(plan.verify).reduce(0) {
                $0 + $1.count
            }
            return left == 0 ? .clean : .remaining(left)
        } failed: {
            .failure($0)
        }
    }

    /// Counts as a verification does.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        guard !plan.verify.isEmpty else { return .unknown }
        return await ask([order]) { order throws(HTTPFailure) in
            .items(
                try await run(order, by: verifier).count(plan.verify).map { step, count in
                    PlanItem(
                        name: step.name,
                        action: .delete,
                        count: count,
                        hasNoTimestamps: true
                    )
                }
            )
        } failed: {
            PlanAnswer.failure($0)
        }[0]
    }

    /// Goes through the list of users, where the configuration has one.
    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        guard let step = plan.users.first else {
            return .unknown("no [[store.users]] lists its users")
        }
        var found: Set<UserID> = []
        do throws(HTTPFailure) {
            var pages = HTTPPages(step, values("", request: "users"), caller)
            try await pages.forEach(pagesMax: HTTPPages.listPagesMax) { ids throws(HTTPFailure) in
                for user in ids.compactMap({ UserID($0) }) where isWanted(user) {
                    found.insert(user)
                }
                return true
            }
            return .found(Array(found))
        } catch {
            return .failure(error.failure)
        }
    }

    /// Makes the steps that only read for a user who does not exist: one that finds something does
    /// not ask for one user's data.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        var problems: [String] = []
        var (isWhole, isAway) = (true, false)
        for (steps, caller) in readingSteps {
            do throws(HTTPFailure) {
                problems += try await findings(
                    of: steps,
                    by: caller,
                    pagesMax: withOutages ? HTTPPages.userPagesMax : HTTPPages.startPagesMax
                )
            } catch {
                isWhole = false
                guard withOutages || error.failure == .misconfigured else { continue }
                // The same for each of them.
                isAway = isAway || error.failure == .unreachable
                let names = steps.map { "'\($0.name)'" }.joined(separator: ", ")
                problems.append("step \(names): \(error.cause)")
            }
        }
        if withOutages, isAway || readingSteps.isEmpty, let cause = await connectionFailure() {
            problems = [cause]
        }
        if isWhole, problems.isEmpty { searches.areChecked = true }
        return StoreFindings(problems: problems, advice: advice)
    }

    private func connectionFailure() async -> String? {
        guard let endpoint = caller.endpoints[.get] else { return nil }
        return await caller.remote.connectionFailure(endpoint).map { "no connection: \($0)" }
    }

    /// - Throws: ``HTTPFailure`` while it is not known that each search is one for one user's data.
    private func checkSearches() async throws(HTTPFailure) {
        guard !searches.areChecked else { return }
        for (steps, caller) in readingSteps {
            let found = try await findings(
                of: steps,
                by: caller,
                pagesMax: HTTPPages.userPagesMax
            )
            guard found.isEmpty else {
                throw HTTPFailure(.misconfigured, found.joined(separator: "; "))
            }
        }
        searches.areChecked = true
    }

    private var readingSteps: [(steps: [HTTPStep], caller: HTTPCaller)] {
        let lookups = plan.erase.filter {
            !$0.effect.changes && !$0.polls && $0.forEach == nil
        }
        let asked = lookups.map { (steps: [$0], caller: caller) }
        return asked + (plan.verify.isEmpty ? [] : [(steps: plan.verify, caller: verifier)])
    }

    /// One sentence for each step that finds something of a user who does not exist.
    private func findings(
        of steps: [HTTPStep],
        by caller: HTTPCaller,
        pagesMax: Int
    ) async throws(HTTPFailure) -> [String] {
        let id = plan.checkID ?? "expunged-check-" + String(clock.entropy(), radix: 16)
        var run = HTTPRun(caller: caller, values: values(id, request: id), now: clock.wall)
        run.pagesMax = pagesMax
        run.stopsAtFirst = true
        return try await run.count(steps).filter { $0.count > 0 }.map { step, _ in
            "step '\(step.name)' finds things of a user who does not exist: it would erase other"
                + " users' data"
        }
    }

    package func shutdown() async { await caller.remote.shutdown() }

    private var advice: [String] {
        guard !plan.verify.isEmpty else {
            return ["nothing verifies the erasure: the receipt says accepted"]
        }
        let isProven = plan.verify.contains { $0.effect == .proves }
        return plan.verify.filter { !isProven && !$0.gone.isEmpty && $0.goneIf.isEmpty }.map {
            "step '\($0.name)' takes a 404 of a wrong address for an erased user: add gone_if, or a"
                + " step with effect = \"proves\""
        }
    }

    // MARK: One order

    private func purge(_ order: PurgeOrder) async throws(HTTPFailure) -> PurgeAnswer {
        let key = BegunOrders.Key(order)
        var progress = begun.progress(of: key)
        do throws(HTTPFailure) {
            let outcome = try await run(order, by: caller).erase(plan.erase, &progress) {
                order.isOutdated
            }
            switch outcome {
            case .done:
                begun.end(key)
                return .done(progress.counts)
            case .outdated:
                // The new configuration starts from the beginning.
                begun.end(key)
                return .halted(progress.counts)
            case .waiting(let pause):
                begun.keep(progress, of: key)
                return .failure(.throttled(retryAfter: pause))
            }
        } catch {
            // What was found before may have changed, unless a job is all that is waited for.
            let isWaiting =
                plan.erase.indices.contains(progress.doneCount)
                && plan.erase[progress.doneCount].polls
            if isWaiting { begun.keep(progress, of: key) } else { begun.end(key) }
            throw error
        }
    }

    private func run(_ order: PurgeOrder, by caller: HTTPCaller) -> HTTPRun {
        let parts = [order.request.description, order.partitionKey, order.attempt]
        let request = parts.compactMap(\.self).joined(separator: ".")
        let values = values(order.user.exposeText(), request: request)
        return HTTPRun(caller: caller, values: values, now: clock.wall)
    }

    private func values(_ user: String, request: String) -> HTTPValues {
        HTTPValues(user: user, request: request, constants: plan.constants)
    }

    /// A completed deletion whose promise is still open.
    private func isPromised(_ order: PurgeOrder) -> Bool {
        guard let promised = plan.erase.compactMap(\.promised).max(),
            let erasedAt = order.erasedAt
        else { return false }
        return clock.wall() < erasedAt + promised
    }

    /// Works on a few orders at a time; once the server is gone, refuses or is overloaded, the rest
    /// is not tried.
    private func ask<Answer: Sendable>(
        _ orders: [PurgeOrder],
        _ body: @escaping @Sendable (PurgeOrder) async throws(HTTPFailure) -> Answer,
        failed: @escaping @Sendable (EffectFailure) -> Answer
    ) async -> [Answer] {
        let halt = Halt()
        return await OrderPool.map(orders, width: 4) { order in
            if let failure = halt.failure { return failed(failure) }
            do throws(HTTPFailure) {
                return try await body(order)
            } catch {
                halt.note(error.failure)
                return failed(error.failure)
            }
        }
    }
}

/// Whether every search was seen to find nothing of a user who does not exist.
private final class CheckedSearches: Sendable {
    private let state = Mutex(false)

    var areChecked: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// What is known of orders that are not finished, so that a job is not started again while it runs.
///
/// A restart forgets it: each step may be repeated, or says what to look for before.
private final class BegunOrders: Sendable {
    struct Key: Hashable {
        let request: RequestID
        let partitionKey: String?
        let attempt: String?
        let user: UserID

        init(_ order: PurgeOrder) {
            (request, partitionKey) = (order.request, order.partitionKey)
            (attempt, user) = (order.attempt, order.user)
        }
    }

    /// Beyond it, steps are repeated.
    private static let countMax = 4096

    private let orders = Mutex<[Key: HTTPProgress]>([:])

    func progress(of key: Key) -> HTTPProgress {
        orders.withLock { $0[key] ?? HTTPProgress() }
    }

    func keep(_ progress: HTTPProgress, of key: Key) {
        orders.withLock { orders in
            if orders.count >= Self.countMax { orders.removeAll() }
            orders[key] = progress
        }
    }

    func end(_ key: Key) { orders.withLock { _ = $0.removeValue(forKey: key) } }
}
