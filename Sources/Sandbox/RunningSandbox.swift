import NIOCore

/// A sandbox that takes calls.
package struct RunningSandbox: Sendable {
    package let port: Int
    /// The .p8 that signs client secrets, unless the configuration brought its own key.
    package let appleKeyPEM: String
    let files: SandboxDirectory
    let admin: AdminRoutes
    let channel: any Channel
    let connections: OpenConnections

    var families: SandboxFamilies { admin.families }
    /// What a client uses as `base_url`: `https://localhost:PORT`.
    package var baseURL: String { "https://localhost:\(port)" }
    /// What a client must trust, as a file (`ca_file`).
    package var authorityFile: String { files.file("ca.pem") }
    /// The directory of `ca.pem`, `apple-key.p8`, `endpoint` and `logs.jsonl`.
    package var directory: String { files.path }

    /// Stops listening, closes every connection and takes `endpoint` away.
    ///
    /// - Throws: ``SandboxError`` when the log file is not complete or the directory cannot be
    ///   cleaned; a channel error when it is called twice.
    package func shutdown() async throws {
        try await channel.close().get()
        connections.closeAll()
        try files.retire()
        if let failure = admin.journal.failure { throw failure }
    }
}
