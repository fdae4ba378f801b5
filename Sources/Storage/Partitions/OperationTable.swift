import Encoding
import Engine
import Lifecycle

/// Operations that any host accepts and the owner of the partition executes and answers.
struct OperationTable {
    private enum Column: Int32, Columns {
        case partition, work, answer, answeredAt
    }

    let database: any StateConnection

    /// How long an answer is kept for its caller.
    private static let answerLifetime = "interval '1 hour'"

    /// Adds an operation for the owner; one on a request that is not there is answered at once.
    func insert(_ work: OperationRow.Work) throws -> OperationID {
        let partition = try partition(of: work)
        let id = try database.first(
            """
            INSERT INTO operations (\(Column.names()))
            VALUES (?, ?, ?, CASE WHEN ? = 1 THEN now() END) RETURNING id
            """,
            [
                .int(Int64(partition?.number ?? 0)), .text(try work.columnText),
                .text(partition == nil ? OperationOutcome.notOpen.columnText : nil),
                .bool(partition == nil),
            ]
        ) { OperationID(rowID: $0.int64()) }
        guard let id else { throw StorageError.malformed("operations") }
        return id
    }

    /// Has the owners of users learn of what this host has stored about their identities.
    ///
    /// In the commit that stores it: what is answered is never forgotten.
    func announce(_ identity: IdentityID, of userHash: [UInt8]) throws {
        _ = try insert(.learn(identity, of: userHash))
    }

    private func partition(of work: OperationRow.Work) throws -> Partition? {
        switch work {
        case .learn(_, let userHash): Partition(userHash: userHash)
        case .operate(let id, _):
            try database.first(
                "SELECT user_hash FROM requests WHERE id = ? AND ended_at IS NULL",
                [.id(id)]
            ) { Partition(userHash: $0.blob()) }
        }
    }

    /// Without an answer, in the order of their ids.
    func unanswered(in scope: PartitionScope) throws -> [OperationRow] {
        try database.all(
            """
            SELECT id, partition, work FROM operations
            WHERE answer IS NULL\(scope.term()) ORDER BY id LIMIT ?
            """,
            [.int(Limits.windowMax)]
        ) { row in
            OperationRow(
                id: OperationID(rowID: row.int64("id")),
                partition: try row.partition("partition"),
                work: try OperationRow.Work(columnText: row.text("work"))
            )
        }
    }

    /// Answers an operation, and forgets what was answered long ago.
    func answer(_ id: OperationID, _ outcome: OperationOutcome) throws {
        try database.run(
            """
            UPDATE operations SET answer = ?, answered_at = now() WHERE id = ? AND answer IS NULL
            """,
            [.text(outcome.columnText), .int(id.rowID)]
        )
        try database.send(
            "DELETE FROM operations WHERE answered_at < now() - \(Self.answerLifetime)"
        )
    }

    /// `nil` while there is none.
    ///
    /// - Throws: ``StorageError`` of kind `malformed`, also when the answer was forgotten.
    func outcome(of id: OperationID) throws -> OperationOutcome? {
        let answer = try database.first(
            "SELECT answer FROM operations WHERE id = ?",
            [.int(id.rowID)]
        ) { $0.textOrNil() }
        guard let answer else { throw StorageError.malformed("operations") }
        return try answer.map { try OperationOutcome(columnText: $0) }
    }
}
