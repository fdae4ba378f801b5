/// Wakes one loop; what is sent while it works is one signal.
package struct WakeSignal: Sendable {
    package let signals: AsyncStream<Void>
    private let sender: AsyncStream<Void>.Continuation

    package init() {
        (signals, sender) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func send() { sender.yield() }

    /// Ends the loop after what waits.
    package func finish() { sender.finish() }

    /// Returns with the next signal or the end of `rest`, whichever comes first; to be called once.
    ///
    /// - Throws: What `rest` throws, or `CancellationError`.
    package func wait(orAfter rest: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { [signals] group in
            group.addTask { try await rest() }
            group.addTask { for await _ in signals { return } }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}
