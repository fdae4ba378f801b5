import Encoding
import HTTP
import Lifecycle
import Logging
import NIOCore
import NIOHTTP1

/// A service that deals with a store: one signed POST per question.
///
/// Over https alone, to the configured URL alone; a redirect is a wrong URL.
struct WebhookDelegate: PurgeDelegate {
    /// Calls under way at a time: enough to hide the round trip, few enough for a small service.
    let concurrency = 8
    private let client: RemoteClient
    private let endpoint: RemoteEndpoint
    private let signature: WebhookSignature
    private let now: @Sendable () -> WallTime

    /// - Throws: ``HTTP/SetupError`` for a URL or a certificate file that cannot be used.
    init(
        url: String,
        _ settings: RemoteSettings,
        signature: WebhookSignature,
        on group: any EventLoopGroup,
        now: @escaping @Sendable () -> WallTime,
        logger: Logger
    ) throws(SetupError) {
        endpoint = try RemoteEndpoint(whole: url, method: .POST, settings)
        client = try RemoteClient(settings, eventLoopGroup: group, logger: logger)
        self.signature = signature
        self.now = now
    }

    func ask(_ question: DelegatedQuestion) async -> ObjectReply {
        var request = RemoteRequest(endpoint, .json(question.body))
        request.headers = signature.headers(
            id: question.idempotencyKey,
            time: now(),
            body: question.body.bytes
        )
        switch await client.send(request) {
        case .unsent:
            return .failure(client.didRefusePeer ? .misconfigured : .unreachable)
        case .lost: return .failure(.lost)
        case .oversized: return .failure(.unusable)
        case .reply(let reply): return answer(reply)
        }
    }

    private func answer(_ reply: RemoteReply) -> ObjectReply {
        let pause = reply.retryAfter.flatMap { RetryAfter.duration($0, now: now()) }
        switch reply.status {
        case 200...202:
            guard let json = ReplyBody(reply).json, case .object = json else {
                return .failure(.unusable)
            }
            return .answer(json)
        case 429, 503: return .failure(.throttled(retryAfter: pause))
        // Redirects are not followed; what refuses the signature or has no such page is set up
        // wrongly. A user without data is a 200 with counts of zero.
        case 300...399, 401, 403, 404, 405, 410: return .failure(.misconfigured)
        default: return .failure(.unusable)
        }
    }

    func shutdown() async { await client.shutdown() }

    func advice(_ failure: EffectFailure) -> String {
        switch failure {
        case .misconfigured:
            client.didRefusePeer
                ? "the service's address is private, which allow_private_addresses does not permit"
                : "the service refuses the call: a redirect, 401, 403, 404, 405 or 410 (url,"
                    + " secret_credential)"
        case .unreachable: "no connection, or no certificate for the host (url, ca_file)"
        case .throttled: "the service says that it is overloaded"
        case .lost: "the service did not answer in time (timeout)"
        case .unusable, .rejected, .refused, .refusesAll, .sealBroken, .vaultSealed, .keys,
            .blocked, .notConfigured:
            "the service's answer to 'diagnose' is no JSON object with a known outcome"
        }
    }
}
