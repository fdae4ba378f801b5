import Encoding
package import Engine
package import Lifecycle

/// Tables of DynamoDB.
///
/// An interrupted purge finds what is left when it is asked again.
package struct DynamoDBStore: SweepingStore, UserListing, CoverageSearching {
    package let name: StoreName
    let settings: DynamoDBKind
    let client: DynamoDBClient
    let database: DynamoDBDatabase
    let catalog: DynamoDBCatalog
    let clock: StoreClock

    /// Makes the store; `pageSize` is how many items a page of a query has.
    init(
        _ name: StoreName,
        _ settings: DynamoDBKind,
        _ client: AWSClient,
        clock: StoreClock,
        pageSize: Int = 500
    ) {
        (self.name, self.settings, self.clock) = (name, settings, clock)
        let client = DynamoDBClient(client: client, walk: PageWalk(clock: clock))
        self.client = client
        database = DynamoDBDatabase(client: client, pageSize: pageSize)
        catalog = DynamoDBCatalog(client, clock: clock)
    }

    /// Backups, recovery and the stream of each table are residual copies.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await swept(orders) { _ throws(CallFailure) in
            var copies: [PurgeCounts.ResidualCopies] = []
            for table in Set(settings.rules.map(\.table)).sorted() {
                copies += try await catalog.copies(of: settings.tablePrefix + table)
            }
            return copies
        }
    }

    func sweep(_ order: PurgeOrder) throws(CallFailure) -> DynamoDBSweep {
        DynamoDBSweep(store: self, order: order)
    }

    /// Whether the tables and indexes are there, fit the rules, and permit what a purge needs.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        StoreFindings(problems: await problems(withOutages: withOutages))
    }

    package func shutdown() async { await client.shutdown() }

    /// Goes through the keys of all items of each rule.
    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        var found: Set<UserID> = []
        do throws(CallFailure) {
            for rule in settings.rules {
                let table = try await catalog.table(settings.tablePrefix + rule.table)
                guard table.problem(of: rule) == nil else { throw CallFailure(.misconfigured) }
                try await walk.pages { position throws(CallFailure) in
                    let page = try await database.values(of: rule, in: table, from: position)
                    let texts = page.values.compactMap { $0["S"]?.string ?? $0["N"]?.string }
                    found.formUnion(texts.compactMap(rule.user).filter(isWanted))
                    return page.next
                }
            }
            return .found(Array(found))
        } catch {
            return .failure(error.failure)
        }
    }

    /// Looks for tables of the region that no rule names.
    package func coverage() async -> CoverageAnswer {
        do throws(CallFailure) {
            let known = Set(settings.rules.map { settings.tablePrefix + $0.table })
            let unmapped = try await tables().filter {
                $0.hasPrefix(settings.tablePrefix) && !known.contains($0)
            }
            let rules = UnmappedNames.configured(settings.rules.map(\.description))
            let found = unmapped.sorted().map {
                CoverageFinding.open($0, "a table that no rule names")
            }
            return .findings(rules + found)
        } catch {
            return .failure(error.failure)
        }
    }

    private func tables() async throws(CallFailure) -> [String] {
        var names: [String] = []
        var pageCount = 0
        try await walk.pages { (last: String?) throws(CallFailure) in
            let page = try await database.tables(after: last)
            names += page.names
            pageCount += 1
            return pageCount < DynamoDBLimits.listPagesMax ? page.next : nil
        }
        return names
    }
}
