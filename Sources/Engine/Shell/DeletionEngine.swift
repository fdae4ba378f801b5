package import Lifecycle
import Synchronization

/// Everything that the engine needs from outside.
package struct EnginePorts: Sendable {
    package let store: any StateStore
    package let vault: any CredentialVault
    package let hasher: any KeyedHasher
    package let observer: any EngineObserver
    package let clock: any EngineClock
    /// Random bytes that bind a sealed value to its row.
    package let makeRowNonce: @Sendable () -> [UInt8]
    /// `nil` when completed deletions are not looked at again.
    package let rechecks: (any RecheckOpener)?
    package let spool: (any SpoolReader)?

    package init(
        store: any StateStore,
        vault: any CredentialVault,
        hasher: any KeyedHasher,
        observer: any EngineObserver,
        clock: any EngineClock,
        makeRowNonce: @escaping @Sendable () -> [UInt8],
        rechecks: (any RecheckOpener)? = nil,
        spool: (any SpoolReader)? = nil
    ) {
        self.store = store
        self.vault = vault
        self.hasher = hasher
        self.observer = observer
        self.clock = clock
        self.makeRowNonce = makeRowNonce
        self.rechecks = rechecks
        self.spool = spool
    }
}

/// The adapters that calls go to; replaced as a whole by a reload.
package struct EngineAdapters: Sendable {
    package let providers: [ProviderName: any IdentityProvider]
    package let targets: [TargetName: any PurgeTarget]
    package let directory: (any IdentityDirectory)?
    /// What the configuration says about what is purged of each target; part of a plan.
    package let rules: [TargetName: [PurgePlan.Rule]]

    package init(
        providers: [ProviderName: any IdentityProvider],
        targets: [TargetName: any PurgeTarget],
        directory: (any IdentityDirectory)? = nil,
        rules: [TargetName: [PurgePlan.Rule]] = [:]
    ) {
        self.providers = providers
        self.targets = targets
        self.directory = directory
        self.rules = rules
    }
}

/// Performs what ``EngineCore`` decides, and tells it what happened.
///
/// One loop owns the decisions; calls run as child tasks of ``run()``, so that cancelling it ends
/// them all. It throws when the store's truth is unknown: the process must then exit and read it
/// again.
package final class DeletionEngine: Sendable {
    let ports: EnginePorts
    private let core: Mutex<EngineCore>
    let adapters: Mutex<EngineAdapters>
    /// One for each `reconfigured` that the loop has not taken yet.
    private let arriving = Mutex<[EngineAdapters]>([])
    private let mailbox = EngineMailbox()
    private let waiters = Mutex(Waiters())
    let opener: CredentialOpener

    private struct Waiters {
        var lastNumber: UInt64 = 0
        var hasEnded = false
        var byNumber: [UInt64: CheckedContinuation<OperationOutcome, Never>] = [:]
    }

    package init(core: EngineCore, ports: EnginePorts, adapters: EngineAdapters) {
        self.ports = ports
        self.core = Mutex(core)
        self.adapters = Mutex(adapters)
        opener = CredentialOpener(
            vault: ports.vault,
            hasher: ports.hasher,
            makeRowNonce: ports.makeRowNonce
        )
    }

    /// Runs until cancelled or until the store fails.
    ///
    /// - Throws: The store's error, or `CancellationError`.
    package func run() async throws {
        defer { giveUpWaiters() }
        try await withThrowingDiscardingTaskGroup { group in
            var timers = ArmedTimers()
            turn(in: &group, timers: &timers)
            for await _ in mailbox.signals {
                turn(in: &group, timers: &timers)
            }
            group.cancelAll()
        }
    }

    /// Its failure ends the loop: a child's failure alone would only cancel the others.
    private func add(
        to group: inout ThrowingDiscardingTaskGroup<any Error>,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        group.addTask {
            do {
                try await body()
            } catch {
                self.mailbox.close()
                throw error
            }
        }
    }

    private func giveUpWaiters() {
        let waiting = waiters.withLock { waiters in
            waiters.hasEnded = true
            defer { waiters.byNumber.removeAll() }
            return waiters.byNumber.values
        }
        for waiter in waiting { waiter.resume(returning: .notOpen) }
    }

    package func post(_ input: EngineInput) { mailbox.post(input) }

    /// Says that requests are about to be accepted; ends with ``EngineInput/admitted(_:by:)``.
    package func beginAdmission() -> ReadNumber { core.withLock { $0.beginAdmission() } }

    /// Returns once it is durable; after a hold no purge of it begins.
    package func operate(_ id: RequestID, _ event: RequestEvent) async -> OperationOutcome {
        await ticketed { .operate(id, event, $0) }
    }

    package func place(_ hold: TargetHold) async -> OperationOutcome {
        await ticketed { .placeHold(hold, $0) }
    }

    package func liftHold(_ name: String, by uid: UInt32) async -> OperationOutcome {
        await ticketed { .liftHold(name, by: uid, $0) }
    }

    package func probe() async { _ = await ticketed { .probe($0) } }

    /// Returns when the store has taken over every jump of the clock.
    package func settleClock() async { _ = await ticketed { .clockSettled($0) } }

    /// Calls under way end with the old adapters; the core hears of it when they change.
    package func reconfigure(_ configuration: EngineConfiguration, adapters: EngineAdapters) {
        arriving.withLock {
            $0.append(adapters)
            post(.reconfigured(configuration))
        }
    }

    package func inspect<R: Sendable>(_ body: (borrowing EngineCore) -> R) -> R {
        core.withLock { body($0) }
    }

    func ticketed(_ input: (Ticket) -> EngineInput) async -> OperationOutcome {
        await withCheckedContinuation { continuation in
            let registered = waiters.withLock { waiters -> UInt64? in
                guard !waiters.hasEnded else { return nil }
                waiters.lastNumber += 1
                waiters.byNumber[waiters.lastNumber] = continuation
                return waiters.lastNumber
            }
            guard let number = registered else {
                continuation.resume(returning: .notOpen)
                return
            }
            mailbox.post(input(Ticket(number: number)))
        }
    }
}

