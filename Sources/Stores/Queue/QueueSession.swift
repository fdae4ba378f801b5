/// One session at the server of a queue, which belongs to one thread at a time.
protocol QueueSession: SQLSession, SendableMetatype {
    associatedtype Queue: QueueDialect

    /// Runs a statement with parameters as text and answers its rows as text.
    func texts(_ sql: String, _ values: [String?]) throws(SQLError) -> [[String?]]

    /// Waits for an update of the server.
    ///
    /// - Returns: `false` when none came in time.
    func awaitNotification(within time: Duration) throws(SQLError) -> Bool
}
