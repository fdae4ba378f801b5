import Lifecycle

/// Who gave up on revoking and why; kept beside the request, for the receipt.
struct AbandonNote: Hashable, Sendable {
    let uid: UInt32
    let reason: String

    init(uid: UInt32, reason: String) {
        self.uid = uid
        self.reason = reason
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let uid = UInt32(parts[0]) else { return nil }
        self.init(uid: uid, reason: String(parts[1]))
    }

    var text: String { "\(uid) \(reason)" }

    /// The name under which the state keeps it.
    static func name(of id: RequestID) -> String { "abandon:\(id)" }

    /// The same for the looks at a completed deletion.
    static func name(ofRecheck id: RequestID) -> String { "abandon_case:\(id)" }
}
