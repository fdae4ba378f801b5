import Lifecycle

/// Calls Google's interfaces as a service account.
package struct GoogleClient: Sendable {
    let client: RemoteClient
    let tokens: ServiceAccountTokenSource
    let now: @Sendable () -> WallTime

    /// Authorizes and makes one call, and reads its answer by a table that ``table(_:)`` made.
    package func call(_ request: RemoteRequest, _ table: ReplyTable) async -> ReplyReading {
        let token: Secret
        switch await tokens.token() {
        case .token(let found): token = found
        case .failure(let failure): return ReplyReading(meaning: .failure(failure))
        }
        guard let authorization = Authorization.bearer(token) else {
            return ReplyReading(meaning: .failure(.misconfigured))
        }
        var request = request
        request.authorization = authorization
        let outcome = await client.send(request)
        let reading = table.read(outcome, now: now())
        guard case .reply(let reply) = outcome, reply.status == 401 else { return reading }
        tokens.reject(token)
        // About the account's token, and no user's.
        return reading.meaning == .failure(.rejected)
            ? ReplyReading(meaning: .failure(.unusable)) : reading
    }

    /// Closes all connections; must be called before the client is released.
    package func shutdown() async { await client.shutdown() }

    /// A table with the rows that hold for all of Google's interfaces behind those of one call.
    ///
    /// "Errors" (cloud.google.com/apis/design/errors) and "HTTP status and error codes for JSON"
    /// (Cloud Storage): a 403 with one of four reasons is a full quota, any other one a missing
    /// permission. A 401 is a token that was refused; the next try brings another one.
    package static func table(_ rows: [ReplyRow]) -> ReplyTable {
        ReplyTable(rows + common)
    }

    private static let common = [
        ReplyRow(
            403,
            .member("error.errors.0.reason", .text(quotaReasons)),
            .failure(.throttled(retryAfter: nil))
        ),
        ReplyRow(403, .member("error", .isPresent), .failure(.misconfigured)),
    ]

    private static let quotaReasons: Set<String> = [
        "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
    ]
}
