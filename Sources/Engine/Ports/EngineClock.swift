package import Lifecycle

/// Time as the engine sees it.
package protocol EngineClock: Sendable {
    /// Civil time that never jumps while the process runs.
    func now() -> WallTime

    /// Sleeps until `time`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(until time: WallTime) async throws
}
