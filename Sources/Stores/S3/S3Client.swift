import Crypto
import Encoding
import HTTP
import Lifecycle
import Logging
import NIOCore
import NIOHTTP1

/// Calls of one bucket, signed.
struct S3Client: Sendable {
    /// One call.
    struct Call {
        var method = HTTPMethod.GET
        /// `nil` for the bucket itself.
        var key: String?
        var query: [(name: String, value: String)]
        var body: [UInt8] = []
    }

    private let plan: S3TargetPlan
    private let remote: RemoteClient
    private let endpoints: [String: RemoteEndpoint]
    private let authority: String
    private let root: String
    private let now: @Sendable () -> WallTime

    /// - Throws: ``HTTP/SetupError`` for an endpoint or certificate file that cannot be used.
    init(
        _ plan: S3TargetPlan,
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

    /// Makes a call and reads its answer; `nil` for an empty one.
    ///
    /// - Throws: ``S3Error``.
    @discardableResult
    func send(_ call: Call) async throws(S3Error) -> XMLElement? {
        guard let request = request(call) else { throw S3Error(.unusable, target: plan.name) }
        switch await remote.send(request) {
        case .unsent: throw S3Error(.unreachable, target: plan.name)
        case .lost: throw S3Error(.lost, target: plan.name)
        case .oversized: throw S3Error(.unusable, target: plan.name)
        case .reply(let reply):
            let element = reply.body.isEmpty ? nil : XMLElement(reply.body)
            // DeleteObjects and others may answer an error behind a 200.
            guard (200...204).contains(reply.status), element?.name != "Error",
                element != nil || reply.body.isEmpty
            else {
                throw S3Error(
                    S3Error.kind(ofCode: element?["Code"]?.text, status: reply.status),
                    target: plan.name,
                    retryAfter: reply.retryAfter.flatMap { RetryAfter.duration($0, now: now()) }
                )
            }
            return element
        }
    }

    private func request(_ call: Call) -> RemoteRequest? {
        guard let endpoint = endpoints[call.method.rawValue] else { return nil }
        let path = root + "/" + (call.key.map(Self.encodedPath) ?? "")
        let query = call.query.map { (name: Self.encoded($0.name), value: Self.encoded($0.value)) }
        var message = S3Signer.Message(
            method: call.method.rawValue,
            authority: authority,
            path: path,
            query: query,
            body: call.body
        )
        if !call.body.isEmpty {
            // DeleteObjects wants one
            // (docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html).
            let digest = Base64.encode(Array(Insecure.MD5.hash(data: call.body)))
            message.headers = [
                (name: "content-md5", value: String(decoding: digest, as: UTF8.self)),
                (name: "content-type", value: "application/xml"),
            ]
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

    static func encoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        PercentEncoding.append(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Slashes part names; everything else is encoded.
    static func encodedPath(_ key: String) -> String {
        // By bytes: a slash is another Character with a combining one behind it.
        key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { encoded(Substring($0)) }.joined(separator: "/")
    }
}