// MARK: - The loop

extension DeletionEngine {
    private func turn(
        in group: inout ThrowingDiscardingTaskGroup<any Error>,
        timers: inout ArmedTimers
    ) {
        let now = ports.clock.now()
        let inputs = mailbox.takeAll()
        let (actions, wake) = core.withLock { core in
            // What was answered before a jump of the clock was asked with times of before.
            for input in inputs where input.isClockStep { core.handle(input, at: now) }
            for input in inputs where !input.isClockStep { core.handle(input, at: now) }
            let actions = core.takeActions(at: now)
            return (actions, core.wakeTime(after: now))
        }
        adopt(inputs.count { if case .reconfigured = $0 { true } else { false } })
        for action in actions { perform(action, in: &group) }
        guard let wake, timers.arm(wake, at: now, stepCount: ports.clock.stepCount) else { return }
        group.addTask {
            do {
                try await self.ports.clock.sleep(until: wake)
            } catch {
                // Only cancellation ends a sleep early, and then nobody waits for the timer.
                return
            }
            self.post(.timer)
        }
    }

    private func adopt(_ count: Int) {
        guard count > 0 else { return }
        let latest = arriving.withLock { waiting in
            defer { waiting.removeFirst(count) }
            return waiting[count - 1]
        }
        adapters.withLock { $0 = latest }
    }

    private func perform(
        _ action: EngineAction,
        in group: inout ThrowingDiscardingTaskGroup<any Error>
    ) {
        switch action {
        case .commit(let changes):
            let erasures = erasures(in: changes)
            add(to: &group) { try await self.commit(changes + self.openRechecks(of: erasures)) }
        case .fetchDue(let read, let limit, let excluded, let laneLimits):
            add(to: &group) {
                let due = try await self.ports.store.dueRequests(
                    at: self.ports.clock.now(),
                    limit: limit,
                    excluding: excluded,
                    laneLimits: laneLimits
                )
                self.post(.fetched(read, due, limit: limit))
            }
        case .load(let read, let ids):
            add(to: &group) {
                let requests = try await self.ports.store.openRequests(ids)
                self.post(.loaded(read, requests, asked: ids))
            }
        case .readSpool:
            group.addTask {
                self.post(.spoolRead(await self.ports.spool?.readToEnd() ?? .read))
            }
        case .call(let id, let effect, let provider, let sealed):
            add(to: &group) { try await self.call(id, effect, provider, sealed) }
        case .lookUp(let id, let name, let user, let known):
            group.addTask { await self.lookUp(id, at: name, user, known) }
        case .exchange(let loaded):
            group.addTask { await self.exchange(loaded) }
        case .plan(let order):
            let planner = adapters.withLock { $0.planner(ports.hasher) }
            group.addTask {
                self.post(.planned(order.order.request, await planner.make(order)))
            }
        case .findRenewals(let providers, let limit):
            add(to: &group) {
                let due = try await self.ports.store.dueRenewals(
                    of: providers,
                    at: self.ports.clock.now(),
                    limit: limit
                )
                self.post(.renewalsFound(due))
            }
        case .renew(let sealed):
            add(to: &group) { try await self.renew(sealed) }
        case .purge(let target, let orders):
            let found = adapters.withLock { $0.targets[target] }
            group.addTask { await self.purge(found, target, orders) }
        case .stop(let gate, let requests):
            gate.close(for: requests)
        case .retire(let gate):
            gate.retire()
        case .verify(let target, let orders):
            group.addTask { await self.verify(target, orders) }
        case .reply(let ticket, let outcome):
            waiters.withLock { $0.byNumber.removeValue(forKey: ticket.number) }?.resume(
                returning: outcome
            )
        case .changed(let request):
            ports.observer.changed(request)
        case .announce(let id, let announcement):
            ports.observer.announced(announcement, of: id)
        case .report(let report):
            ports.observer.reported(report)
        }
    }

