import NIOCore

/// A sandbox that takes calls, and the commands to it; the admin routes do the same over HTTP.
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

    package func log(after sequence: UInt64 = 0) -> [CallRecord] {
        admin.journal.records(after: sequence)
    }

    /// Starts a fault plan; its calls are counted from now on.
    package func inject(_ plan: FaultPlan) { admin.faults.start(plan) }

    /// Fails the next `count` calls to one endpoint, of one provider or of all, in one way.
    package func inject(
        _ kind: FaultKind,
        at endpoint: SandboxEndpoint,
        of provider: SandboxProvider? = nil,
        count: Int = 1
    ) {
        var plan = FaultPlan(rate: 1, kinds: [kind], endpoints: [endpoint], limit: count)
        plan.providers = provider.map { [$0] }
        inject(plan)
    }

    /// Moves the sandbox's clock away from the machine's by `offset`.
    package func setClockOffset(_ offset: Duration) {
        let (seconds, attoseconds) = offset.components
        admin.clock.setOffset(milliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

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
