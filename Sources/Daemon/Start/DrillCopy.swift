import Engine

/// A target that works on a copy of its store, for a drill.
enum DrillCopy: Sendable {
    /// To be shut down.
    case made(any PurgeTarget)
    /// A code for machines, and the same in words.
    case refused(code: String, detail: String)

    func shutDown() async {
        if case .made(let target) = self { await target.shutdown() }
    }
}
