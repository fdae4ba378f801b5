import Lifecycle

/// One session at the server of a queue, which belongs to one thread at a time.
protocol QueueSession: AnyObject, SendableMetatype {
    associatedtype Plan: Sendable
    associatedtype Queue: QueueDialect

    /// Wakes the waits of the present call.
    var signal: CancelSignal? { get set }

    static func openQueue(
        _ plan: Plan,
        signal: CancelSignal?,
        uptime: @escaping @Sendable () -> Duration
    ) throws(SQLError) -> Self

    /// Runs a statement without parameters and rows.
    func run(_ sql: String) throws(SQLError)

    /// Runs a statement with parameters as text and answers its rows as text.
    func texts(_ sql: String, _ values: [String?]) throws(SQLError) -> [[String?]]

    /// Waits for an update of the server.
    ///
    /// - Returns: `false` when none came in time.
    func awaitNotification(within time: Duration) throws(SQLError) -> Bool
}
