package import Lifecycle

/// Time as the engine sees it.
package protocol EngineClock: Sendable {
    func now() -> WallTime

    /// Sleeps until `time`, or until the system's clock has jumped.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(until time: WallTime) async throws

    /// How often the system's clock has jumped; sleeps that began before have ended.
    var stepCount: Int { get }
}

extension EngineClock {
    /// A clock that never jumps.
    package var stepCount: Int { 0 }
}
