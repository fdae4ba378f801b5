extension TargetConfiguration {
    /// ``TargetKind/unfenced``, or the tables without a fence whose rows lead to other stores.
    package var unfenced: String? {
        if let unfenced = kind.unfenced { return unfenced }
        let bare = keys.filter { !$0.isShared && $0.createdAt == nil }.map(\.table)
        return bare.isEmpty ? nil : "no created_at_column for \(bare.joined(separator: ", "))"
    }
}

/// Whether a store can tell what is newer than a request.
extension TargetKind {
    /// Whether the store as a whole has a time fence; tables have one each.
    package var isFenced: Bool {
        switch self {
        // A program or a service is told the fence and leaves newer data alone.
        case .files, .command, .webhook, .s3, .cloudStorage, .firestore, .firebaseAuth: true
        case .realtimeDatabase(let database): database.createdAtChild != nil
        case .sqlite, .postgresql, .redis: false
        }
    }

    /// What is erased of the store without a time fence, and why, for an operator; `nil` where
    /// everything has one.
    ///
    /// There nobody can tell what a restoration brought back from what an account has that was
    /// registered anew under the same id.
    package var unfenced: String? {
        switch self {
        case .sqlite, .postgresql:
            let bare = tables.filter { $0.action.name != .keep && $0.createdAt == nil }.map(\.table)
            return bare.isEmpty ? nil : "no created_at_column for \(bare.joined(separator: ", "))"
        case .redis: return "Redis does not date its keys"
        case .realtimeDatabase: return isFenced ? nil : "no created_at_child"
        case .files, .command, .webhook, .s3, .cloudStorage, .firestore, .firebaseAuth: return nil
        }
    }
}
