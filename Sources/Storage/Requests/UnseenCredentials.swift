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
            Stored(
                identity: try row.identityID("identity"),
                credential: row.isNull("credential") ? nil : row.credentialID("credential"),
                refusedCount: row.int("refused_credentials"),
                userHash: row.blob("user_hash")
            )
        }
        guard let first = stored.first, stored.contains(where: { isUnseen($0, by: request) }) else {
            return false
        }
        return try VaultIdentity.all(of: first.userHash, database)
            .contains { request.hasNotSeen($0.snapshot) }
    }

    private func isUnseen(_ stored: Stored, by request: Request) -> Bool {
        guard let known = request.revocations.first(where: { $0.identity == stored.identity })
        else { return true }
        let isKnown = stored.credential.map { id in known.credentials.contains { $0.id == id } }
        return isKnown == false || stored.refusedCount > known.refusedCount
    }

    private struct Stored {
        let identity: IdentityID
        let credential: CredentialID?
        let refusedCount: Int
        let userHash: [UInt8]
    }
}
