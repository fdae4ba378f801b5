import Lifecycle

/// Tries what a purge does on documents that nobody has.
struct FirestoreDiagnosis {
    private let plan: FirestoreTargetPlan
    private let database: FirestoreDatabase

    init(_ plan: FirestoreTargetPlan, _ database: FirestoreDatabase) {
        self.plan = plan
        self.database = database
    }

    /// One sentence per problem; what waiting mends is one only `withOutages`.
    func problems(withOutages: Bool = true) async -> [String] {
        let nobody = UserID.nobody()
        var problems: [String] = []
        do throws(GoogleFailure) {
            _ = try await database.collections(of: [])
            for path in plan.documents {
                guard let names = path.names(of: nobody) else { continue }
                problems += try await self.problems(of: path, names)
            }
            for query in plan.queries {
                if try await isRefused({ () throws(GoogleFailure) in
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
            guard withOutages || error.failure == .misconfigured else { return [] }
            let place = "the database '\(plan.database)' of project '\(plan.project)'"
            return [GoogleFailure.sentence(error.failure, place)]
        }
        return problems
    }

    private func problems(
        of path: UserPath,
        _ names: [String]
    ) async throws(GoogleFailure) -> [String] {
        var problems: [String] = []
        if try await isRefused({ () throws(GoogleFailure) in
            _ = try await database.document(at: names)
            _ = try await database.descendants(of: names, after: nil)
            _ = try await database.collections(of: names)
        }) {
            problems.append("reading '\(path)' and below is refused (roles/datastore.user)")
        }
        if try await isRefused({ () throws(GoogleFailure) in
            _ = try await database.delete([database.absentDocument(names)])
        }) {
            problems.append("deleting '\(path)' is refused (roles/datastore.user)")
        }
        return problems
    }

    private func isRefused(
        _ body: () async throws(GoogleFailure) -> Void
    ) async throws(GoogleFailure) -> Bool {
        do throws(GoogleFailure) {
            try await body()
            return false
        } catch {
            guard error.failure == .misconfigured else { throw error }
            return true
        }
    }
}
