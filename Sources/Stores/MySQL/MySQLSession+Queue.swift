extension MySQLSession: QueueSession {
    typealias Queue = MySQLQueueDialect

    func texts(_ sql: String, _ values: [String?]) throws(SQLError) -> [[String?]] {
        // LIMIT takes numbers only.
        try query(
            sql,
            values.map { value in
                value.map { text in
                    Int64(text).map { .integer($0) } ?? .text(Array(text.utf8))
                } ?? .null
            }
        ).rows.map { $0.map(\.text) }
    }

    /// The server passes nothing on.
    func awaitNotification(within time: Duration) throws(SQLError) -> Bool { false }
}
