/// Which erasures a replay repeats, and where.
package struct ReplayTerms: Hashable, Sendable {
    /// The time of the backup that was restored, or earlier.
    package var since: WallTime
    /// One store alone; all without it.
    package var store: StoreName?
    /// When the store was restored, for stores that date by it, or have no timestamps.
    package var restoredAt: WallTime?
    /// Only reports; with ``copy``, erases there.
    package var isDrill = false
    /// Where a copy of the store is: a path, a database or bucket beside it, or what the operator's
    /// own program calls it.
    package var copy: String?
    package var id: String?

    package init(since: WallTime, store: StoreName? = nil) {
        (self.since, self.store) = (since, store)
    }
}

/// What a run found, and what it left.
package struct RecheckReport: Hashable, Sendable {
    package var tombstones = 0
    package var reopened = 0
    package var stores: [StoreReport] = []
    /// The deletions whose data a sample found.
    package var returned: Set<RequestID> = []
    /// Of the tombstones: where the run ended.
    package var position = 0

    package init() {}

    /// In the place of a store: what is wrong with the run itself.
    private static let state = StoreName("state")

    /// The report of a run that ended before its end; the code says why.
    package func broken(_ code: String) -> RecheckReport {
        var report = self
        report.change(Self.state) { $0.error = code }
        return report
    }

    /// Whether it ended before its end.
    package var isBroken: Bool { stores.contains { $0.name == Self.state && $0.error != nil } }

    package var isComplete: Bool { stores.allSatisfy { $0.error == nil } }

    package var erasedCount: Int { stores.reduce(0) { $0 + $1.erased } }

    mutating func change(_ name: StoreName, _ body: (inout StoreReport) -> Void) {
        if let index = stores.firstIndex(where: { $0.name == name }) {
            body(&stores[index])
        } else {
            var store = StoreReport(name: name)
            body(&store)
            stores.append(store)
        }
    }

    /// Only the operator knows whether newer rows of such a store were restored.
    mutating func judgeNewer(_ environment: RecheckEnvironment) {
        let names = Set(environment.stores.filter(\.isDatedByRestoration).map(\.name))
        for index in stores.indices
        where names.contains(stores[index].name) && stores[index].newer > 0
            && stores[index].error == nil
        {
            stores[index].error = "newer_than_erasure"
            stores[index].detail =
                "if it was restored, say when with --restored-at; if not, replay the others"
        }
    }
}

/// What a run found in one store.
package struct StoreReport: Codable, Hashable, Sendable {
    package let name: StoreName
    /// Erased users, or ids of them, of which something was there.
    package var found = 0
    package var erased = 0
    package var rows = 0
    /// Rows that were left, since they are newer than the cutoff or have no date.
    package var newer = 0
    package var error: String?
    package var detail: String?

    package init(name: StoreName) { self.name = name }
}

/// Stores and settings that a run depends on.
package struct RecheckEnvironment: Sendable {
    /// Those that can be asked, in the order of the configuration.
    package let stores: [RecheckStore]
    /// From the end of a deletion to each recheck.
    package let intervals: [Duration]

    package init(stores: [RecheckStore], intervals: [Duration]) {
        (self.stores, self.intervals) = (stores, intervals)
    }

    func store(_ name: StoreName) -> RecheckStore? { stores.first { $0.name == name } }

    func names(of terms: ReplayTerms) -> [StoreName] {
        stores.map(\.name).filter { terms.store == nil || terms.store == $0 }
    }

    /// Stores whose ids rows of others name, in the order of purging, each behind its source.
    func dependents(of names: Set<StoreName>) -> [StoreName] {
        var reached = names
        return stores.compactMap { store in
            guard let source = store.keyedBy, reached.contains(source) else { return nil }
            reached.insert(store.name)
            return store.name
        }
    }

    /// The stores whose rows name the ids of a store, next one first.
    func sources(of name: StoreName) -> [StoreName] {
        var chain: [StoreName] = []
        var next = store(name)?.keyedBy
        while let source = next, !chain.contains(source) {
            chain.append(source)
            next = store(source)?.keyedBy
        }
        return chain
    }
}

/// What a run has to know of a store.
package struct RecheckStore: Hashable, Sendable {
    package let name: StoreName
    /// What of it has no time cutoff; `nil` where everything has one.
    package var withoutTimestamps: String?
    package var isDatedByRestoration = false
    package var keyedBy: StoreName?
    /// The name under which these ids are kept; `nil` where users have their own id.
    package var keyName: KeyName?
    package var hasKeys = false

    package init(name: StoreName) { self.name = name }
}
