package import Lifecycle

/// Holds, pauses and the guard's override, which all hosts obey.
///
/// Each host writes what it decides or is ordered, and reads what the others wrote when the version
/// of the rules is another one. It reports the version that it obeys with each renewal of its
/// leases, so that a hold can be acknowledged once every owner obeys it.
extension EngineCore {
    mutating func readRules() {
        guard !isReadingRules else { return }
        isReadingRules = true
        actions.append(.readRules(reads.mark()))
    }

    /// What was read before an own change is older than that; the next renewal has it read again.
    mutating func adopt(_ rules: SharedRules, by read: ReadNumber, at now: WallTime) {
        isReadingRules = false
        let isPending =
            looseChanges.contains { $0.change.isRule }
            || batchUnderWay?.changes.contains(where: \.isRule) ?? false
        guard !isPending, read > reads.lastBeforeRule else { return }
        // Another host may have placed a hold on a user.
        if rulesVersion != rules.version { outdateTurns() }
        rulesVersion = rules.version
        adoptProviders(rules.pauses.providers, at: now)
        adoptStores(rules.pauses.stores, at: now)
        adoptHolds(rules.pauses.holds, at: now)
        if let allowance = rules.allowance, allowance != lastAllowance {
            lastAllowance = allowance
            massDeletionGuard.override(purges: allowance.purges, until: allowance.until)
            wake(.massDeletionGuard, at: now)
        }
        touchWindow(at: now)
    }

    private mutating func adoptProviders(_ pauses: [ProviderName: String], at now: WallTime) {
        let before = Set(providerPauses.keys)
        providerPauses = pauses
        for name in environment.pausedProviders.subtracting(before).sorted() {
            sendHome(name, at: now)
            tellOfPause(name, at: now)
        }
        guard !before.subtracting(pauses.keys).isEmpty else { return }
        renewals.searchAt = now
        for reason in ParkReason.ofRevocations { wake(reason, at: now) }
    }

    private mutating func adoptStores(_ pauses: [StoreName: String], at now: WallTime) {
        let before = Set(storePauses.keys)
        storePauses = pauses
        if !before.subtracting(pauses.keys).isEmpty { wake(.storePaused, at: now) }
    }

    private mutating func adoptHolds(_ holds: [StoreHold], at now: WallTime) {
        let before = Set(environment.holds)
        environment.holds = holds
        for hold in holds where !before.contains(hold) { stop(stores[hold.store]?.purge) }
        if !before.isSubset(of: holds) { wake(.onHold, at: now) }
    }
}

extension StateChange {
    var isRule: Bool {
        switch self {
        case .pauseProvider, .resumeProvider, .pauseStore, .resumeStore, .placeHold, .liftHold:
            true
        default: false
        }
    }
}

extension EngineCore {
    package var holds: [StoreHold] { environment.holds }

    package func isHeld(_ store: StoreName) -> Bool { environment.isHeld(store) }

    /// From now on no purge begins that it forbids; the ticket is answered once it is durable.
    ///
    /// The engine alone writes holds, so that what it knows and what is stored agree.
    mutating func place(_ hold: StoreHold, _ ticket: Ticket, at now: WallTime) {
        if let known = environment.holds.first(where: { $0.name == hold.name }) {
            return reply(ticket, known.stops(sameAs: hold) ? .done : .refused(.holdExists))
        }
        environment.holds.append(hold)
        // Also for a hold on rows: the orders come back at once, and then they know of it.
        stop(stores[hold.store]?.purge)
        stores[hold.store]?.stuck.forgetAll()
        record(.placeHold(hold))
        nextBatch.tickets.append(ticket)
        touchWindow(at: now)
    }

    /// Lets no order of a request begin any more in a call that is under way.
    mutating func stopPurges(of id: RequestID) {
        for name in storeOrder {
            guard let (requests, gate) = stores[name]?.purge, requests.contains(id) else {
                continue
            }
            actions.append(.stop(gate, [id]))
        }
    }

    /// Stops the purges of runs, also of those that wait for their turn: they read the holds again.
    mutating func outdateTurns() {
        userHoldsVersion += 1
        for name in storeOrder { stop(stores[name]?.turn) }
    }

    private mutating func stop(_ purge: (requests: [RequestID], gate: PurgeGate)?) {
        if let (requests, gate) = purge { actions.append(.stop(gate, requests)) }
    }

    /// Ends the purges under way, whose rules may be others by now; what they leave is purged anew.
    mutating func retirePurges() {
        for name in storeOrder {
            if let gate = stores[name]?.purge?.gate { actions.append(.retire(gate)) }
        }
    }

    mutating func liftHold(_ name: String, by uid: UInt32, _ ticket: Ticket, at now: WallTime) {
        guard let index = environment.holds.firstIndex(where: { $0.name == name }) else {
            return reply(ticket, .refused(.notOnHold))
        }
        let hold = environment.holds.remove(at: index)
        record(.liftHold(hold, by: uid, at: now))
        nextBatch.tickets.append(ticket)
        wake(.onHold, at: now)
    }
}
