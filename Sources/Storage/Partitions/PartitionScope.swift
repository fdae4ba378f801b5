import Lifecycle

/// The partitions that a statement concerns, as terms for the end of a condition.
///
/// Only rows of a state that hosts share know their partition.
struct PartitionScope: Sendable {
    /// Of a single host, which has all for ever: every term is empty.
    static let all = PartitionScope(partitions: nil)

    private let partitions: PartitionSet?

    private init(partitions: PartitionSet?) { self.partitions = partitions }

    init(_ partitions: PartitionSet) { self.init(partitions: partitions) }

    init(_ claims: [PartitionClaim]) { self.init(PartitionSet(claims.map(\.partition))) }

    /// Whether other hosts have partitions.
    var isShared: Bool { partitions != nil }

    func contains(_ partition: Partition) -> Bool { partitions?.contains(partition) ?? true }

    /// Such as ` AND partition IN (1,2)`, for a column of a partition.
    func term(_ column: String = "partition") -> String {
        guard let partitions, partitions != .all else { return "" }
        let numbers = partitions.members.map(\.description).joined(separator: ",")
        return " AND \(column) IN (\(numbers.isEmpty ? "-1" : numbers))"
    }

    func ofRequest(_ column: String) -> String {
        within("requests q WHERE q.id = \(column)", "q.partition")
    }

    func ofIdentity(_ column: String) -> String {
        within("identities o JOIN users u ON u.id = o.owner WHERE o.id = \(column)", "u.partition")
    }

    func ofCredential(_ column: String) -> String {
        within(
            """
            credentials k JOIN identities o ON o.id = k.identity_id JOIN users u ON u.id = o.owner
            WHERE k.id = \(column)
            """,
            "u.partition"
        )
    }

    /// For a column with the id of a row of `users`.
    func ofUser(_ column: String) -> String {
        within("users u WHERE u.id = \(column)", "u.partition")
    }

    private func within(_ rows: String, _ column: String) -> String {
        let term = term(column)
        return term.isEmpty ? "" : " AND EXISTS (SELECT 1 FROM \(rows)\(term))"
    }
}
