import Encoding
import Engine
import Lifecycle

/// Goes through the items of one user: removes or releases them, or counts what is left.
struct DynamoDBSweep: UserSweep {
    typealias Item = DynamoDBDatabase.Item
    typealias Search = DynamoDBDatabase.Search

    /// What an item is to this order.
    private enum Verdict {
        case due(isUndated: Bool)
        case newer(isAhead: Bool)
        /// Gone, another user's, or released already.
        case settled
    }

    let store: DynamoDBStore
    let order: PurgeOrder

    var places: [ItemRule] { settings.rules }
    private var settings: DynamoDBKind { store.settings }
    private var database: DynamoDBDatabase { store.database }
    private var walk: PageWalk { store.walk }

    // MARK: Removal

    func remove(_ rule: ItemRule) async throws(CallFailure) -> PurgeCounts {
        let search = try await search(rule)
        try await settle(search)
        // The key says whose an item is, and nothing else is compared.
        let isPlain = rule.index == nil && column(search) == nil && rule.released.isEmpty
        var counter = SweepCounter()
        try await walk.pages { position throws(CallFailure) in
            let page = try await database.items(search, from: position)
            if isPlain {
                try await database.delete(page.items, of: search.table)
                counter.count += page.items.count
            } else {
                let verdicts = try await map(page.items) { item throws(CallFailure) in
                    try await change(item, search)
                }
                for verdict in verdicts { note(verdict, &counter) }
            }
            return page.next
        }
        let action = rule.released.isEmpty ? PlanItem.Action.delete : .anonymize
        return PurgeCounts(entries: [counter.entry(rule.description, action)])
    }

    /// Changes one item, if it is due; again when it has changed meanwhile.
    ///
    /// - Returns: ``Verdict/due(isUndated:)`` for one that was changed.
    private func change(_ listed: Item, _ search: Search) async throws(CallFailure) -> Verdict {
        var item: Item? = listed
        for tries in 1...DynamoDBLimits.retriesMax {
            // What an index lists may be another user's by now.
            if search.rule.index != nil || tries > 1 {
                item = try await database.item(listed, search)
            }
            guard let current = item else { return .settled }
            let verdict = try verdict(current, search)
            guard case .due = verdict else { return verdict }
            let isDone =
                try await search.rule.released.isEmpty
                ? database.delete(current, search)
                : database.release(current, search, masks: settings.masks)
            if isDone { return verdict }
            try await walk.rest(RetryPolicy.changedDocument.delay(failures: tries))
        }
        throw CallFailure(.throttled(retryAfter: nil))
    }

    // MARK: Counting

    func preview(_ rule: ItemRule) async throws(CallFailure) -> [PlanItem] {
        let search = try await search(rule)
        try await settle(search)
        var counter = SweepCounter()
        try await walk.pages { position throws(CallFailure) in
            let page = try await database.items(search, from: position)
            try await look(at: page.items, search, &counter)
            return page.next
        }
        let isDated = column(search) != nil
        return [
            PlanItem(
                name: rule.description,
                action: rule.released.isEmpty ? .delete : .anonymize,
                count: counter.count,
                newerCount: counter.newerCount,
                undatedCount: counter.undatedCount,
                hasNoTimestamps: !isDated
            )
        ]
    }

    /// Reads in the other direction than the purge; of a late index each item, too.
    ///
    /// Where the configuration says so, the whole table behind an index is read.
    func remaining(_ rule: ItemRule) async throws(CallFailure) -> Leftover {
        let search = try await search(rule)
        try await settle(search)
        var counter = SweepCounter()
        var pageCount = 0
        try await walk.pages { position throws(CallFailure) in
            let page = try await database.items(search, isReversed: true, from: position)
            try await look(at: page.items, search, &counter)
            pageCount += 1
            let isEnough = counter.count > 0 && pageCount >= PageWalk.countedPages
            return isEnough ? nil : page.next
        }
        if rule.index != nil, settings.verifiesByScan, counter.count == 0 {
            var scanned = SweepCounter()
            try await walk.pages { position throws(CallFailure) in
                let page = try await database.scannedItems(search, from: position)
                for item in page.items { note(try verdict(item, search), &scanned) }
                return page.next
            }
            counter = scanned
        }
        return Leftover(count: counter.count, isAhead: counter.isAhead)
    }

