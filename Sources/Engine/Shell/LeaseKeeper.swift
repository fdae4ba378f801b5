import Lifecycle
import Synchronization

/// What an engine needs where several hosts share one state.
package struct SharedState: Sendable {
    package let store: any PartitionedStore
    package let leases: any PartitionLeases
    /// A clock that never jumps and goes on while the machine sleeps.
    package let uptime: @Sendable () -> Duration

    package init(
        store: any PartitionedStore,
        leases: any PartitionLeases,
        uptime: @escaping @Sendable () -> Duration = MachineClocks.system.uptime
    ) {
        (self.store, self.leases, self.uptime) = (store, leases, uptime)
    }
}

/// Performs what ``Lifecycle/HostLeases`` decides, and tells the engine which partitions it owns.
final class LeaseKeeper: Sendable {
    private struct State {
        var machine: HostLeases
        /// The version of the rules that every owner obeys.
        var rulesSeenByAll: Int64 = 0
        /// The version that this host obeys.
        var rulesSeen: Int64
        var armedFor: Duration?
    }

    /// Between two checks whether every owner obeys the rules.
    private static let pollInterval = Duration.milliseconds(250)

    private let shared: SharedState
    private let state: Mutex<State>
    private let events: AsyncStream<LeaseEvent>
    private let sender: AsyncStream<LeaseEvent>.Continuation
    private let post: @Sendable (EngineInput) -> Void

    init(
        _ shared: SharedState,
        rulesSeen: Int64,
        post: @escaping @Sendable (EngineInput) -> Void
    ) {
        (self.shared, self.post) = (shared, post)
        let seed = UInt64.random(in: .min ... .max)
        state = Mutex(State(machine: HostLeases(seed: seed), rulesSeen: rulesSeen))
        (events, sender) = AsyncStream.makeStream(of: LeaseEvent.self)
    }

    /// Runs until cancelled, or until it has stopped.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await signal in self.shared.leases.signals {
                    switch signal {
                    case .mail: self.post(.mailed)
                    case .leases: self.send(.signaled)
                    }
                }
            }
            step(.due, in: &group)
            for await event in events { step(event, in: &group) }
            group.cancelAll()
        }
    }

    func send(_ event: LeaseEvent) { sender.yield(event) }

    /// The engine obeys the rules of this version: others may wait to hear of it.
    func obey(_ version: Int64) {
        let isNew = state.withLock { state in
            defer { state.rulesSeen = version }
            return state.rulesSeen != version
        }
        if isNew { send(.signaled) }
    }

    /// Whether an effect of all these may begin now.
    ///
    /// If not, the engine is told first what it has lost: an answer after that is a late one.
    func mayBegin(_ partitions: [Partition]) -> Bool {
        state.withLock { state in
            let uptime = shared.uptime()
            let isAllowed = partitions.allSatisfy { state.machine.mayBegin($0, at: uptime) }
            if !isAllowed { order(state.machine.expire(at: uptime)) }
            return isAllowed
        }
    }

    /// Returns when every owner obeys the rules as they are now.
    ///
    /// - Throws: The state's error, or `CancellationError`.
    func settleRules() async throws {
        let version = try await shared.store.rules().version
        while state.withLock({ $0.rulesSeenByAll }) < version {
            send(.signaled)
            try await BootClock.sleep(for: Self.pollInterval)
        }
    }

    private func step(_ event: LeaseEvent, in group: inout DiscardingTaskGroup) {
        let (effects, wake) = state.withLock { state in
            let uptime = shared.uptime()
            if let armed = state.armedFor, armed <= uptime { state.armedFor = nil }
            let effects = state.machine.handle(event, at: uptime)
            // In the lock: what is lost is told before anything that is found out later.
            order(effects)
            return (effects, wakeToArm(&state).map { $0 - uptime })
        }
        for effect in effects { perform(effect, in: &group) }
        guard let wake else { return }
        group.addTask {
            // Only cancellation ends a sleep early, and then nobody waits for the timer.
            do { try await BootClock.sleep(for: wake) } catch { return }
            self.send(.due)
        }
    }

    private func wakeToArm(_ state: inout State) -> Duration? {
        guard let wake = state.machine.wakeTime, state.armedFor.map({ wake < $0 }) ?? true else {
            return nil
        }
        state.armedFor = wake
        return wake
    }

    private func order(_ effects: [LeaseEffect]) {
        for effect in effects {
            switch effect {
            case .lost(let partitions): post(.lost(partitions))
            case .leave(let partitions): post(.leave(partitions))
            case .renew, .acquire, .release, .gained, .stopped: break
            }
        }
    }

    private func perform(_ effect: LeaseEffect, in group: inout DiscardingTaskGroup) {
        switch effect {
        case .renew(let claims):
            group.addTask { await self.answer { try await self.renew(claims) } }
        case .acquire(let partitions):
            group.addTask {
                await self.answer { .acquired(try await self.shared.leases.acquire(partitions)) }
            }
        case .release(let claims):
            group.addTask {
                await self.answer {
                    try await self.shared.leases.release(claims)
                    return .released
                }
            }
        case .gained(let claims):
            group.addTask { await self.begin(claims) }
        case .stopped:
            sender.finish()
        case .lost, .leave:
            break
        }
    }

    /// Whatever the error is: the lease lasts on, and the machine asks again in time.
    private func answer(_ call: () async throws -> LeaseEvent) async {
        do { send(try await call()) } catch { send(.failed) }
    }

    private func renew(_ claims: [PartitionClaim]) async throws -> LeaseEvent {
        let seen = state.withLock { $0.rulesSeen }
        var view = try await shared.leases.renew(claims, rulesSeen: seen)
        // What it takes it works on by the rules that it knows.
        if view.rulesVersion != seen { view.leases.free = .none }
        state.withLock { $0.rulesSeenByAll = view.rulesSeenByAll }
        post(
            .renewedLeases(
                rulesVersion: view.rulesVersion,
                purgesInLastHour: view.purgesInLastHour
            )
        )
        return .renewed(view.leases)
    }

    /// Reads where the last owner stopped; again until that succeeds or the lease has ended.
    private func begin(_ claims: [PartitionClaim]) async {
        while !Task.isCancelled {
            do {
                let starts = try await shared.store.start(of: claims)
                state.withLock { state in
                    let uptime = shared.uptime()
                    let held = starts.filter { state.machine.holds($0.claim, at: uptime) }
                    post(.gained(held))
                    let leaving = state.machine.leaving(of: held.map(\.claim))
                    if !leaving.isEmpty { post(.leave(leaving)) }
                }
                return
            } catch {
                let uptime = shared.uptime()
                guard state.withLock({ $0.machine.holds(claims[0], at: uptime) }) else { return }
            }
            // Only cancellation ends a sleep early.
            do { try await BootClock.sleep(for: RetryPolicy.lease.first) } catch { return }
        }
    }
}
