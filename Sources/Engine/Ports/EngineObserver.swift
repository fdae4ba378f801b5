package import Lifecycle

/// Hears what the engine did, once it is durable.
///
/// Calls are short and never block.
package protocol EngineObserver: Sendable {
    func changed(_ request: Request)

    func announced(_ announcement: Announcement, of request: RequestID)

    func reported(_ report: EngineReport)
}

/// An error of the store that says whether waiting helps.
package protocol StoreFailure: Error {
    /// True when nothing was committed and the same batch may succeed later (the disk is full).
    /// False when the truth is unknown: the process must exit and read it again.
    var isRetryable: Bool { get }
}
