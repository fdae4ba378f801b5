package import Lifecycle
import Synchronization

/// Everything that the engine needs from outside.
package struct EnginePorts: Sendable {
    package let state: any StateStore
    package let vault: any CredentialVault
    package let hasher: any KeyedHasher
    package let observer: any EngineObserver
    package let clock: any EngineClock
    /// Random bytes that bind a sealed value to its row.
    package let makeRowNonce: @Sendable () -> [UInt8]
    /// `nil` when completed deletions are not looked at again.
    package let rechecks: (any RecheckOpener)?
    package let spool: (any SpoolReader)?
    /// `nil` when one host has the state for itself.
    package var shared: SharedState?

    package init(
        state: any StateStore,
        vault: any CredentialVault,
        hasher: any KeyedHasher,
        observer: any EngineObserver,
        clock: any EngineClock,
        makeRowNonce: @escaping @Sendable () -> [UInt8],
        rechecks: (any RecheckOpener)? = nil,
        spool: (any SpoolReader)? = nil
    ) {
        (self.state, self.vault, self.hasher) = (state, vault, hasher)
        (self.observer, self.clock, self.makeRowNonce) = (observer, clock, makeRowNonce)
        (self.rechecks, self.spool) = (rechecks, spool)
    }
}

/// The adapters that calls go to; replaced as a whole by a reload.
package struct EngineAdapters: Sendable {
    package let providers: [ProviderName: any IdentityProvider]
    package let stores: [StoreName: any PurgeStore]
    package let directory: (any IdentityDirectory)?
    /// What the configuration says about what is purged of each store; part of a plan.
    package let rules: [StoreName: [PurgePlan.Rule]]

    package init(
        providers: [ProviderName: any IdentityProvider],
        stores: [StoreName: any PurgeStore],
        directory: (any IdentityDirectory)? = nil,
        rules: [StoreName: [PurgePlan.Rule]] = [:]
    ) {
        (self.providers, self.stores) = (providers, stores)
        (self.directory, self.rules) = (directory, rules)
    }
}

