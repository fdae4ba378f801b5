import Encoding
import HTTP
import Lifecycle

/// Calls of one region, signed
/// (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html).
struct DynamoDBClient: Sendable {
    static let contentType = "application/x-amz-json-1.0"

    let client: AWSClient
    let walk: PageWalk

    func shutdown() async { await client.shutdown() }

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
        let reply = try await client.send(
            AWSSigner.Message(
                method: "POST",
                authority: client.authority,
                path: "/",
                headers: [
                    (name: "content-type", value: Self.contentType),
                    (name: "x-amz-target", value: "DynamoDB_20120810.\(operation)"),
                ],
                body: writer.bytes
            )
        )
        let json = JSONValue(reply.body)
        guard reply.status == 200, let json, case .object = json else {
            throw failure(reply, json?["__type"]?.string)
        }
        return json
    }

    /// Classifies an error
    /// (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html).
    private func failure(_ reply: RemoteReply, _ type: String?) -> CallFailure {
        let code = type.map { String($0.split(separator: "#").last ?? "") }
        let pause = client.pause(reply)
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
