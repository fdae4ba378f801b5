import Engine
import Lifecycle

/// What stores and state answer to a run.
extension Simulator {
    /// Performs an effect in the world; the process may die before it hears of the answer.
    mutating func perform(_ effect: RecheckEffect, of number: Int) -> RecheckEvent? {
        switch effect {
        case .state(let effect): return perform(effect, of: number)
        case .store(let name, let view, .purge(let orders, let holds, _)):
            return .purged(orders.map { purgeAgain(name, view, $0, holds, of: number) })
        case .store(let name, let view, .verify(let orders)):
            return .verified(orders.map { verifyAgain(name, view, $0, of: number) })
        case .store(let name, let view, .list(let tombstones)):
            return .listed(list(name, view, tombstones, of: number))
        case .store(_, _, .check):
            let isDamaged = book.live[number]?.copy.map(world.damagedCopies.contains) ?? false
            return .checkedCopy(problem: isDamaged ? "the copy has no tables" : nil)
        case .openCopy(_, let place): return .openedCopy(openCopy(place, of: number))
        case .wait: return .due
        case .announce: return nil
        }
    }

    static func hash(of user: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: user)] }

    /// Of the id by which the keyed store knows a user.
    static func keyHash(of user: Int) -> [UInt8] { hash(of: user) + [1] }

    private mutating func perform(
        _ effect: RecheckStateEffect,
        of number: Int
    ) -> RecheckEvent {
        switch effect {
        case .readAlarm: return readAlarm(of: number)
        case .learnTombstones: return .learned(isReadable: disk.runs.ledger != .unreadable)
        case .findOpen(let names): return .foundOpen(disk.openDeletions(begunIn: names))
        case .restore: return .restored
        case .loadTombstones(let since, let position, _):
            // Pages of two, so that there are several.
            let page = disk.runs.tombstones.enumerated().filter { index, tombstone in
                index >= position && tombstone.erasedAt >= since ?? .distantPast
            }.prefix(2)
            return .loaded(page.map(\.element), next: page.last.map { $0.offset + 1 } ?? position)
        case .loadDue: return .loadedDue(duePage())
        case .findLate(let requests):
            return .foundLate(disk.runs.late.intersection(requests).sorted())
        case .findBegun(let name):
            let begun = disk.runs.begun[name] ?? []
            return .foundBegun(begun.sorted { $0.request < $1.request })
        case .readHolds:
            book.live[number]?.onHold = disk.runs.usersOnHold
            return .readHolds(bug == .deafReplay ? [] : core.holds, disk.usersOnHold)
        case .note, .record, .forgetLate, .close, .reopen, .recordSample:
            return record(effect, of: number)
        }
    }

    private mutating func record(_ effect: RecheckStateEffect, of number: Int) -> RecheckEvent {
        switch effect {
        case .note(let begun, let name):
            let known = Set(begun).intersection(disk.runs.begun[name] ?? [])
            disk.runs.begun[name, default: []].formUnion(begun)
            return .noted(known)
        case .record(let ended, let name):
            disk.record(ended, in: name)
            return .recorded
        case .forgetLate(let erased):
            checkForgotten(erased, of: number)
            disk.runs.late.subtract(erased.map(\.request))
            return .recorded
        case .close(let ended): return .closed(disk.close(ended))
        case .reopen(let users, let dueAt):
            book.live[number]?.reopened.formUnion(users.map(\.request))
            let recorded = users.filter { disk.reopen($0, dueAt: dueAt, at: clock) }
            return .reopened(recorded.map { ($0.request, $0.found) })
        default: return .recorded
        }
    }

    private mutating func readAlarm(of number: Int) -> RecheckEvent {
        guard case .alarmed(let alarm) = disk.runs.ledger else { return .readAlarm(nil) }
        book.live[number]?.isAlarmed = true
        return .readAlarm(alarm)
    }

    private func duePage() -> DuePage {
        let due = disk.runs.records.filter { $0.value.dueAt <= clock }
            .sorted { ($0.value.dueAt, $0.key) < ($1.value.dueAt, $1.key) }
        let later = disk.runs.records.values.map(\.dueAt).filter { $0 > clock }.min()
        var opened: [OpenRecheck] = []
        var unopened: [UnopenedRecheck] = []
        for (id, record) in due.prefix(2) {
            guard let row = disk.requests[id], let user = UserID("user-\(row.user)") else {
                continue
            }
            let due = DueRecheck(record, of: row.request)
            if let isLost = disk.runs.unopened[id] {
                let failure = isLost ? EffectFailure.sealBroken : .vaultSealed
                unopened.append(UnopenedRecheck(due: due, failure: failure))
            } else {
                opened.append(OpenRecheck(due: due, user: user))
            }
        }
        return DuePage(
            opened: opened,
            unopened: unopened,
            pausedStores: Set(disk.pauses.stores.keys),
            next: later
        )
    }

    /// A copy is for one run alone.
    private mutating func openCopy(_ place: String, of number: Int) -> CopyRefusal? {
        guard world.copies[place] != nil else {
            return CopyRefusal(code: "bad_copy", detail: "no such file")
        }
        guard world.openCopies.insert(place).inserted else {
            return CopyRefusal(code: "bad_copy", detail: "the copy is in use")
        }
        book.live[number]?.copy = place
        return nil
    }

    private func rows(of name: StoreName, _ view: StoreView, of number: Int) -> [Int: Int] {
        guard view == .copy else { return world.rows[name] ?? [:] }
        return book.live[number]?.copy.flatMap { world.copies[$0] } ?? [:]
    }

    private mutating func list(
        _ name: StoreName,
        _ view: StoreView,
        _ tombstones: [[UInt8]: Tombstone],
        of number: Int
    ) -> ListAnswer {
        guard !chance(faults.failurePerMille / 4) else { return .failure(.unreachable) }
        guard !world.unlisted.contains(name) else { return .unknown("it cannot list its users") }
        let users = rows(of: name, view, of: number).filter { $0.value > 0 }.keys.sorted()
        return .found(
            users.compactMap { user in
                let hash = name == crm ? Self.keyHash(of: user) : Self.hash(of: user)
                guard tombstones[hash] != nil else { return nil }
                return UserID(name == crm ? "crm-\(user)" : "user-\(user)").map { ($0, hash) }
            }
        )
    }

    /// A store is led to only by ids that restored rows named.
    private func isReached(_ name: StoreName, _ view: StoreView, _ request: RequestID) -> Bool {
        name != crm || view != .led || disk.runs.late.contains(request)
    }

    private mutating func purgeAgain(
        _ name: StoreName,
        _ view: StoreView,
        _ order: ErasureOrder,
        _ holds: [StoreHold],
        of number: Int
    ) -> PurgeAnswer {
        checkPurge(name, view, order, holds, of: number)
        guard let row = disk.requests[order.request] else { return .failure(.unusable) }
        guard view != .copy else { return purgeCopy(of: row.user, by: number) }
        book.purgeCount += 1
        let count = world.rows[name]?[row.user] ?? 0
        // What the rows name is kept before they go.
        if hasKeys, name == database, count > 0 { disk.runs.late.insert(order.request) }
        if chance(faults.failurePerMille / 2) { return .failure(.throttled(retryAfter: nil)) }
        guard isReached(name, view, order.request) else { return .done(PurgeCounts()) }
        let disputed = holds.isEmpty ? 0 : min(count, Self.disputedCount(of: row.user))
        let left = bug == .blindReplay ? count : disputed
        world.rows[name]?[row.user] = left
        eraseDated(name, of: row.user, bug == .lateCutoff ? clock : order.cutoff)
        if left == 0 { world.restored[name]?.remove(row.user) }
        if chance(faults.lostAnswerPerMille) { return .failure(.lost) }
        var counts = Self.counts(count - left)
        guard disputed > 0 else { return .done(counts) }
        counts.entries.append(
            .init(name: "rows", action: .held, rowCount: disputed)
        )
        return .held(counts, under: Set(holds.map(\.name)))
    }

    private mutating func purgeCopy(of user: Int, by number: Int) -> PurgeAnswer {
        guard let place = book.live[number]?.copy else { return .failure(.misconfigured) }
        if chance(faults.failurePerMille / 2) { return .failure(.throttled(retryAfter: nil)) }
        let count = world.copies[place]?[user] ?? 0
        world.copies[place]?[user] = 0
        return chance(faults.lostAnswerPerMille) ? .failure(.lost) : .done(Self.counts(count))
    }

    private static func counts(_ rows: Int) -> PurgeCounts {
        PurgeCounts(entries: [.init(name: "rows", action: .rule(.delete), rowCount: rows)])
    }

    private mutating func verifyAgain(
        _ name: StoreName,
        _ view: StoreView,
        _ order: ErasureOrder,
        of number: Int
    ) -> VerifyAnswer {
        guard let row = disk.requests[order.request] else { return .failure(.unusable) }
        if chance(faults.failurePerMille / 2) { return .failure(.unusable) }
        guard isReached(name, view, order.request) else { return .notLookedFor }
        let dated = view == .copy ? 0 : datedCount(name, of: row.user, order.cutoff)
        let count = (rows(of: name, view, of: number)[row.user] ?? 0) + dated
        if count > 0 { book.live[number]?.noteFound(order.request) }
        switch bug {
        case .blindReplay, .silentRecheck: return .clean
        default: return count == 0 ? .clean : .remaining(count)
        }
    }
}
