import Lifecycle

/// Tries what a purge does on documents that nobody has.
struct FirestoreDiagnosis {
    let store: FirestoreStore

    private var database: FirestoreDatabase { store.database }

    /// One sentence per problem.
    func problems(withOutages: Bool) async -> [String] {
        let nobody = UserID.nobody()
        var problems: [String] = []
        do throws(CallFailure) {
            _ = try await database.collections(of: [])
            for path in store.documents {
                guard let names = path.names(of: nobody) else { continue }
                problems += try await self.problems(of: path, names)
            }
            for query in store.queries {
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
