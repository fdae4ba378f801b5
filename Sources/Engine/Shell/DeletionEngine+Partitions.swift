import Lifecycle

/// What an effect may do: it begins while the leases of its partitions last.
struct EffectLicense: Sendable {
    /// The turn that decided it; `nil` for a single host.
    let read: ReadNumber?
    let partitions: [Partition]

    static let unlimited = EffectLicense(read: nil, partitions: [])
}

extension DeletionEngine {
    /// What the effects of a turn may do; `nil` for a single host.
    static func licenses(
        _ actions: [EngineAction],
        _ core: borrowing EngineCore
    ) -> [EffectLicense]? {
        guard !core.ownership.isAll else { return nil }
        let read = core.lastRead
        return actions.map { EffectLicense(read: read, partitions: core.partitions(of: $0)) }
    }

    func mayBegin(_ license: EffectLicense) -> Bool {
        guard license.read != nil else { return true }
        return keeper?.mayBegin(license.partitions) ?? false
    }

    /// An answer to an effect; a late one is known by the turn that decided it.
    func post(_ input: EngineInput, _ license: EffectLicense) {
        post(license.read.map { .under($0, input) } ?? input)
    }

    /// The orders whose partitions may still be worked on, and what the others answer.
    func begun<Answer>(
        _ orders: [PurgeOrder],
        _ license: EffectLicense,
        _ refused: Answer,
        _ body: ([PurgeOrder]) async -> [Answer]
    ) async -> [Answer] {
        guard license.read != nil, let keeper else { return await body(orders) }
        let isAllowed = license.partitions.map { keeper.mayBegin([$0]) }
        let parts = Dictionary(
            zip(orders.map(\.request), license.partitions),
            uniquingKeysWith: { first, _ in first }
        )
        for gate in orders.compactMap(\.gate).prefix(1) {
            gate.limit { parts[$0].map { keeper.mayBegin([$0]) } ?? false }
        }
        let answers = await body(zip(orders, isAllowed).filter(\.1).map(\.0))
        var next = answers.makeIterator()
        return isAllowed.map { $0 ? next.next() ?? refused : refused }
    }

    func plan(_ order: PlanOrder, _ planner: PurgePlanner, _ license: EffectLicense) async {
        let id = order.order.request
        guard mayBegin(license) else {
            let store = order.sources.first?.store ?? StoreName("")
            return post(.planned(id, .failure(store, .vaultSealed)), license)
        }
        post(.planned(id, await planner.make(order)), license)
    }

    func rotationService(of sealed: SealedCredential, _ license: EffectLicense) -> RotationService {
        guard license.read != nil else {
            return RotationService(ports, opener, of: sealed) { self.post(.update($0)) }
        }
        let partitions = PartitionSet([Partition(userHash: sealed.userHash)])
        return RotationService(
            ports,
            opener,
            of: sealed,
            under: { self.inspect { $0.ownership.claims(of: partitions) ?? [] } },
            tell: { self.post(.update($0)) }
        )
    }

    /// Performs an action that only reads the state.
    ///
    /// - Throws: The state's error for a single host; `CancellationError`.
    func read(_ action: EngineAction) async throws {
        let now = ports.clock.now()
        switch action {
        case .fetchDue(let read, let limit, let excluded, let lanes, let parts):
            let due = try await self.read {
                try await $0.dueRequests(
                    at: now,
                    limit: limit,
                    excluding: excluded,
                    laneLimits: lanes,
                    in: parts
                )
            }
            post(.fetched(read, due, limit: limit))
        case .load(let read, let ids):
            let requests = try await self.read { try await $0.openRequests(ids) }
            post(.loaded(read, requests, asked: ids))
        case .findRenewals(let names, let limit, let parts):
            let due = try await self.read {
                try await $0.dueRenewals(of: names, at: now, limit: limit, in: parts)
            }
            post(.renewalsFound(due))
        case .readRules(let read):
            guard let shared = ports.shared else { return }
            post(.rules(read, try await self.read { _ in try await shared.store.rules() }))
        case .readInbox(let read, let partitions):
            guard let shared = ports.shared else { return }
            let inbox = try await self.read { _ in try await shared.store.inbox(of: partitions) }
            post(.inbox(read, inbox))
        default:
            preconditionFailure("only reads are read")
        }
    }

    /// Reads again until the state answers: what is read late is known to be late.
    ///
    /// - Throws: The state's error for a single host; `CancellationError`.
    private func read<Value>(
        _ body: (any DueWork) async throws -> Value
    ) async throws -> Value {
        guard let shared = ports.shared else { return try await body(ports.state) }
        while true {
            try Task.checkCancellation()
            do { return try await body(shared.store) } catch is CancellationError {
                throw CancellationError()
            } catch {
                try await ports.clock.sleep(until: ports.clock.now() + RetryPolicy.lease.first)
            }
        }
    }

    func commit(_ changes: [StateChange], under claims: [PartitionClaim]?) async throws {
        guard let claims, let shared = ports.shared else {
            do {
                return post(
                    .committed(
                        try await ports.clock.persist { try await ports.state.commit(changes) }
                    )
                )
            } catch let refusal as CommitRefusal {
                return post(.refused(refusal))
            }
        }
        switch await shared.store.commit(changes, under: claims) {
        case .committed(let updates): post(.committed(updates))
        case .refused(let refusal): refuse(refusal)
        case .inDoubt: refuse(CommitRefusal(lost: claims))
        }
    }

    private func refuse(_ refusal: CommitRefusal) {
        post(.refused(refusal))
        keeper?.send(.refused(refusal.lost))
    }

    /// An operation of any host: the owner of the request executes and answers it.
    ///
    /// - Throws: The state's error; whether the operation is executed is unknown then.
    package func submit(_ work: OperationRow.Work) async throws -> OperationOutcome {
        guard let shared = ports.shared else {
            guard case .operate(let id, let event) = work else { return .notOpen }
            return await ticketed { .operate(id, event, $0) }
        }
        let operation = try await shared.store.submit(work)
        post(.mailed)
        return try await shared.store.answer(to: operation)
    }

    /// Returns when every host obeys the holds and pauses as they are now.
    ///
    /// - Throws: The state's error, or `CancellationError`.
    package func settleRules() async throws { try await keeper?.settleRules() }

    /// Begins to give all partitions back; ``run()`` ends when that is done.
    package func leaveAll() { keeper?.send(.stop) }
}
