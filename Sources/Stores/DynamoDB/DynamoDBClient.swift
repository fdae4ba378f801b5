import Encoding
import HTTP
import Lifecycle
import Logging
import NIOCore
import NIOHTTP1

/// Calls of one region, signed
/// (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html).
struct DynamoDBClient: Sendable {
    private static let contentType = "application/x-amz-json-1.0"

    private let signer: AWSSigner
    private let remote: RemoteClient
    private let endpoint: RemoteEndpoint
    private let authority: String
    let walk: PageWalk

    /// - Throws: ``HTTP/SetupError`` for an endpoint or certificate file that cannot be used.
    init(
        _ plan: DynamoDBStorePlan,
        on group: any EventLoopGroup,
        clock: StoreClock,
        logger: Logger
    ) throws(SetupError) {
        signer = plan.signer
        walk = PageWalk(clock: clock)
        let base = try RemoteBaseURL(plan.endpoint, plan.remote)
        authority = base.authority
        endpoint = try RemoteEndpoint(
            base,
            path: "",
            method: .POST,
            headers: [("Accept", Self.contentType)]
        )
        remote = try RemoteClient(plan.remote, eventLoopGroup: group, logger: logger)
    }

    func shutdown() async { await remote.shutdown() }

    /// Makes a call, and again while the server asks for a pause.
    ///
    /// - Throws: ``CallFailure``; a condition that does not hold has the code
    ///   `ConditionalCheckFailedException`.
    func send(_ operation: String, _ body: JSONValue) async throws(CallFailure) -> JSONValue {
        var tries = 0
        while true {
            do throws(CallFailure) {
                return try await sendOnce(operation, body)
            } catch {
                guard case .throttled = error.failure, tries < DynamoDBLimits.retriesMax else {
                    throw error
                }
                tries += 1
                try await walk.rest(RetryPolicy.changedDocument.delay(failures: tries))
            }
        }
    }

    private func sendOnce(
        _ operation: String,
        _ body: JSONValue
    ) async throws(CallFailure) -> JSONValue {
        var writer = JSONWriter()
        writer.value(body)
        let message = AWSSigner.Message(
            method: "POST",
            authority: authority,
            path: "/",
            headers: [
                (name: "content-type", value: Self.contentType),
                (name: "x-amz-target", value: "DynamoDB_20120810.\(operation)"),
            ],
            body: writer.bytes
        )
        var request = RemoteRequest(endpoint, encodedSuffix: "/", .raw(writer.bytes))
        request.headers = signer.headers(for: message, at: walk.clock.wall())
        switch await remote.send(request) {
        case .unsent: throw CallFailure(.unreachable)
        case .lost: throw CallFailure(.lost)
        case .oversized: throw CallFailure(.unusable)
        case .reply(let reply):
            let json = JSONValue(reply.body)
            guard reply.status == 200, let json, case .object = json else {
                throw failure(reply, json?["__type"]?.string)
            }
            return json
        }
    }

    /// Classifies an error
    /// (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html).
    private func failure(_ reply: RemoteReply, _ type: String?) -> CallFailure {
        let code = type.map { String($0.split(separator: "#").last ?? "") }
        let pause = reply.retryAfter.flatMap { RetryAfter.duration($0, now: walk.clock.wall()) }
        let failure: EffectFailure =
            switch code {
            case "InternalServerError", "LimitExceededException",
                "ProvisionedThroughputExceededException", "RequestLimitExceeded",
                "ServiceUnavailable", "ThrottlingException", "TransactionConflictException":
                .throttled(retryAfter: pause)
            case "AccessDeniedException", "ExpiredTokenException", "IncompleteSignatureException",
                "InvalidSignatureException", "MissingAuthenticationTokenException",
                "ResourceNotFoundException", "UnrecognizedClientException":
                .misconfigured
            default:
                switch reply.status {
                case 429, 500, 503: .throttled(retryAfter: pause)
                case 300...399, 401, 403, 404: .misconfigured
                default: .unusable
                }
            }
        return CallFailure(failure, code: code)
    }
}
