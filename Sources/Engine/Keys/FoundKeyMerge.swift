package import Lifecycle

/// Which stored rows of found ids count, and which ids are new beside them.
package enum FoundKeyMerge: Hashable, Sendable {
    /// For a deletion: every row.
    case all
    /// For a replay: what a replay found. It destroys these rows itself.
    case late
    /// For ids that a purge found: those of its own kind.
    ///
    /// An open request keeps them for its purges, an ended one for the replay that found them.
    case found(open: Set<RequestID>)
    /// For a reopened recheck record: what the deletion found.
    case reopened

    /// Whether a row of this request counts; `isLate` rows are of replays.
    package func counts(isLate: Bool, of request: RequestID) -> Bool {
        switch self {
        case .all: true
        case .late: isLate
        case .found(let open): isLate == !open.contains(request)
        case .reopened: !isLate
        }
    }

    /// The ids of the rows that count, sorted; `nil` without a row: the ids were never looked for.
    package static func ids(of rows: [FoundKeys]) -> [UserID]? {
        guard !rows.isEmpty else { return nil }
        return Set(rows.flatMap(\.ids)).sorted { $0.exposeText() < $1.exposeText() }
    }

    /// The rows to add: one for each request and name with ids that no row has.
    ///
    /// Without any row an empty one is added, which says that the ids were looked for. `rows` are
    /// those that count. Ids of a reopened record leave no tombstones.
    package func added(_ found: [FoundKeys], besides rows: [FoundKeys]) -> [FoundKeys] {
        let stored = Dictionary(grouping: rows, by: Owner.init)
        return Dictionary(grouping: found, by: Owner.init).compactMap { owner, found in
            let rows = stored[owner] ?? []
            let new = Set(found.flatMap(\.ids)).subtracting(rows.flatMap(\.ids))
            guard rows.isEmpty || !new.isEmpty else { return nil }
            return FoundKeys(
                request: owner.request,
                name: owner.name,
                ids: Array(new),
                isOwn: self != .reopened && found.contains(where: \.isOwn)
            )
        }
    }

    private struct Owner: Hashable {
        let request: RequestID
        let name: KeyName

        init(_ keys: FoundKeys) { (request, name) = (keys.request, keys.name) }
    }
}
