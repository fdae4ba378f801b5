package import Engine
import HTTP
package import Lifecycle

/// A database of Firestore in native mode.
///
/// Documents go with everything below them; an interrupted purge finds what is left when it is
/// asked again, since each document goes after what is below it.
package struct FirestoreTarget: SweepingTarget, GoogleTarget, UserListing, CoverageSearching {
    /// The most that the database keeps earlier versions for, where it does not say how long
    /// (firebase.google.com/docs/firestore/pitr).
    static let versionRetentionMax = Duration.seconds(7 * 86_400)
    /// firestore.proto, `google.api.oauth_scopes`.
    static let scopes = ["https://www.googleapis.com/auth/datastore"]

    let plan: FirestoreTargetPlan
    let session: GoogleSession
    let database: FirestoreDatabase
    private let ramp = WriteRamp()

    init(_ plan: FirestoreTargetPlan, _ session: GoogleSession) throws(SetupError) {
        (self.plan, self.session) = (plan, session)
        database = try FirestoreDatabase(plan, session)
    }

    package var name: TargetName { plan.name }

    /// Earlier versions of what is deleted are residual copies.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let retention = await versionRetention()
        return await swept(orders) { _ in
            let end = clock.wall() + retention
            return [PurgeCounts.ResidualCopies(.earlierVersions, plan.database, until: end)]
        }
    }

    func sweep(_ order: PurgeOrder) throws(CallFailure) -> FirestoreSweep {
        let owned = try UserPath.owned(plan.documents, by: order.user)
        return FirestoreSweep(
            places: owned.map { .document($0.path, $0.names) } + plan.queries.map { .query($0) },
            user: order.user,
            cutoff: order.cutoff,
            database: database,
            walk: PageWalk(clock: clock),
            ramp: ramp,
            plan: plan
        )
    }

    /// Whether the database is there and permits what a purge needs.
    package func inspect(withOutages: Bool) async -> TargetFindings {
        let diagnosis = FirestoreDiagnosis(plan: plan, database: database)
        return TargetFindings(problems: await diagnosis.problems(withOutages: withOutages))
    }

    /// How long earlier versions can be read; the longest when the account may not ask.
    private func versionRetention() async -> Duration {
        do throws(CallFailure) {
            return try await database.versionRetention()
        } catch {
            return Self.versionRetentionMax
        }
    }

    /// Looks for collections and documents that no rule leads to, at the root and along the rules.
    package func coverage() async -> CoverageAnswer {
        let groups = Set(plan.queries.filter(\.isGroup).map(\.collection))
        let list = { (place: [String]) async throws(CallFailure) -> UnmappedTree.Level in
            if place.count.isMultiple(of: 2) {
                return UnmappedTree.Level(names: try await database.collections(of: place))
            }
            let page = try await database.documents(in: place, from: nil)
            return UnmappedTree.Level(
                names: page.documents.compactMap(\.path.last),
                isWhole: page.next == nil
            )
        }
        var unmapped = UnmappedTree(list: list) { name, place in
            place.count.isMultiple(of: 2) && groups.contains(name)
        }
        let rules =
            plan.documents.map { UnmappedTree.Rule($0) }
            + plan.queries.filter { !$0.isGroup }.map { query in
                UnmappedTree.Rule(
                    (query.parent + [query.collection]).map { .name($0) }
                        + (plan.includesSubcollections ? [] : [.any]),
                    takesAllBelow: plan.includesSubcollections
                )
            }
        do throws(CallFailure) {
            try await unmapped.look(rules)
        } catch {
            return .failure(error.failure)
        }
        return .findings(
            unmapped.findings(plan.documents.map(\.description) + plan.queries.map(\.description))
        )
    }
}
