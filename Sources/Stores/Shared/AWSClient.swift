import HTTP
import Lifecycle
import NIOHTTP1
import Settings

/// How a service of Amazon's, or a server that speaks its protocol, is reached.
struct AWSAccess: Hashable, Sendable {
    /// `https://HOST[:PORT]`.
    let endpoint: String
    let region: String
    /// `nil` for the system's authorities.
    var caFile: String?
    let accessKeyID: String
    let secretKeyCredential: String
    var sessionTokenCredential: String?
    let timeout: Duration

    /// Makes a client of the service at a URL, whose answers have the media type `accept`.
    ///
    /// - Throws: Why a credential cannot be read; ``HTTP/SetupError`` for a URL or certificate file
    ///   that cannot be used.
    func client(
        of service: String,
        at url: String,
        accept: String,
        concurrency: Int,
        _ environment: StoreEnvironment
    ) throws -> AWSClient {
        let keys = AWSSigner.Keys(
            accessKeyID: accessKeyID,
            secretKey: try environment.line(secretKeyCredential),
            sessionToken: try sessionTokenCredential.map(environment.line)
        )
        var settings = RemoteSettings(
            owner: environment.owner,
            caFile: caFile,
            concurrency: concurrency
        )
        // A page has 1,000 names of up to 1,024 bytes, or 1 MiB of items; escapes make it longer.
        settings.answerMax = 8 << 20
        settings.timeoutTotal = timeout
        let signer = AWSSigner(keys: keys, region: region, service: service)
        return try AWSClient(signer, at: url, accept: accept, settings, in: environment.adapters)
    }
}

extension AWSAccess {
    /// Reads a section; without an endpoint it is that of the service in the region.
    init(_ service: String, _ section: SettingsSection, _ problems: inout SectionProblems) {
        region = section.requiredText("region")
        endpoint = section.text("endpoint") ?? "https://\(service).\(region).amazonaws.com"
        caFile = section.text("ca_file")
        accessKeyID = section.requiredText("access_key_id")
        secretKeyCredential = section.requiredText("secret_key_credential")
        sessionTokenCredential = section.text("session_token_credential")
        timeout = section.duration("timeout")
        if let url = EndpointURL(endpoint), !url.isEncrypted {
            problems.report(.malformed, "endpoint", "user ids travel over https only")
        }
    }

    /// The keys of an access key; the examples of its credentials begin with the prefix.
    static func keySettings(examples prefix: String) -> [Setting] {
        Setting.keys(
            .store,
            isOutsidePlans: true,
            (
                "access_key_id", .text(.clientID),
                .required(example: .text("AKIAIOSFODNN7EXAMPLE")), "Public part of the access key."
            ),
            (
                "secret_key_credential", .text(.credential),
                .required(example: .text("\(prefix)-secret-key")),
                "Secret part of the access key, on one line."
            ),
            (
                "session_token_credential", .text(.credential),
                .optional(example: .text("\(prefix)-session-token")),
                "Session token of a temporary access key, on one line."
            )
        )
    }
}

/// Calls of a service of Amazon's, signed.
struct AWSClient: Sendable {
    let authority: String
    let now: @Sendable () -> WallTime
    private let signer: AWSSigner
    private let remote: RemoteClient
    private let endpoints: [String: RemoteEndpoint]

    /// - Throws: ``HTTP/SetupError`` for a URL or certificate file that cannot be used.
    init(
        _ signer: AWSSigner,
        at url: String,
        accept: String,
        _ settings: RemoteSettings,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        self.signer = signer
        now = environment.now
        let base = try RemoteBaseURL(url, settings)
        authority = base.authority
        var endpoints: [String: RemoteEndpoint] = [:]
        for method in [HTTPMethod.GET, .POST, .DELETE] {
            endpoints[method.rawValue] = try RemoteEndpoint(
                base,
                path: "",
                method: method,
                headers: [("Accept", accept)]
            )
        }
        self.endpoints = endpoints
        remote = try RemoteClient(settings, in: environment)
    }

    func shutdown() async { await remote.shutdown() }

    /// Makes a call.
    ///
    /// - Throws: ``CallFailure`` when no answer came.
    func send(_ message: AWSSigner.Message) async throws(CallFailure) -> RemoteReply {
        guard let endpoint = endpoints[message.method] else { throw CallFailure(.unusable) }
        let query = message.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        var request = RemoteRequest(
            endpoint,
            encodedSuffix: message.path + (query.isEmpty ? "" : "?" + query),
            message.body.isEmpty ? .none : .raw(message.body)
        )
        request.headers = signer.headers(for: message, at: now())
        switch await remote.send(request) {
        case .unsent: throw CallFailure(.unreachable)
        case .lost: throw CallFailure(.lost)
        case .oversized: throw CallFailure(.unusable)
        case .reply(let reply): return reply
        }
    }

    /// How long an answer asks to wait.
    func pause(_ reply: RemoteReply) -> Duration? {
        reply.retryAfter.flatMap { RetryAfter.duration($0, now: now()) }
    }
}
