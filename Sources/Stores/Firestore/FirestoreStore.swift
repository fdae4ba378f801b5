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
            store: self,
            order: order
        )
    }

    /// Whether the database is there and permits what a purge needs.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        StoreFindings(problems: await problems(withOutages: withOutages))
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

extension FirestoreStore {
    /// Goes through the documents (or collections) that are named after users, those that are not
    /// there but have something below them among them, and through the fields that name users.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        var fields: [(FieldQuery, FieldPath)] = []
        for query in queries {
            guard let path = FieldPath(query.field) else {
                let reason = "is no path of \(FieldPath.namesMax) names or fewer"
                return .unknown("the field of '\(query)' \(reason), so it cannot be read back")
            }
            fields.append((query, path))
        }
        var found: Set<UserID> = []
        do throws(CallFailure) {
            for path in documents { found.formUnion(try await users(of: path, isWanted)) }
            for (query, path) in fields {
                try await walk.pages { last throws(CallFailure) in
                    let texts = try await database.owners(query, at: path, after: last ?? "")
                    found.formUnion(texts.compactMap { UserID($0) }.filter(isWanted))
                    return texts.last
                }
            }
            return .found(Array(found))
        } catch {
            return .failure(error.failure)
        }
    }

    private func users(
        of path: UserPath,
        _ isWanted: (UserID) -> Bool
    ) async throws(CallFailure) -> Set<UserID> {
        guard !path.root.count.isMultiple(of: 2) else {
            let names = try await database.collections(of: path.root)
            return Set(names.compactMap(path.user).filter(isWanted))
        }
        var found: Set<UserID> = []
        try await walk.pages { token throws(CallFailure) in
            let page = try await database.documents(in: path.root, from: token)
            let names = page.documents.compactMap(\.path.last)
            found.formUnion(names.compactMap(path.user).filter(isWanted))
            return page.next
        }
        return found
    }
}

extension FirestoreStore {
    /// Tries what a purge does on documents that nobody has; one sentence per problem.
    private func problems(withOutages: Bool) async -> [String] {
        let nobody = UserID.nobody()
        var problems: [String] = []
        do throws(CallFailure) {
            _ = try await database.collections(of: [])
            for path in documents {
                guard let names = path.names(of: nobody) else { continue }
                problems += try await self.problems(of: path, names)
            }
            for query in queries {
                if try await CallFailure.isRefused({ () throws(CallFailure) in
                    _ = try await database.matches(query, nobody, by: .equal, after: nil)
                    _ = try await database.matches(query, nobody, by: .within, after: nil)
                    _ = try await database.count(query, nobody)
                }) {
                    problems.append(
                        "the query '\(query)' is refused: a query of any collection needs an index"
                            + " of the field for collection groups"
                    )
                }
            }
        } catch {
            let place = "the database '\(database.id)' of project '\(database.project)'"
            return error.findings(at: place, withOutages: withOutages)
        }
        return problems
    }

    private func problems(
        of path: UserPath,
        _ names: [String]
    ) async throws(CallFailure) -> [String] {
        var problems: [String] = []
        if try await CallFailure.isRefused({ () throws(CallFailure) in
            _ = try await database.document(at: names)
            _ = try await database.descendants(of: names, after: nil)
            _ = try await database.collections(of: names)
        }) {
            problems.append("reading '\(path)' and below is refused (roles/datastore.user)")
        }
        if try await CallFailure.isRefused({ () throws(CallFailure) in
            _ = try await database.delete([database.absentDocument(names)])
        }) {
            problems.append("deleting '\(path)' is refused (roles/datastore.user)")
        }
        return problems
    }
}
