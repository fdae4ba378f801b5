import GRDB
package import Lifecycle

/// An identity that an operator had forgotten: nothing can be revoked for it any more.
///
/// Kept for good, like the requests whose receipts name it: a receipt is made anew each time, and
/// must always say the same.
package struct ForgottenIdentity: Hashable, Sendable {
    package let provider: ProviderName
    package let at: WallTime
    /// The operator's.
    package let uid: UInt32

    package init(provider: ProviderName, at: WallTime, uid: UInt32) {
        self.provider = provider
        self.at = at
        self.uid = uid
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count == 3, let at = Int64(parts[0]), let uid = UInt32(parts[1]) else {
            return nil
        }
        self.init(
            provider: ProviderName(String(parts[2])),
            at: WallTime(unixMilliseconds: at),
            uid: uid
        )
    }

    var text: String { "\(at.unixMilliseconds) \(uid) \(provider.rawValue)" }

    /// The names of those of one user begin with this.
    static func prefix(_ userHash: [UInt8]) -> String {
        let digits = userHash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "forgotten:" + digits.joined() + ":"
    }
}

extension StateDatabase {
    /// What was forgotten of the user between an earlier deletion of the account, if there was one,
    /// and the end of this request.
    package func forgotten(
        of userHash: [UInt8],
        until end: WallTime
    ) async throws -> [ForgottenIdentity] {
        try await read { database in
            let prefix = ForgottenIdentity.prefix(userHash)
            let before =
                try database.first(
                    """
                    SELECT max(ended_at) FROM requests WHERE user_hash = ? AND ended_at < ?
                      AND kind = 'delete_account' AND phase = 'completed'
                    """,
                    [.blob(userHash), .time(end)]
                ) { $0.timeOrNil() } ?? nil
            return try database.all(
                "SELECT value FROM meta WHERE key > ? AND key < ? ORDER BY value",
                [.text("note:" + prefix), .text("note:" + prefix + "~")]
            ) { ForgottenIdentity(text: $0.text()) }
            .compactMap { $0 }
            .filter { entry in entry.at <= end && before.map { entry.at > $0 } ?? true }
        }
    }
}
