package import Engine
package import Lifecycle

/// A database of Firestore in native mode.
///
/// Documents go with everything below them; an interrupted purge finds what is left when it is
/// asked again, since each document goes after what is below it.
package struct FirestoreStore: SweepingStore, GoogleStore, UserListing, CoverageSearching {
    /// The most that the database keeps earlier versions for, where it does not say how long
    /// (firebase.google.com/docs/firestore/pitr).
    static let versionRetentionMax = Duration.seconds(7 * 86_400)
    /// firestore.proto, `google.api.oauth_scopes`.
    static let scopes = ["https://www.googleapis.com/auth/datastore"]

    package let name: StoreName
    /// Documents that go with everything below them.
    let documents: [UserPath]
    /// With the paths not empty.
    let queries: [FieldQuery]
    /// Whether what is below a document that a query finds goes along.
    let includesSubcollections: Bool
    let session: GoogleSession
    let database: FirestoreDatabase
    /// Documents of one write; as Google's own bulk writer (nodejs-firestore, `bulk-writer.ts`).
    var batchSize = 20
    let ramp = WriteRamp()

    /// Earlier versions of what is deleted are residual copies.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let retention = await versionRetention()
        return await swept(orders) { _ in
            let end = clock.wall() + retention
            return [PurgeCounts.ResidualCopies(.earlierVersions, database.id, until: end)]
        }
    }

    func sweep(_ order: PurgeOrder) throws(CallFailure) -> FirestoreSweep {
        let owned = try UserPath.owned(documents, by: order.user)
        return FirestoreSweep(
            places: owned.map { .document($0.path, $0.names) } + queries.map { .query($0) },
            user: order.user,
            cutoff: order.cutoff,
            database: database,
            walk: PageWalk(clock: clock),
            ramp: ramp,
            includesSubcollections: includesSubcollections,
            batchSize: batchSize
        )
    }

    /// Whether the database is there and permits what a purge needs.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        let diagnosis = FirestoreDiagnosis(store: self)
        return StoreFindings(problems: await diagnosis.problems(withOutages: withOutages))
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
        let groups = Set(queries.filter(\.isGroup).map(\.collection))
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
            documents.map { UnmappedTree.Rule($0) }
            + queries.filter { !$0.isGroup }.map { query in
                UnmappedTree.Rule(
                    (query.parent + [query.collection]).map { .name($0) }
                        + (includesSubcollections ? [] : [.any]),
                    takesAllBelow: includesSubcollections
                )
            }
        do throws(CallFailure) {
            try await unmapped.look(rules)
        } catch {
            return .failure(error.failure)
        }
        return .findings(
            unmapped.findings(documents.map(\.description) + queries.map(\.description))
        )
    }
}
