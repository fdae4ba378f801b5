package import Engine
import HTTP
package import Lifecycle

/// The accounts of Firebase Authentication or Identity Platform: sessions are ended, then the
/// account is deleted.
///
/// It has to be the last store: while the account is there its owner can still sign in and say
/// what is missing.
package struct FirebaseAuthStore: UserListing {
    /// Id tokens that were handed out live for an hour, whatever becomes of the account ("Manage
    /// User Sessions", firebase.google.com).
    static let tokenLifetime = Duration.seconds(3_600)
    /// The name of the one row on the receipt.
    static let row = "accounts"

    package let name: StoreName
    let accounts: IdentityToolkit
    /// Dates the end of sessions, and paces reading.
    let clock: StoreClock

    /// Looks each account up, ends its sessions and deletes it.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await OrderPool.map(orders) { await purge($0) }
    }

    /// Asks for each account by a query; the purge looked it up by its id.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await OrderPool.map(orders) { order in
            switch await accounts.query(order.user) {
            case .none: .clean
            case .account(let account): Self.isNewer(account, than: order) ? .clean : .remaining(1)
            case .failure(let failure): .failure(failure)
            }
        }
    }

    /// Tells whether there is an account.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        let counts: PurgeCounts
        switch await accounts.find(order.user) {
        case .none: counts = Self.counts(deleted: 0)
        case .account(let account):
            let isNewer = Self.isNewer(account, than: order)
            counts = Self.counts(deleted: isNewer ? 0 : 1, newer: isNewer ? 1 : 0)
        case .failure(let failure): return .failure(failure)
        }
        return .items(counts.entries.map { PlanItem(deletion: $0) })
    }

    /// Goes through all accounts, a page at a time.
    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        var found: Set<UserID> = []
        var token: Secret?
        do throws(CallFailure) {
            try await PageWalk(clock: clock).run { () throws(CallFailure) in
                switch await accounts.list(after: token) {
                case .failure(let failure): throw CallFailure(failure)
                case .page(let users, let next):
                    found.formUnion(users.filter(isWanted))
                    // A listing that does not move on never ends.
                    if let next, let token, next.isEqual(to: token) {
                        throw CallFailure(.unusable)
                    }
                    token = next
                    return token != nil
                }
            }
            return .found(Array(found))
        } catch {
            return .failure(error.failure)
        }
    }

    /// Looks up, and asks the query for, an account that cannot be.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        StoreFindings(problems: await problems(withOutages: withOutages))
    }

    package func shutdown() async { await accounts.shutdown() }

    private func problems(withOutages: Bool) async -> [String] {
        var place = "the accounts of the project"
        var failure = await accounts.diagnose()
        if failure == nil {
            place += " (accounts:query, which verifies)"
            failure = await accounts.diagnoseQuery()
        }
        guard let failure else { return [] }
        return CallFailure(failure).findings(at: place, withOutages: withOutages)
    }

    private func purge(_ order: PurgeOrder) async -> PurgeAnswer {
        guard !order.isStopped else { return .stopped }
        switch await accounts.find(order.user) {
        case .failure(let failure): return .failure(failure)
        case .none: return .done(Self.counts(deleted: 0))
        case .account(let account):
            guard !Self.isNewer(account, than: order) else {
                return .done(Self.counts(deleted: 0, newer: 1))
            }
        }
        let time = clock.wall()
        if case .failure(let failure) = await accounts.endSessions(of: order.user, before: time) {
            return .failure(failure)
        }
        switch await accounts.delete(order.user) {
        case .failure(let failure):
            return .failure(failure)
        case .none, .done:
            var counts = Self.counts(deleted: 1)
            counts.note(
                PurgeCounts.ResidualCopies(.idTokens, until: time + Self.tokenLifetime)
            )
            return .done(counts)
        }
    }

    /// An account of a later life of the same id.
    private static func isNewer(_ account: FirebaseAccount, than order: PurgeOrder) -> Bool {
        account.createdAt.map { $0 > order.cutoff } ?? false
    }

    private static func counts(deleted: Int, newer: Int = 0) -> PurgeCounts {
        PurgeCounts(entries: [
            .init(name: row, action: .rule(.delete), rowCount: deleted, newerCount: newer)
        ])
    }
}
