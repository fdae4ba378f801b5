import Engine
import Lifecycle

/// Credentials that were stored right before their user's deletion would end revoking.
///
/// After that the vault takes no more credentials of the user. Those that it has taken are revoked
/// first, so a request that does not know one of them may not go on.
struct UnseenCredentials {
    let database: any StateConnection

    /// - Throws: ``StorageError`` of kind `credentialUnseen`, with the requests.
    func refuse(_ changes: [StateChange]) throws {
        var unseenBy: [RequestID] = []
        for case .some(let request) in changes.lazy.map(\.endsRevoking) {
            if try hasUnseen(request) { unseenBy.append(request.id) }
        }
        guard !unseenBy.isEmpty else { return }
        var error = StorageError(.credentialUnseen, "end revoking", at: "credentials")
        error.unseenBy = unseenBy
        throw error
    }

    private func hasUnseen(_ request: Request) throws -> Bool {
        let stored = try database.all(
            """
            SELECT i.id AS identity, i.refused_credentials, c.id AS credential, u.user_hash
            FROM requests r JOIN users u ON u.user_hash = r.user_hash
              JOIN identities i ON i.owner = u.id LEFT JOIN credentials c ON c.identity_id = i.id
            WHERE r.id = ?
            """,
            [.id(request.id)]
        ) { row in
            let identity = try row.identityID("identity")
            let known = request.revocations.first { $0.identity == identity }
            let credential = row.isNull("credential") ? nil : row.credentialID("credential")
            let isSeen =
                row.int("refused_credentials") <= known?.refusedCount ?? -1
                && (credential == nil
                    || known?.credentials.contains { $0.id == credential } ?? false)
            return (isSeen: isSeen, userHash: row.blob("user_hash"))
        }
        guard let first = stored.first, stored.contains(where: { !$0.isSeen }) else { return false }
        return try VaultIdentity.all(of: first.userHash, database)
            .contains { request.hasNotSeen($0.snapshot) }
    }
}
