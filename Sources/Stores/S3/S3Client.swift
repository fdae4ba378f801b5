import Cryptography
import Encoding
import HTTP
import Lifecycle
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

    static let contentType = "application/xml"

    private let client: AWSClient
    private let root: String

    /// Reaches a bucket of the server at `https://HOST[:PORT]`; `connect` gets the URL of its host.
    init(
        of bucket: String,
        at endpoint: String,
        _ style: S3Kind.URLStyle,
        _ connect: (_ url: String) throws -> AWSClient
    ) rethrows {
        switch style {
        case .path:
            client = try connect(endpoint)
            root = "/\(bucket)"
        case .virtualHost:
            client = try connect(
                endpoint.replacing("://", with: "://\(bucket).", maxReplacements: 1)
            )
            root = ""
        }
    }

    func shutdown() async { await client.shutdown() }

    /// Makes a call and reads its answer; `nil` for an empty one, and where nothing is there.
    @discardableResult
    func send(_ call: Call) async throws(CallFailure) -> XMLElement? {
        let reply = try await client.send(message(call))
        let element = reply.body.isEmpty ? nil : XMLElement(reply.body)
        // DeleteObjects and others may answer an error behind a 200.
        guard (200...204).contains(reply.status), element?.name != "Error",
            element != nil || reply.body.isEmpty
        else {
            let code = element?["Code"]?.text
            let pause = client.pause(reply)
            switch Self.failure(ofCode: code, status: reply.status, pause: pause) {
            case nil: return nil
            case let failure?: throw CallFailure(failure)
            }
        }
        return element
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

    private func message(_ call: Call) -> AWSSigner.Message {
        var message = AWSSigner.Message(
            method: call.method.rawValue,
            authority: client.authority,
            path: root + "/" + (call.key.map(Self.encodedPath) ?? ""),
            query: call.query.map {
                (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value))
            },
            body: call.body
        )
        guard !call.body.isEmpty else { return message }
        message.headers = [(name: "content-type", value: Self.contentType)]
        // DeleteObjects wants one, and says so where the system forbids it
        // (docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html).
        if let digest = MD5.hash(call.body) {
            message.headers.append((name: "content-md5", value: Base64.text(digest)))
        }
        return message
    }

    /// Slashes part names; everything else is encoded.
    static func encodedPath(_ key: String) -> String {
        // By bytes: a slash is another Character with a combining one behind it.
        key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { PercentEncoding.encode(String(decoding: $0, as: UTF8.self)) }
            .joined(separator: "/")
    }
}