/// Performs what ``EngineCore`` decides, and tells it what happened.
///
/// One loop owns the decisions; calls run as child tasks of ``run()``, so that cancelling it ends
/// them all. It throws when the state's truth is unknown: the process must then exit and read it
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
    let keeper: LeaseKeeper?

    private struct Waiters {
        var lastNumber: UInt64 = 0
        var hasEnded = false
        var byNumber: [UInt64: CheckedContinuation<OperationOutcome, Never>] = [:]
    }

    package init(core: EngineCore, ports: EnginePorts, adapters: EngineAdapters) {
        self.ports = ports
        keeper = ports.shared.map { [mailbox] shared in
            LeaseKeeper(shared, rulesSeen: core.rulesVersion) { mailbox.post($0) }
        }
        self.core = Mutex(core)
        self.adapters = Mutex(adapters)
        opener = CredentialOpener(
            vault: ports.vault,
            hasher: ports.hasher,
            makeRowNonce: ports.makeRowNonce
        )
    }

    /// Runs until cancelled or until the state fails.
    ///
    /// - Throws: The state's error, or `CancellationError`.
    package func run() async throws {
        defer { giveUpWaiters() }
        try await withThrowingDiscardingTaskGroup { group in
            var timers = ArmedTimers()
            if let keeper {
                group.addTask {
                    await keeper.run()
                    self.mailbox.close()
                }
            }
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
    ///
    /// - Throws: The state's error where several hosts share it; whether the operation is executed
    ///   is unknown then.
    package func operate(
        _ id: RequestID,
        _ event: RequestEvent
    ) async throws -> OperationOutcome {
        try await submit(.operate(id, event))
    }

    package func place(_ hold: StoreHold) async -> OperationOutcome {
        await ticketed { .placeHold(hold, $0) }
    }

    package func liftHold(_ name: String, by uid: UInt32) async -> OperationOutcome {
        await ticketed { .liftHold(name, by: uid, $0) }
    }

    package func probe() async { _ = await ticketed { .probe($0) } }

    /// Returns when the state has taken over every jump of the clock.
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
        let (actions, licenses, wake) = core.withLock { core in
            // What was answered before a jump of the clock was asked with times of before.
            for input in inputs where input.isClockStep { core.handle(input, at: now) }
            for input in inputs where !input.isClockStep { core.handle(input, at: now) }
            let actions = core.takeActions(at: now)
            keeper?.obey(core.rulesVersion)
            return (actions, Self.licenses(actions, core), core.wakeTime(after: now))
        }
        adopt(inputs.count { if case .reconfigured = $0 { true } else { false } })
        for (index, action) in actions.enumerated() {
            perform(action, licenses?[index] ?? .unlimited, in: &group)
        }
        timers.arm(wake, at: now, by: ports.clock, in: &group) { self.post(.timer) }
    }

    private func adopt(_ count: Int) {
        guard count > 0 else { return }
        let latest = arriving.withLock { waiting in
            defer { waiting.removeFirst(count) }
            return waiting[count - 1]
        }
        adapters.withLock { $0 = latest }
        for (name, provider) in latest.providers {
            let waiting = inspect { $0.laneHealth(name)?.unconfiguredClients ?? [] }
            guard !waiting.isEmpty else { continue }
            let unserved = Set(waiting.filter { !provider.serves($0) })
            post(.checked(name, isWell: false, unserved: unserved))
        }
    }

    private func perform(
        _ action: EngineAction,
        _ license: EffectLicense,
        in group: inout ThrowingDiscardingTaskGroup<any Error>
    ) {
        switch action {
        case .commit(let changes, let claims):
            let erasures = erasures(in: changes)
            add(to: &group) {
                try await self.commit(changes + self.openRechecks(of: erasures), under: claims)
            }
        case .fetchDue, .load, .findRenewals, .readRules, .readInbox:
            add(to: &group) { try await self.read(action) }
        case .readSpool:
            group.addTask {
                self.post(.spoolRead(await self.ports.spool?.readToEnd() ?? [:]))
            }
        case .call(let id, let call, let provider, let sealed):
            add(to: &group) { try await self.make(call, of: id, at: provider, sealed, license) }
        case .lookUp(let id, let name, let user, let known):
            group.addTask { await self.lookUp(id, at: name, user, known, license) }
        case .exchange(let loaded):
            group.addTask { await self.exchange(loaded, license) }
        case .plan(let order):
            let planner = adapters.withLock { $0.planner(ports.hasher) }
            group.addTask { await self.plan(order, planner, license) }
        case .renew(let sealed):
            add(to: &group) { try await self.renew(sealed, license) }
        case .purge(let store, let orders):
            let found = adapters.withLock { $0.stores[store] }
            group.addTask { await self.purge(found, store, orders, license) }
        case .stop(let gate, let requests):
            gate.close(for: requests)
        case .retire(let gate):
            gate.retire()
        case .verify(let store, let orders):
            group.addTask { await self.verify(store, orders, license) }
        case .left(let partitions):
            keeper?.send(.left(partitions))
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
}

// MARK: - Calls

extension DeletionEngine {
    private func make(
        _ call: TokenCall,
        of id: RequestID,
        at name: ProviderName,
        _ sealed: SealedCredential,
        _ license: EffectLicense
    ) async throws {
        guard mayBegin(license) else {
            let event = RequestEvent.postponed(.call(call), until: ports.clock.now())
            return post(.answered(id, event, name, .vaultSealed), license)
        }
        let service = rotationService(of: sealed, license)
        let recorder = AnswerRecorder(.token)
        let event: RequestEvent
        let failure: EffectFailure?
        switch call.work {
        case .check, .confirm:
            let answer = await ask(name, sealed, service.keeper, recorder) { await $0.check($1) }
            (event, failure) = (call.checked(answer), answer.failure)
        case .revoke:
            let answer = await ask(name, sealed, service.keeper, recorder) { await $0.revoke($1) }
            (event, failure) = (call.revoked(answer), answer.failure)
        }
        post(.answered(id, event, name, failure, recorder.lastAnswer), license)
        try service.check()
    }

    /// A client that is configured no more is not asked for: its users wait, and nobody else does.
    private func ask<Answer: EffectAnswer>(
        _ name: ProviderName,
        _ sealed: SealedCredential,
        _ keeper: TokenKeeper? = nil,
        _ recorder: AnswerRecorder? = nil,
        _ body: (any IdentityProvider, OpenCredential) async -> Answer
    ) async -> Answer {
        do {
            var credential = try opener.open(sealed)
            let known = adapters.withLock { $0.providers[name] }
            guard let provider = known, provider.serves(credential.clientID) else {
                return .failure(.notConfigured(client: credential.clientID))
            }
            credential.keeper = keeper
            let opened = credential
            let began = ContinuousClock.now
            let answer = await AnswerRecorder.$current.withValue(recorder) {
                await body(provider, opened)
            }
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

    private func renew(_ sealed: SealedCredential, _ license: EffectLicense) async throws {
        guard mayBegin(license) else {
            return post(.renewed(sealed.id, .failure(.vaultSealed)), license)
        }
        let service = rotationService(of: sealed, license)
        let answer = await ask(sealed.provider, sealed, service.keeper) { await $0.renew($1) }
        post(.renewed(sealed.id, answer), license)
        try service.check()
    }

    private func exchange(_ loaded: LoadedExchange, _ license: EffectLicense) async {
        guard mayBegin(license) else {
            let result = ExchangeResult(event: .failure(.vaultSealed))
            return post(.exchanged(loaded.exchange.credential, result), license)
        }
        let recorder = AnswerRecorder(.code)
        let name = loaded.exchange.provider
        let answer = await ask(name, loaded.credential, nil, recorder) { await $0.exchange($1) }
        var brought = result(of: answer, for: loaded)
        brought.answer = recorder.lastAnswer?.refusal
        post(.exchanged(loaded.exchange.credential, brought), license)
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
        _ store: (any PurgeStore)?,
        _ name: StoreName,
        _ orders: [PurgeOrder],
        _ license: EffectLicense
    ) async {
        let began = ContinuousClock.now
        let answers = await begun(orders, license, PurgeAnswer.stopped) { orders in
            await store?.purge(orders) ?? orders.map { _ in .failure(.misconfigured) }
        }
        ports.observer.reported(.purged(name, answers, duration: ContinuousClock.now - began))
        let events = zip(orders, answers).map { ($0.request, RequestEvent.purged(name, $1)) }
        post(.storeAnswered(name, Array(events), reason: orders.first?.gate?.reason), license)
    }

    private func verify(
        _ name: StoreName,
        _ orders: [PurgeOrder],
        _ license: EffectLicense
    ) async {
        let store = adapters.withLock { $0.stores[name] }
        let answers = await begun(orders, license, VerifyAnswer.failure(.lost)) { orders in
            await store?.verify(orders) ?? orders.map { _ in .failure(.misconfigured) }
        }
        let events = zip(orders, answers).map { ($0.request, RequestEvent.verified(name, $1)) }
        post(.storeAnswered(name, Array(events)), license)
    }
}

/// Collects inputs from any task; one loop takes them in groups.
final class EngineMailbox: Sendable {
    private let inputs = Mutex<[EngineInput]>([])
    private let arrival = WakeSignal()

    /// Yields once or more after inputs arrived; never while nothing happens.
    var signals: AsyncStream<Void> { arrival.signals }

    func post(_ input: EngineInput) {
        inputs.withLock { $0.append(input) }
        arrival.send()
    }

    func takeAll() -> [EngineInput] {
        inputs.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }

    /// Ends the loop after what is waiting.
    func close() { arrival.finish() }
}
