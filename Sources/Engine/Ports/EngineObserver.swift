package import Lifecycle

/// Hears what the engine did, once it is durable.
///
/// Calls are short and never block.
package protocol EngineObserver: Sendable {
    func changed(_ request: Request)

    func announced(_ announcement: Announcement, of request: RequestID)

    func reported(_ report: EngineReport)
}
