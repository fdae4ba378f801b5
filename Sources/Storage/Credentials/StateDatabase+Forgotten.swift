import Encoding
package import Lifecycle

/// Kept for good: a receipt is made anew each time, and must always say the same.
extension ForgottenIdentity {
    init(text: String) throws {
        let values = try ColumnText(text, "note")
        self.init(
            provider: ProviderName(try values.text(2)),
            at: try values.time(0),
            uid: UInt32(truncatingIfNeeded: try values.int64(1))
        )
    }

    var text: String {
        ColumnText.encode([.time(at), .int(Int(uid)), .string(provider.rawValue)])
    }

    static func prefix(_ userHash: [UInt8]) -> String {
        "forgotten:" + Hexadecimal.text(userHash) + ":"
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
            let before = try database.time(
                """
                SELECT max(ended_at) FROM requests WHERE user_hash = ? AND ended_at < ?
                  AND kind = 'delete_account' AND phase = 'completed'
                """,
                [.blob(userHash), .time(end)]
            )
            return try database.all(
                "SELECT value FROM meta WHERE key > ? AND key < ? ORDER BY value",
                [.text("note:" + prefix), .text("note:" + prefix + "~")]
            ) { try ForgottenIdentity(text: $0.text()) }
            .filter { entry in entry.at <= end && before.map { entry.at > $0 } ?? true }
        }
    }
}
