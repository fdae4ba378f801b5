import Engine
import HTTP

/// A target that works on a copy of its store, for a drill.
enum DrillCopy: Sendable {
    /// To be shut down with what it calls Google with.
    case made(any PurgeTarget, GoogleClient?)
    /// A code for machines, and the same in words.
    case refused(code: String, detail: String)

    /// Closes connections.
    func shutDown() async {
        guard case .made(let target, let client) = self else { return }
        await target.shutdown()
        await client?.shutdown()
    }
}
