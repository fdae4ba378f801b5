extension PostgreSQLSession: QueueSession {
    typealias Queue = PostgreSQLQueueDialect

    func texts(_ sql: String, _ values: [String?]) throws(SQLError) -> [[String?]] {
        try query(sql, values).rows
    }
}
