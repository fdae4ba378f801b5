import Engine
import Lifecycle

/// What stores and state answer to a run, and what must hold.
extension Simulator {
    /// Performs an effect in the world; the process may die before it hears of the answer.
    mutating func perform(_ effect: RecheckEffect, of number: Int) -> RecheckEvent? {
        switch effect {
        case .state(let effect): return perform(effect)
        case .store(let name, _, .purge(let orders, let holds, _)):
            return .purged(orders.map { purgeAgain(name, $0, holds, of: number) })
        case .store(let name, _, .verify(let orders)):
            return .verified(orders.map { verifyAgain(name, $0, of: number) })
        case .store(let name, _, .list(let tombstones)):
            guard !chance(faults.failurePerMille / 4) else {
                return .listed(.failure(.unreachable))
            }
            let users = (world.rows[name] ?? [:]).filter { $0.value > 0 }.keys.sorted()
            return .listed(
                .found(
                    users.compactMap { user in
                        let hash = Self.hash(of: user)
                        guard tombstones[hash] != nil else { return nil }
                        return UserID("user-\(user)").map { ($0, hash) }
                    }
                )
            )
        case .store(_, _, .check): return .checkedCopy(problem: nil)
        case .openCopy: return .openedCopy(nil)
        case .wait: return .due
        case .announce: return nil
        }
    }

    static func hash(of user: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: user)] }

    private mutating func perform(_ effect: RecheckStateEffect) -> RecheckEvent {
        switch effect {
        case .learnTombstones: return .learned(alarm: nil)
        case .findOpen(let names): return .foundOpen(store.openDeletions(begunIn: names))
        case .restore: return .restored
        case .loadTombstones(let since, let position, _):
            // Pages of two, so that there are several.
            let page = store.runs.tombstones.enumerated().filter { index, tombstone in
                index >= position && tombstone.erasedAt >= since ?? .distantPast
            }.prefix(2)
            return .loaded(page.map(\.element), next: page.last.map { $0.offset + 1 } ?? position)
        case .loadDue: return .loadedDue(duePage())
        case .findLate: return .foundLate([])
        case .findBegun(let name):
            let begun = store.runs.begun[name] ?? []
            return .foundBegun(begun.sorted { $0.request < $1.request })
        case .readHolds:
            return .readHolds(bug == .deafReplay ? [] : core.holds, UsersOnHold())
        case .note(let begun, let name):
            let known = Set(begun).intersection(store.runs.begun[name] ?? [])
            store.runs.begun[name, default: []].formUnion(begun)
            return .noted(known)
        case .record(let ended, let name):
            for ended in ended {
                store.runs.begun[name]?.remove(ended.begun)
                guard ended.rows > 0 || ended.isResumed else { continue }
                store.runs.replayed.append((ended.begun.request, name, ended.isResumed))
            }
            return .recorded
        case .forgetLate, .recordSample: return .recorded
        case .close(let ended): return .closed(store.close(ended))
        case .reopen(let users, let dueAt):
            let recorded = users.filter { store.reopen($0.request, dueAt: dueAt, at: clock) }
            return .reopened(recorded.map { ($0.request, $0.found) })
        }
    }

    private func duePage() -> DuePage {
        let due = store.runs.records.filter { $0.value.dueAt <= clock }
            .sorted { ($0.value.dueAt, $0.key) < ($1.value.dueAt, $1.key) }
        let later = store.runs.records.values.map(\.dueAt).filter { $0 > clock }.min()
        return DuePage(
            opened: due.prefix(2).compactMap { id, record in
                guard let row = store.requests[id], let user = UserID("user-\(row.user)") else {
                    return nil
                }
                let due = DueRecheck(
                    sealed: SealedRecheck(request: id, keyID: "", recheckKey: [], sealedUser: []),
                    stage: record.stage,
                    openedAt: record.openedAt,
                    dueAt: record.dueAt,
                    cutoff: row.request.cutoff,
                    targets: row.request.purges.map(\.target),
                    isReopened: record.isReopened
                )
                return OpenRecheck(due: due, user: user)
            },
            pausedTargets: Set(store.pauses.targets.keys),
            next: later
        )
    }

    private mutating func purgeAgain(
        _ name: TargetName,
        _ order: ErasureOrder,
        _ holds: [TargetHold],
        of number: Int
    ) -> PurgeAnswer {
        checkPurge(name, order, holds, of: number)
        guard let row = store.requests[order.request] else { return .failure(.unusable) }
        book.purgeCount += 1
        if chance(faults.failurePerMille / 2) { return .failure(.throttled(retryAfter: nil)) }
        let count = world.rows[name]?[row.user] ?? 0
        let disputed = holds.isEmpty ? 0 : min(count, Self.disputedCount(of: row.user))
        let left = bug == .blindReplay ? count : disputed
        world.rows[name]?[row.user] = left
        eraseDated(name, of: row.user, bug == .lateCutoff ? clock : order.cutoff)
        if left == 0 { world.restored[name]?.remove(row.user) }
        if chance(faults.lostAnswerPerMille) { return .failure(.lost) }
        var counts = PurgeCounts(entries: [
            .init(name: "rows", action: "delete", rowCount: count - left)
        ])
        guard disputed > 0 else { return .done(counts) }
        counts.entries.append(
            .init(name: "rows", action: PurgeCounts.heldAction, rowCount: disputed)
        )
        return .held(counts, under: Set(holds.map(\.name)))
    }

    private mutating func verifyAgain(
        _ name: TargetName,
        _ order: ErasureOrder,
        of number: Int
    ) -> VerifyAnswer {
        guard let row = store.requests[order.request] else { return .failure(.unusable) }
        if chance(faults.failurePerMille / 2) { return .failure(.unusable) }
        let count =
            (world.rows[name]?[row.user] ?? 0) + datedCount(name, of: row.user, order.cutoff)
        if count > 0, book.live[number]?.machine.kind == .rechecks {
            book.live[number]?.returned.insert(order.request)
        }
        switch bug {
        case .blindReplay, .silentRecheck: return .clean
        default: return count == 0 ? .clean : .remaining(count)
        }
    }

    // MARK: Invariants

    /// nothing newer than the cutoff, nothing undated without the operator's word, and
    /// nothing under a hold.
    private mutating func checkPurge(
        _ name: TargetName,
        _ order: ErasureOrder,
        _ holds: [TargetHold],
        of number: Int
    ) {
        let purge = PurgeOrder(
            request: order.request,
            user: order.user,
            cutoff: order.cutoff,
            holds: holds
        )
        checkHolds(of: .purge(name, [purge]))
        guard case .replay(let terms)? = book.live[number]?.machine.kind, !terms.isDrill else {
            world.violations.append("R-2: a purge by a run that only looks")
            return
        }
        guard let request = store.requests[order.request]?.request else { return }
        if order.cutoff > max(request.cutoff, terms.restoredAt ?? .distantPast) {
            world.violations.append("R-2: a cutoff that is too late")
        }
        guard name == files else { return }
        let isVouchedFor = terms.restoredAt.map { request.endedAt ?? .distantFuture <= $0 } ?? false
        if !isVouchedFor { world.violations.append("R-2: undated data is purged") }
    }

    /// rows of a later life stay.
    mutating func checkLaterLives() {
        for life in world.laterLives {
            let rows = world.dated[life.target]?[life.user] ?? []
            if !rows.contains(where: { $0.date == life.date }) {
                world.violations.append("R-2: newer data is purged")
            }
        }
    }

    /// whoever has data is named in the answer.
    func replayViolations(_ live: RunBook.Live, _ terms: ReplayTerms) -> [String] {
        guard !terms.isDrill else { return [] }
        let report = live.machine.report
        return live.erased.compactMap { store.requests[$0] }.flatMap { row in
            configuration.targets.compactMap { target -> String? in
                guard terms.target == nil || terms.target == target,
                    (world.rows[target]?[row.user] ?? 0) > 0,
                    !report.stores.contains(where: { $0.name == target && $0.error != nil })
                else { return nil }
                return "R-1: a replay neither erased nor named a user in \(target)"
            }
        }
    }

    mutating func checkReplay(_ live: RunBook.Live, _ terms: ReplayTerms) {
        world.violations += replayViolations(live, terms)
    }

    /// a recheck that finds data raises an alarm, and the record stays.
    mutating func checkAlarms(_ event: RecheckEvent) {
        guard case .closed(let recorded) = event else { return }
        let returned = book.live.values.reduce(into: Set()) { $0.formUnion($1.returned) }
        for ended in recorded where returned.contains(ended.due.sealed.request) {
            let id = ended.due.sealed.request
            if !book.alarms.contains(id) { world.violations.append("R-4: no alarm") }
            if store.runs.records[id]?.stage != 0 {
                world.violations.append("R-4: the record is not open again")
            }
        }
    }
}

