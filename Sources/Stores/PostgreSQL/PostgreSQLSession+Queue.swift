extension PostgreSQLSession: QueueSession {
    typealias Queue = PostgreSQLQueueDialect

    static func openQueue(
        _ plan: PostgreSQLTargetPlan,
        signal: CancelSignal?,
        uptime: @escaping @Sendable () -> Duration
    ) throws(SQLError) -> PostgreSQLSession {
        try open(plan, signal: signal, uptime: uptime)
    }

    func texts(_ sql: String, _ values: [String?]) throws(SQLError) -> [[String?]] {
        try query(sql, values).rows
    }
}