    private func look(
        at items: [Item],
        _ search: Search,
        _ counter: inout SweepCounter
    ) async throws(CallFailure) {
        guard search.rule.index != nil else {
            for item in items { note(try verdict(item, search), &counter) }
            return
        }
        let verdicts = try await map(items) { listed throws(CallFailure) in
            guard let item = try await database.item(listed, search) else { return .settled }
            return try verdict(item, search)
        }
        for verdict in verdicts { note(verdict, &counter) }
    }

    private func note(_ verdict: Verdict, _ counter: inout SweepCounter) {
        switch verdict {
        case .due(let isUndated):
            counter.count += 1
            counter.undatedCount += isUndated ? 1 : 0
        case .newer(let isAhead):
            counter.newerCount += 1
            counter.isAhead = counter.isAhead || isAhead
        case .settled: break
        }
    }

    // MARK: Judging

    private func search(_ rule: ItemRule) async throws(CallFailure) -> Search {
        let table = try await store.catalog.table(settings.tablePrefix + rule.table)
        guard table.problem(of: rule) == nil else { throw CallFailure(.misconfigured) }
        guard let value = table.value(of: order.user, by: rule) else {
            throw CallFailure(.unusable)
        }
        let date = settings.datedBy[rule.table].map { [$0.attribute] } ?? []
        return Search(
            rule: rule,
            table: table,
            value: value,
            attributes: [rule.attribute] + date + rule.released,
            isLate: rule.index.flatMap { table.indexes[$0] }?.isGlobal ?? false
        )
    }

    private func column(_ search: Search) -> ItemDate.Column? {
        settings.datedBy[search.rule.table]
    }

    private func verdict(_ item: Item, _ search: Search) throws(CallFailure) -> Verdict {
        let rule = search.rule
        if !rule.released.isEmpty, rule.released.allSatisfy({ isReleased($0, item) }) {
            return .settled
        }
        guard let column = column(search) else { return .due(isUndated: false) }
        switch ItemDate(item.attributes, column) {
        case .none: return .due(isUndated: true)
        case .unreadable:
            // Nobody can tell whether it is newer than the request.
            throw CallFailure(
                .blocked(Obstacle(.future, at: rule.description, name: column.attribute))
            )
        case .at(let time):
            guard time > order.cutoff else { return .due(isUndated: false) }
            return .newer(isAhead: time > order.datesUpTo ?? walk.clock.wall())
        }
    }

    private func isReleased(_ attribute: String, _ item: Item) -> Bool {
        guard let value = item.attributes[attribute] else { return true }
        return settings.masks[attribute].map { value == ["S": .string($0)] } ?? false
    }

    /// Waits until a late index has what was written before the request.
    private func settle(_ search: Search) async throws(CallFailure) {
        guard search.isLate else { return }
        let wait = (order.cutoff + DynamoDBLimits.indexDelay).since(walk.clock.wall())
        guard wait > .zero else { return }
        try await walk.rest(min(wait, DynamoDBLimits.indexDelay))
    }

    /// Works on items a few at a time.
    private func map(
        _ items: [Item],
        _ body: @escaping @Sendable (Item) async throws(CallFailure) -> Verdict
    ) async throws(CallFailure) -> [Verdict] {
        let results = await OrderPool.map(items) { item -> Result<Verdict, CallFailure> in
            do throws(CallFailure) {
                return .success(try await body(item))
            } catch {
                return .failure(error)
            }
        }
        return try results.map { result throws(CallFailure) in try result.get() }
    }
}
