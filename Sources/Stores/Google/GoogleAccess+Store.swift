import Engine
import HTTP
import Lifecycle

extension GoogleAccess {
    /// Makes a target that works on one user at a time, and at most eight objects of theirs.
    func open(
        _ name: TargetName,
        in environment: StoreEnvironment,
        scopes: [String],
        answerMax: Int,
        _ body: (GoogleClient, RemoteSettings) throws -> any PurgeTarget
    ) async throws -> any PurgeTarget {
        try await open(
            for: .target(name),
            scopes: scopes,
            in: environment.adapters,
            adjust: {
                $0.answerMax = answerMax
                $0.concurrency = 8
            },
            body
        )
    }
}
