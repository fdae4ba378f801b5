import Lifecycle

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
