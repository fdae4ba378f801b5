package import Lifecycle

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
        if let (requests, gate) = stores[hold.store]?.purge {
            actions.append(.stop(gate, requests))
        }
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
        for name in storeOrder {
            guard let (requests, gate) = stores[name]?.turn else { continue }
            actions.append(.stop(gate, requests))
        }
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
