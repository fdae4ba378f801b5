import Lifecycle

/// An answer that viewers may see, too.
package protocol Viewable: WireObject {
    /// The same without what names a person, or could: user ids, uids of operators, the conditions
    /// and reasons of holds, and texts that a store, a provider or a configuration had a part in.
    var forViewers: Self { get }
}

extension WireList: Viewable where Item: Viewable {
    package var forViewers: WireList {
        WireList(items.map(\.forViewers), nextCursor: nextCursor)
    }
}

extension WireRequest: Viewable {
    package var forViewers: WireRequest {
        var request = self
        request.userID = nil
        request.heldBy = nil
        request.forgotten = nil
        request.addenda = nil
        for index in request.identities.indices {
            request.identities[index].userAction = nil
        }
        for index in request.steps.indices {
            request.steps[index].obstacle = nil
            request.steps[index].answer?.words = nil
        }
        return request
    }
}

extension WireHold: Viewable {
    /// The name stays: the ledger has it for good.
    package var forViewers: WireHold {
        var hold = self
        hold.conditions = []
        hold.reason = nil
        hold.uid = nil
        return hold
    }
}

extension WireHealth: Viewable {
    /// The states and codes stay; the rest may quote paths, hosts and names.
    package var forViewers: WireHealth {
        var health = self
        health.findings = []
        health.summary = nil
        health.uncovered = nil
        health.sampled = nil
        health.unexamined = nil
        health.advice = nil
        return health
    }
}

extension WireStatus: Viewable {
    package var forViewers: WireStatus {
        var status = self
        status.refusedReload?.errors = []
        return status
    }
}

extension WireServiceHealth: Viewable {
    package var forViewers: WireServiceHealth { self }
}

extension WireLedger: Viewable {
    package var forViewers: WireLedger { self }
}

extension WireLedgerEntries: Viewable {
    /// Entries have no room for personal data but uids of operators, and nothing can be left out:
    /// the tree hashes them whole.
    package var forViewers: WireLedgerEntries { self }
}
