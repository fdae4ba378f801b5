import Cryptography
package import Lifecycle

/// The scope that ended requests name, and what the ledger gets of their receipts.
struct EnforcedScope: Sendable {
    let id: Int
    let digest: @Sendable (Request) -> [UInt8]?
}

extension StateDatabase {
    /// Has requests that end from now on name a scope: what receipts need of the configuration,
    /// never personal or secret.
    ///
    /// `digest` hashes the receipt of a completed request for its last entry in the ledger. It runs
    /// within the commit, so it must be quick.
    package func enforce(
        scope document: String,
        digest: @escaping @Sendable (Request) -> [UInt8]? = { _ in nil }
    ) async throws {
        let id = try await writer.perform { database in
            try database.run("UPDATE scopes SET is_current = 0 WHERE is_current = 1")
            try database.run(
                """
                INSERT INTO scopes (digest, document, is_current) VALUES (?, ?, 1)
                ON CONFLICT (digest) DO UPDATE SET is_current = 1
                """,
                [.blob(SHA256.hash(Array(document.utf8))), .text(document)]
            )
            return try database.int("SELECT id FROM scopes WHERE is_current = 1")
        }
        // Not before the commit: a request that ends meanwhile has all of the scope of before.
        appender.scope = EnforcedScope(id: id, digest: digest)
    }

    /// The scope in force, that of the last start before this start has one; `nil` in a new state.
    package func enforcedScope() async throws -> String? {
        try await first(Self.enforcedScopeQuery) { $0.text() }
    }

    static let enforcedScopeQuery = "SELECT document FROM scopes WHERE is_current = 1"

    /// The scope of an ended request; `nil` while it is open.
    package func scope(of id: RequestID) async throws -> String? {
        try await first(
            """
            SELECT document FROM scopes
            WHERE id = (SELECT scope FROM requests WHERE requests.id = ?)
            """,
            [.id(id)]
        ) { $0.text() }
    }
}
