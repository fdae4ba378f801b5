import Engine
import Lifecycle

/// What must hold of runs, seen from outside.
extension Simulator {
    /// nothing newer than the cutoff, nothing undated without the operator's
    /// word, nothing under a hold, and nothing that was not noted.
    mutating func checkPurge(
        _ name: StoreName,
        _ view: StoreView,
        _ order: ErasureOrder,
        _ holds: [StoreHold],
        of number: Int
    ) {
        let live = book.live[number]
        guard view != .copy else {
            if live?.copy == nil { world.violations.append("R-8: a copy is not open") }
            return
        }
        let purge = PurgeOrder(
            request: order.request,
            user: order.user,
            cutoff: order.cutoff,
            holds: holds
        )
        checkHolds(of: .purge(name, [purge]))
        guard let terms = live?.terms else {
            world.violations.append("R-2: a purge by a run that only looks")
            return
        }
        if terms.isDrill { world.violations.append("R-8: a drill purges outside of its copy") }
        let isNoted = disk.runs.begun[name]?.contains { $0.request == order.request } ?? false
        if !isNoted { world.violations.append("R-5: a purge that was not noted") }
        guard let row = disk.requests[order.request] else { return }
        if live?.onHold.contains(row.user) ?? false {
            world.violations.append("R-3: a user on hold is purged")
        }
        checkDate(name, order, row.request, terms)
    }

    private mutating func checkDate(
        _ name: StoreName,
        _ order: ErasureOrder,
        _ request: Request,
        _ terms: ReplayTerms
    ) {
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
            let rows = world.dated[life.store]?[life.user] ?? []
            if !rows.contains(where: { $0.date == life.date }) {
                world.violations.append("R-2: newer data is purged")
            }
        }
    }

    /// after an alarm of the ledger nothing goes on, and a drill records nothing.
    mutating func check(_ effects: [RecheckEffect], of live: RunBook.Live) {
        for effect in effects {
            if case .announce = effect { continue }
            if live.isAlarmed {
                world.violations.append("R-7: a run goes on after an alarm of the ledger")
            }
            guard case .state(let effect) = effect, live.terms?.isDrill ?? false,
                effect.isRecord
            else { continue }
            world.violations.append("R-8: a drill records something")
        }
    }

    // MARK: What is left at the end

    mutating func checkReplay(_ live: RunBook.Live, _ terms: ReplayTerms) {
        let report = live.machine.report
        guard !live.isDisturbed, !report.isBroken, !terms.isDrill || terms.copy != nil else {
            return
        }
        checkLeft(live, terms)
        let isLate = !terms.isDrill && !disk.runs.late.isDisjoint(with: live.erased)
        if isLate, report.isComplete {
            world.violations.append(
                "R-6: ids that restored rows named are left, and no store is named"
            )
        }
    }

    /// whoever has data is named in the answer.
    private mutating func checkLeft(_ live: RunBook.Live, _ terms: ReplayTerms) {
        for store in configuration.stores where terms.store.map({ $0 == store }) ?? true {
            let rows = terms.copy.map { world.copies[$0] } ?? world.rows[store]
            let isLeft = live.erased.contains { id in
                disk.requests[id].map { (rows?[$0.user] ?? 0) > 0 } ?? false
            }
            let isNamed = live.machine.report.stores.contains {
                $0.name == store && $0.error != nil
            }
            guard isLeft, !isNamed else { continue }
            world.violations.append(
                "R-1: a replay neither erased nor named a user in \(store)"
            )
        }
    }

    /// ids are destroyed only when nothing is left that they lead to.
    mutating func checkForgotten(_ erased: [Tombstone], of number: Int) {
        guard book.live[number]?.isDisturbed == false else { return }
        for row in erased.compactMap({ disk.requests[$0.request] })
        where (world.rows[crm]?[row.user] ?? 0) > 0 {
            world.violations.append("R-6: ids are destroyed before their use")
        }
    }

    /// what a sample finds is rechecked again.
    mutating func checkSample(_ live: RunBook.Live) {
        guard !live.sampled.isSubset(of: live.reopened) else { return }
        world.violations.append("R-4: a sample found data and reopens no record")
    }

    /// a recheck that finds data raises an alarm, and the record stays; a sample has it again.
    mutating func checkAlarms(_ event: RecheckEvent) {
        switch event {
        case .closed(let recorded):
            let returned = book.live.values.reduce(into: Set()) { $0.formUnion($1.returned) }
            for ended in recorded where returned.contains(ended.due.sealed.request) {
                checkAlarm(of: ended.due.sealed.request)
            }
        case .reopened(let recorded):
            for (id, _) in recorded { checkAlarm(of: id) }
        default: break
        }
    }

    private mutating func checkAlarm(of id: RequestID) {
        if !book.alarms.contains(id) { world.violations.append("R-4: no alarm") }
        if disk.runs.records[id]?.stage != 0 {
            world.violations.append("R-4: the record is not open again")
        }
    }
}

extension RecheckStateEffect {
    /// Whether it changes what the state has of deletions.
    fileprivate var isRecord: Bool {
        switch self {
        case .restore, .note, .record, .forgetLate, .close, .reopen, .recordSample: true
        case .readAlarm, .learnTombstones, .findOpen, .loadTombstones, .loadDue, .findLate,
            .findBegun, .readHolds:
            false
        }
    }
}
