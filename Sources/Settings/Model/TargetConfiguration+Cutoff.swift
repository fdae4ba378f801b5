extension DaemonConfiguration {
    /// ``TargetConfiguration/without timestamps``; of what goes with its last owner that is no loss.
    package func withoutTimestamps(_ target: TargetConfiguration) -> String? {
        target.keyedBy.map(isShared) == true ? nil : target.withoutTimestamps
    }
}

extension TargetConfiguration {
    /// What is erased of the target without a time cutoff, also elsewhere because its rows lead
    /// there, and why, for an operator; `nil` where everything has one.
    ///
    /// There nobody can tell what a restoration brought back from what an account has that was
    /// registered anew under the same id.
    package var withoutTimestamps: String? {
        switch kind {
        case .sqlite, .postgresql:
            let tables = kind.tables.filter { $0.action.name != .keep && $0.createdAt == nil }
            let keys = keys.filter { !$0.isShared && $0.createdAt == nil }
            var seen: Set<String> = []
            let bare = (tables.map(\.table) + keys.map(\.table)).filter {
                seen.insert($0).inserted
            }
            return bare.isEmpty ? nil : "no created_at_column for \(bare.joined(separator: ", "))"
        case .redis: return "Redis does not date its keys"
        case .realtimeDatabase: return kind.hasTimestamps ? nil : "no created_at_child"
        case .files, .command, .webhook, .s3, .cloudStorage, .firestore, .firebaseAuth: return nil
        }
    }

    /// What could be done about ``without timestamps``.
    package var cutoffRemedy: String? {
        switch kind {
        case .sqlite, .postgresql: "name the column that dates their rows"
        case .realtimeDatabase: "name the child in which the application dates the data"
        case .files, .command, .webhook, .s3, .cloudStorage, .firestore, .firebaseAuth, .redis: nil
        }
    }
}

/// Whether a store can tell what is newer than a request.
extension TargetKind {
    /// Whether the store as a whole has a time cutoff; tables have one each.
    package var hasTimestamps: Bool {
        switch self {
        // A program or a service is told the cutoff and leaves newer data alone.
        case .files, .command, .webhook, .s3, .cloudStorage, .firestore, .firebaseAuth: true
        case .realtimeDatabase(let database): database.createdAtChild != nil
        case .sqlite, .postgresql, .redis: false
        }
    }
}
