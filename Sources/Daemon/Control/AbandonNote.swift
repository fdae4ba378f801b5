import Lifecycle

/// Who gave up on revoking and why; kept beside the request, for the receipt.
struct AbandonNote: Hashable, Sendable {
    let uid: UInt32
    let reason: String
}

extension AbandonNote {
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let uid = UInt32(parts[0]) else { return nil }
        self.init(uid: uid, reason: String(parts[1]))
    }

    var text: String { "\(uid) \(reason)" }

    static func name(of id: RequestID) -> String { "abandon:\(id)" }

    static func name(ofRecheck id: RequestID) -> String { "abandon_case:\(id)" }
}