    private func commit(_ changes: [StateChange]) async throws {
        post(.committed(try await ports.clock.persist { try await ports.store.commit(changes) }))
    }
}

// MARK: - Calls

extension DeletionEngine {
    private func call(
        _ id: RequestID,
        _ effect: RequestEffect,
        _ name: ProviderName,
        _ sealed: SealedCredential
    ) async throws {
        let provider = adapters.withLock { $0.providers[name] }
        let service = RotationService(ports, opener, of: sealed) { self.post(.update($0)) }
        switch effect {
        case .check(let identity, let credential):
            let answer = await ask(provider, sealed, service.keeper) { await $0.check($1) }
            post(.answered(id, .checked(identity, credential, answer), name, answer.failure))
        case .revoke(let identity, let credential):
            let answer = await ask(provider, sealed, service.keeper) { await $0.revoke($1) }
            post(.answered(id, .revoked(identity, credential, answer), name, answer.failure))
        case .confirm(let identity, let credential):
            let answer = await ask(provider, sealed, service.keeper) { await $0.check($1) }
            post(.answered(id, .confirmed(identity, credential, answer), name, answer.failure))
        case .lookUp, .plan, .purge, .verify, .pauseProvider, .pauseTarget, .announce:
            preconditionFailure("only provider effects are calls")
        }
        try service.check()
    }

    private func ask<Answer: EffectAnswer>(
        _ provider: (any IdentityProvider)?,
        _ sealed: SealedCredential,
        _ keeper: TokenKeeper? = nil,
        _ body: (any IdentityProvider, OpenCredential) async -> Answer
    ) async -> Answer {
        guard let provider else { return .failure(.misconfigured) }
        do {
            var credential = try opener.open(sealed)
            credential.keeper = keeper
            let began = ContinuousClock.now
            let answer = await body(provider, credential)
            report(provider.name, answer.failure, since: began)
            return answer
        } catch {
            return .failure(error.failure)
        }
    }

    func report(
        _ provider: ProviderName,
        _ failure: EffectFailure?,
        since began: ContinuousClock.Instant
    ) {
        let duration = ContinuousClock.now - began
        ports.observer.reported(.called(provider, failure, duration: duration))
    }

    private func renew(_ sealed: SealedCredential) async throws {
        let provider = adapters.withLock { $0.providers[sealed.provider] }
        let service = RotationService(ports, opener, of: sealed) { self.post(.update($0)) }
        let answer = await ask(provider, sealed, service.keeper) { await $0.renew($1) }
        post(.renewed(sealed.id, answer))
        try service.check()
    }

    private func exchange(_ loaded: LoadedExchange) async {
        let name = loaded.exchange.provider
        let provider = adapters.withLock { $0.providers[name] }
        let answer = await ask(provider, loaded.credential) { await $0.exchange($1) }
        post(.exchanged(loaded.exchange.credential, result(of: answer, for: loaded)))
    }

    private func result(of answer: ExchangeAnswer, for loaded: LoadedExchange) -> ExchangeResult {
        switch answer {
        case .exchanged(let tokens):
            do {
                return try opener.seal(tokens, from: loaded.credential, at: ports.clock.now())
            } catch {
                return ExchangeResult(event: .failure(.sealBroken))
            }
        case .refused:
            return ExchangeResult(event: .refused)
        case .failure(let failure):
            return ExchangeResult(event: .failure(failure))
        }
    }

    private func purge(
        _ target: (any PurgeTarget)?,
        _ name: TargetName,
        _ orders: [PurgeOrder]
    ) async {
        let began = ContinuousClock.now
        let answers = await target?.purge(orders) ?? orders.map { _ in .failure(.misconfigured) }
        ports.observer.reported(.purged(name, answers, duration: ContinuousClock.now - began))
        let events = zip(orders, answers).map { ($0.request, RequestEvent.purged(name, $1)) }
        post(.targetAnswered(name, Array(events)))
    }

    private func verify(_ name: TargetName, _ orders: [PurgeOrder]) async {
        let target = adapters.withLock { $0.targets[name] }
        let answers = await target?.verify(orders) ?? orders.map { _ in .failure(.misconfigured) }
        let events = zip(orders, answers).map { ($0.request, RequestEvent.verified(name, $1)) }
        post(.targetAnswered(name, Array(events)))
    }
}
