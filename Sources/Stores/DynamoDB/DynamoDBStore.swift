import Encoding
package import Engine
import HTTP
package import Lifecycle
import Logging
import NIOCore

/// Tables of DynamoDB.
///
/// An interrupted purge finds what is left when it is asked again.
package struct DynamoDBStore: SweepingStore, UserListing, CoverageSearching {
    package let name: StoreName
    let plan: DynamoDBStorePlan
    let database: DynamoDBDatabase
    let catalog: DynamoDBCatalog
    let clock: StoreClock
    private let client: DynamoDBClient

    /// - Throws: ``HTTP/SetupError`` for an endpoint or certificate file that cannot be used.
    init(
        plan: DynamoDBStorePlan,
        on group: any EventLoopGroup,
        clock: StoreClock,
        logger: Logger
    ) throws(SetupError) {
        name = plan.name
        self.plan = plan
        self.clock = clock
        client = try DynamoDBClient(plan, on: group, clock: clock, logger: logger)
        database = DynamoDBDatabase(client: client, pageSize: plan.pageSize)
        catalog = DynamoDBCatalog(client, clock: clock)
    }

    /// Backups, recovery and the stream of each table are residual copies.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await swept(orders) { _ throws(CallFailure) in
            var copies: [PurgeCounts.ResidualCopies] = []
            for table in Set(plan.rules.map(\.table)).sorted() {
                copies += try await catalog.copies(of: plan.prefix + table)
            }
            return copies
        }
    }

    func sweep(_ order: PurgeOrder) throws(CallFailure) -> DynamoDBSweep {
        DynamoDBSweep(
            places: plan.rules,
            user: order.user,
            cutoff: order.cutoff,
            datesUpTo: order.datesUpTo,
            database: database,
            catalog: catalog,
            walk: PageWalk(clock: clock),
            plan: plan
        )
    }

    /// Whether the tables and indexes are there, fit the rules, and permit what a purge needs.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        let diagnosis = DynamoDBDiagnosis(plan: plan, client: client, database: database)
        return StoreFindings(problems: await diagnosis.problems(withOutages: withOutages))
    }

    package func shutdown() async { await client.shutdown() }

    /// Goes through the keys of all items of each rule.
    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        var found: Set<UserID> = []
        do throws(CallFailure) {
            for rule in plan.rules {
                let table = try await catalog.table(plan.prefix + rule.table)
                guard table.problem(of: rule) == nil else { throw CallFailure(.misconfigured) }
                try await PageWalk(clock: clock).pages { position throws(CallFailure) in
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
            let known = Set(plan.rules.map { plan.prefix + $0.table })
            let unmapped = try await tables().filter {
                $0.hasPrefix(plan.prefix) && !known.contains($0)
            }
            let rules = UnmappedNames.configured(plan.rules.map(\.description))
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
        try await PageWalk(clock: clock).pages { (last: String?) throws(CallFailure) in
            let page = try await database.tables(after: last)
            names += page.names
            pageCount += 1
            return pageCount < DynamoDBLimits.listPagesMax ? page.next : nil
        }
        return names
    }
}
