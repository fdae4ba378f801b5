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

/// An error of the state that says whether waiting helps.
package protocol StoreFailure: Error {
    /// True when nothing was committed and the same batch may succeed later (the disk is full).
    /// False when the truth is unknown: the process must exit and read it again.
    var isRetryable: Bool { get }
}

extension EngineClock {
    /// Writes, again and again while the disk is full.
    ///
    /// - Throws: `CancellationError`, or the error of a state whose truth is unknown.
    package func persist<Value>(_ write: () async throws -> Value) async throws -> Value {
        while true {
            do {
                return try await write()
            } catch let failure as any StoreFailure where failure.isRetryable {
                try await sleep(until: now() + RetryPolicy.fullDisk.first)
            }
        }
    }
}
