import Cryptography
import Encoding
import HTTP
import Lifecycle
import Logging
import NIOCore
import NIOHTTP1

/// Calls of one bucket, signed.
struct S3Client: Sendable {
    struct Call {
        var method = HTTPMethod.GET
        /// `nil` for the bucket itself.
        var key: String?
        var query: [(name: String, value: String)]
        var body: [UInt8] = []
    }

    private let plan: S3StorePlan
    private let remote: RemoteClient
    private let endpoints: [String: RemoteEndpoint]
    private let authority: String
    private let root: String
    private let now: @Sendable () -> WallTime

    /// - Throws: ``HTTP/SetupError`` for an endpoint or certificate file that cannot be used.
    init(
        _ plan: S3StorePlan,
        on group: any EventLoopGroup,
        now: @escaping @Sendable () -> WallTime,
        logger: Logger
    ) throws(SetupError) {
        self.plan = plan
        self.now = now
        let url =
            plan.isPathStyle
            ? plan.endpoint
            : plan.endpoint.replacing("://", with: "://\(plan.bucket).", maxReplacements: 1)
        let base = try RemoteBaseURL(url, plan.remote)
        authority = base.authority
        root = plan.isPathStyle ? "/\(plan.bucket)" : ""
        var endpoints: [String: RemoteEndpoint] = [:]
        for method in [HTTPMethod.GET, .POST, .DELETE] {
            endpoints[method.rawValue] = try RemoteEndpoint(
                base,
                path: "",
                method: method,
                headers: [("Accept", "application/xml")]
            )
        }
        self.endpoints = endpoints
        remote = try RemoteClient(plan.remote, eventLoopGroup: group, logger: logger)
    }

    func shutdown() async { await remote.shutdown() }

    /// Makes a call and reads its answer; `nil` for an empty one, and where nothing is there.
    @discardableResult
    func send(_ call: Call) async throws(CallFailure) -> XMLElement? {
        guard let request = request(call) else { throw CallFailure(.unusable) }
        switch await remote.send(request) {
        case .unsent: throw CallFailure(.unreachable)
        case .lost: throw CallFailure(.lost)
        case .oversized: throw CallFailure(.unusable)
        case .reply(let reply):
            let element = reply.body.isEmpty ? nil : XMLElement(reply.body)
            // DeleteObjects and others may answer an error behind a 200.
            guard (200...204).contains(reply.status), element?.name != "Error",
                element != nil || reply.body.isEmpty
            else {
                let pause = reply.retryAfter.flatMap { RetryAfter.duration($0, now: now()) }
                let code = element?["Code"]?.text
                switch Self.failure(ofCode: code, status: reply.status, pause: pause) {
                case nil: return nil
                case let failure?: throw CallFailure(failure)
                }
            }
            return element
        }
    }

    /// Classifies an error code (docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
    ///
    /// - Returns: `nil` when what was asked for is not there.
    static func failure(
        ofCode code: String?,
        status: Int,
        pause: Duration? = nil
    ) -> EffectFailure? {
        switch code {
        case "SlowDown", "ServiceUnavailable", "RequestLimitExceeded", "TooManyRequests",
            "InternalError", "OperationAborted", "RequestTimeout":
            return .throttled(retryAfter: pause)
        case "NoSuchKey", "NoSuchVersion", "NoSuchUpload", "NoSuchObjectLockConfiguration",
            "ObjectLockConfigurationNotFoundError":
            return nil
        case "NoSuchBucket", "AccessDenied", "AccountProblem", "AllAccessDisabled",
            "AuthorizationHeaderMalformed", "ExpiredToken", "InvalidAccessKeyId",
            "InvalidBucketName", "InvalidToken", "PermanentRedirect", "RequestTimeTooSkewed",
            "SignatureDoesNotMatch", "TokenRefreshRequired":
            return .misconfigured
        default: break
        }
        switch status {
        case 429, 503: return .throttled(retryAfter: pause)
        case 301, 302, 307, 308, 401, 403: return .misconfigured
        default: return .unusable
        }
    }

    private func request(_ call: Call) -> RemoteRequest? {
        guard let endpoint = endpoints[call.method.rawValue] else { return nil }
        let path = root + "/" + (call.key.map(Self.encodedPath) ?? "")
        let query = call.query.map {
            (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value))
        }
        var message = AWSSigner.Message(
            method: call.method.rawValue,
            authority: authority,
            path: path,
            query: query,
            body: call.body
        )
        if !call.body.isEmpty {
            message.headers = [(name: "content-type", value: "application/xml")]
            // DeleteObjects wants one, and says so where the system forbids it
            // (docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html).
            if let digest = MD5.hash(call.body) {
                message.headers.append((name: "content-md5", value: Base64.text(digest)))
            }
        }
        let text = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        var request = RemoteRequest(
            endpoint,
            encodedSuffix: path + (text.isEmpty ? "" : "?" + text),
            call.body.isEmpty ? .none : .raw(call.body)
        )
        request.headers = plan.signer.headers(for: message, at: now())
        return request
    }

    /// Slashes part names; everything else is encoded.
    static func encodedPath(_ key: String) -> String {
        // By bytes: a slash is another Character with a combining one behind it.
        key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { PercentEncoding.encode(String(decoding: $0, as: UTF8.self)) }
            .joined(separator: "/")
    }
}
