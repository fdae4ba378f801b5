import Engine
import Lifecycle

/// Holds on stores, and on rows of them.
extension Simulator {
    static func hold(_ name: String, on store: StoreName, isOfRows: Bool = false) -> StoreHold {
        let filter = RowFilter(
            table: "rows",
            conditions: [RowFilter.Condition(column: "status", values: ["disputed"])]
        )
        return StoreHold(
            name: name,
            store: store,
            rows: isOfRows ? filter : nil,
            since: start,
            uid: 1000
        )
    }

    /// Rows of a user that a hold on rows is about; the odd ones have one.
    static func disputedCount(of user: Int) -> Int { user % 2 }

    /// Holds a store as an operator does: again until it is acknowledged, also across a crash.
    mutating func placeUntilDone(_ hold: StoreHold) {
        guard !isHealed else { return }
        let number = random.next() | 1
        turn([.placeHold(hold, Ticket(number: number))])
        at(.seconds(2)) { sim in
            switch sim.outcomes[number] {
            case .done: sim.acknowledge(hold)
            case .refused, .notOpen: sim.world.violations.append("a hold was refused")
            case nil: sim.placeUntilDone(hold)
            }
        }
    }

    /// The operator hears of it when every host obeys.
    private mutating func acknowledge(_ hold: StoreHold) {
        guard !isHealed, disk.pauses.holds.contains(hold) else { return }
        guard !isShared || isObeyed(hold) else {
            return at(.seconds(1)) { $0.acknowledge(hold) }
        }
        storeHolds[hold.name] = hold
    }

    mutating func liftAllHolds() {
        for hold in disk.pauses.holds { liftHold(hold.name) }
    }

    mutating func liftHold(_ name: String) {
        storeHolds[name] = nil
        turn([.liftHold(name, by: 1000, Ticket(number: random.next() | 1))])
        at(.seconds(2)) { sim in
            if sim.disk.pauses.holds.contains(where: { $0.name == name }) { sim.liftHold(name) }
        }
    }

    /// I-10: whatever was acknowledged as held is not purged.
    mutating func checkHolds(of action: EngineAction) {
        guard case .purge(let store, let orders) = action else { return }
        if orders.contains(where: { held.contains($0.request) }) {
            world.violations.append("a purge begun under a hold")
        }
        for hold in storeHolds.values where hold.store == store {
            if hold.rows == nil {
                world.violations.append("I-10: a held store is purged")
            } else if !orders.allSatisfy({ $0.holds.contains(hold) }) {
                world.violations.append("I-10: held rows are purged")
            }
        }
    }
}
