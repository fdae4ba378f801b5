package import Engine
package import Lifecycle

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
                try await PageWalk(clock: clock).pages { last throws(CallFailure) in
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
        try await PageWalk(clock: clock).pages { token throws(CallFailure) in
            let page = try await database.documents(in: path.root, from: token)
            let names = page.documents.compactMap(\.path.last)
            found.formUnion(names.compactMap(path.user).filter(isWanted))
            return page.next
        }
        return found
    }
}
