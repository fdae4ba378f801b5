package import Lifecycle

/// Performs what a ``Lifecycle/RecheckRun`` decides, and tells it what happened.
package struct RecheckDriver: Sendable {
    private let ports: RecheckPorts

    package init(_ ports: RecheckPorts) { self.ports = ports }

    /// Runs a run to its end; `onStep` sees every decision before it is carried out.
    ///
    /// - Throws: `CancellationError`, or the error of a state whose truth is unknown.
    package func drive(
        _ run: inout RecheckRun,
        onStep: (RecheckRun) -> Void = { _ in }
    ) async throws {
        var copy = RecheckCopy()
        var userHoldsVersion = 0
        let stewardship = ports.lanes.stewardship
        do {
            var event: RecheckEvent? = .begin
            while let happened = event {
                try Task.checkCancellation()
                var context = StepContext(
                    now: ports.clock.now(),
                    random: SeededGenerator(seed: .random(in: .min ... .max))
                )
                let effects = run.handle(happened, &context, in: ports.stores().1)
                onStep(run)
                event = nil
                for effect in effects {
                    // Before they are read: one that is placed meanwhile is not known.
                    if case .state(.readHolds) = effect {
                        userHoldsVersion = ports.lanes.userHoldsVersion
                    }
                    // Another host runs its own by now.
                    guard run.phase.isEnded || ports.lanes.stewardship == stewardship else {
                        event = .failed("other_host")
                        break
                    }
                    event =
                        try await perform(effect, of: run.kind, &copy, userHoldsVersion) ?? event
                }
            }
        } catch {
            await copy.close()
            throw error
        }
        await copy.close()
    }

    private func perform(
        _ effect: RecheckEffect,
        of kind: RecheckRun.Kind,
        _ copy: inout RecheckCopy,
        _ userHoldsVersion: Int
    ) async throws -> RecheckEvent? {
        switch effect {
        case .state(let effect): return try await perform(effect, of: kind)
        case .store(let name, let view, let effect):
            return try await perform(
                effect,
                at: name,
                store(name, view, copy),
                view,
                userHoldsVersion
            )
        case .openCopy(let name, let place):
            copy = await ports.openCopy(name, place)
            return .openedCopy(copy.refusal)
        case .wait(let time):
            try await ports.clock.sleep(until: time)
            return .due
        case .announce(let announcement):
            ports.announce(announcement)
            return nil
        }
    }

    /// A full disk is waited out; a replay ends instead, since its caller waits for an answer.
    private func perform(
        _ effect: RecheckStateEffect,
        of kind: RecheckRun.Kind
    ) async throws -> RecheckEvent {
        guard case .replay = kind else {
            return try await ports.clock.persist { try await ports.state.perform(effect) }
        }
        do {
            return try await ports.state.perform(effect)
        } catch let failure as any StoreFailure where failure.isRetryable {
            return .failed("state_unavailable")
        }
    }

    private func store(
        _ name: StoreName,
        _ view: StoreView,
        _ copy: RecheckCopy
    ) -> (any PurgeStore)? {
        let usual = ports.stores().0[name]
        let keyed = usual as? KeyedStore
        switch view {
        case .usual: return usual
        case .own: return keyed?.byKey() ?? usual
        case .led: return keyed?.replaying() ?? usual
        case .copy: return copy.store.map { keyed?.byKey(in: $0) ?? $0 }
        }
    }

    private func perform(
        _ effect: RecheckStoreEffect,
        at name: StoreName,
        _ store: (any PurgeStore)?,
        _ view: StoreView,
        _ userHoldsVersion: Int
    ) async throws -> RecheckEvent {
        switch effect {
        case .check:
            return .checkedCopy(problem: await store?.diagnose().first)
        case .list(let tombstones):
            return .listed(await list(store, tombstones))
        case .purge(let orders, let holds, let attempt):
            let known = KnownHolds(rows: holds, userHoldsVersion: userHoldsVersion)
            let answers = try await turn(at: name, for: orders, known, view) { gate in
                await store?.purge(
                    orders.map { order in
                        var purge = order.purge
                        (purge.holds, purge.attempt, purge.gate) = (holds, attempt, gate)
                        return purge
                    }
                )
            }
            return .purged(answers ?? orders.map { _ in .failure(.misconfigured) })
        case .verify(let orders):
            let answers = try await turn(at: name, for: [], KnownHolds(), view) { _ in
                await store?.verify(orders.map(\.purge))
            }
            return .verified(answers ?? orders.map { _ in .failure(.misconfigured) })
        }
    }

    /// A copy is nobody else's and has no lane.
    private func turn<Answer: Sendable>(
        at name: StoreName,
        for orders: [ErasureOrder],
        _ holds: KnownHolds,
        _ view: StoreView,
        _ body: @Sendable (PurgeGate) async -> Answer
    ) async throws -> Answer {
        guard view != .copy else { return await body(PurgeGate()) }
        let requests = orders.map(\.request)
        return try await ports.lanes.turn(at: name, for: requests, knowing: holds, body)
    }

    private func list(
        _ store: (any PurgeStore)?,
        _ tombstones: [[UInt8]: Tombstone]
    ) async -> ListAnswer {
        guard let store else { return .failure(.misconfigured) }
        let keyed = store as? KeyReplayStore
        let hasher = ports.hasher
        let hash: @Sendable (UserID) -> [UInt8] = { user in
            keyed?.tombstone(of: user) ?? hasher.hash(user.exposeText(), domain: .user)
        }
        switch await store.listedUsers(where: { tombstones[hash($0)] != nil }) {
        case .found(let users): return .found(users.map { ($0, hash($0)) })
        case .unknown(let why): return .unknown(why)
        case .failure(let failure): return .failure(failure)
        }
    }
}

extension ErasureOrder {
    fileprivate var purge: PurgeOrder {
        var order = PurgeOrder(request: request, user: user, cutoff: cutoff)
        order.erasedAt = erasedAt
        return order
    }
}
