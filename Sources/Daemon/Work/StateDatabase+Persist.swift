import Engine
import Lifecycle
import Storage

extension StateDatabase {
    /// A full disk is worth another try after this.
    private static let retryDelay = Duration.seconds(1)

    /// Writes, again and again while the disk is full.
    ///
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func persist<Value>(
        _ clock: any EngineClock,
        _ body: (StateDatabase) async throws -> Value
    ) async throws -> Value {
        while true {
            do {
                return try await body(self)
            } catch let error as any StoreFailure where error.isRetryable {
                try await clock.sleep(until: clock.now() + Self.retryDelay)
            }
        }
    }
}