extension SimulatedStore {
    func openDeletions(begunIn names: Set<TargetName>) -> [RequestID: Bool] {
        requests.compactMapValues { row in
            let request = row.request
            guard !request.phase.isEnded, request.purgeStartedAt != nil else { return nil }
            let begun = request.purges.filter { names.contains($0.target) && $0.attempts > 0 }
            return begun.isEmpty ? nil : begun.contains { $0.step != .waiting }
        }
    }

    /// A deletion that completes is rechecked, and leaves a tombstone.
    mutating func noteEnd(of request: Request, user: Int) {
        guard request.phase == .completed, request.kind == .deleteAccount,
            let endedAt = request.endedAt,
            !runs.tombstones.contains(where: { $0.request == request.id })
        else { return }
        runs.tombstones.append(
            Tombstone(
                hash: Simulator.hash(of: user),
                erasedAt: endedAt,
                request: request.id,
                cutoff: request.cutoff
            )
        )
        runs.records[request.id] = StoredRuns.Record(
            stage: 0,
            openedAt: endedAt,
            dueAt: endedAt + Simulator.recheckIntervals[0]
        )
    }

    mutating func close(_ ended: [EndedRecheck]) -> [EndedRecheck] {
        ended.filter { ended in
            let id = ended.due.sealed.request
            guard runs.records[id]?.dueAt == ended.due.dueAt else { return false }
            if let outcome = ended.recheck?.outcome {
                runs.outcomes[id, default: []].append(outcome)
            }
            switch ended.next {
            case .closed: runs.records[id] = nil
            case .due(let dueAt, let stage, let openedAt):
                runs.records[id] = StoredRuns.Record(
                    stage: stage,
                    openedAt: openedAt,
                    dueAt: dueAt
                )
            }
            return true
        }
    }

    mutating func reopen(_ id: RequestID, dueAt: WallTime, at now: WallTime) -> Bool {
        guard requests[id]?.request.phase == .completed, runs.records[id] == nil else {
            return false
        }
        runs.outcomes[id, default: []].append(.returned)
        runs.records[id] = StoredRuns.Record(
            stage: 0,
            openedAt: now,
            dueAt: dueAt,
            isReopened: true
        )
        return true
    }
}
