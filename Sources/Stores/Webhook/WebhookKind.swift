import Encoding
import Engine
import HTTP
import Lifecycle
import Logging
import NIOCore
import NIOHTTP1
package import Settings

/// A service of the operator's own that deals with some other store.
package struct WebhookKind: DelegatedKind {
    package static let name = "webhook"
    package static let summary = "a service of your own"
    package static let traits = StoreTraits()

    package static let settings: [Setting] = [
        Setting(
            .store,
            "url",
            .text(.url),
            .required(example: .text("https://crm.example.com/erasure")),
            "Address of your service."
        ),
        .messageKey(.store, example: "crm-webhook-secret").outsidePlans(),
        .caFile(.store, example: "/etc/expunged/crm-ca.pem").outsidePlans(),
        .privateAddresses(.store).outsidePlans(),
        .callTimeout,
    ]

    package let url: String
    package let secretCredential: String
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let allowsPrivateAddresses: Bool
    package let timeout: Duration
    var copy: String?

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("the service knows its store; it has no tables here")
        url = section.requiredText("url")
        if let url = EndpointURL(url), !url.isEncrypted {
            problems.report(.malformed, "url", "user ids travel over https only")
        }
        secretCredential = section.requiredText("secret_credential")
        caFile = section.text("ca_file")
        allowsPrivateAddresses = section.flag("allow_private_addresses")
        timeout = section.duration("timeout")
    }

    package func open(_ environment: StoreEnvironment) throws -> DelegatedStore {
        guard let signature = WebhookSignature(try environment.line(secretCredential)) else {
            throw StoreSetupError(
                environment.name,
                "credential '\(secretCredential)' must be 24 to 64 bytes in base64"
            )
        }
        var settings = RemoteSettings(owner: environment.owner, caFile: caFile)
        settings.allowsPrivateAddresses = allowsPrivateAddresses
        settings.timeoutTotal = timeout
        let adapters = environment.adapters
        return DelegatedStore(
            name: environment.name,
            delegate: try WebhookDelegate(
                url: url,
                settings,
                signature: signature,
                on: adapters.eventLoop(of: environment.owner),
                now: adapters.now,
                logger: adapters.logger
            ),
            clock: environment.clock,
            copy: copy
        )
    }
}

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
