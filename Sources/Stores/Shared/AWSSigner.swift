import Cryptography
import Encoding
import FoundationEssentials
import HTTP
import Lifecycle

/// Signs requests with AWS Signature Version 4
/// (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
struct AWSSigner: Sendable {
    /// Who asks.
    struct Keys: Sendable {
        let accessKeyID: String
        let secretKey: Secret
        /// Of temporary keys only.
        var sessionToken: Secret?
    }

    /// What is signed.
    struct Message {
        let method: String
        let authority: String
        /// Encoded once, as it is sent.
        let path: String
        /// Encoded pairs, in any order.
        var query: [(name: String, value: String)] = []
        /// Beside `host` and the dates, in any order.
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
    }

    let keys: Keys
    let region: String
    let service: String

    /// The headers to add to a request, dated at most 15 minutes from the server's time.
    func headers(for message: Message, at time: WallTime) -> [(name: String, value: String)] {
        let context = Self.context(time)
        let digest = Hexadecimal.text(SHA256.hash(message.body))
        var added = [
            (name: "x-amz-content-sha256", value: digest), (name: "x-amz-date", value: context),
        ]
        if let token = keys.sessionToken {
            added.append((name: "x-amz-security-token", value: token.exposeText()))
        }
        let authorization = authorization(for: message, with: added, digest: digest, at: context)
        return message.headers + added + [(name: "Authorization", value: authorization)]
    }

    /// The value of `Authorization`; further headers are signed, too, the digest is the body's in
    /// hexadecimal, and the moment looks like `20130524T000000Z`.
    func authorization(
        for message: Message,
        with added: [(name: String, value: String)],
        digest: String,
        at context: String
    ) -> String {
        let headers = ([(name: "host", value: message.authority)] + message.headers + added)
            .map { (name: $0.name.lowercased(), value: $0.value) }
            .sorted { $0.name < $1.name }
        let names = headers.map(\.name).joined(separator: ";")
        let query = message.query.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: "&")
        let canonical = [
            message.method, canonicalPath(message.path), query,
            headers.map { "\($0.name):\($0.value)\n" }.joined(), names, digest,
        ].joined(separator: "\n")
        let day = String(context.prefix(8))
        let scope = "\(day)/\(region)/\(service)/aws4_request"
        let text = [
            "AWS4-HMAC-SHA256", context, scope,
            Hexadecimal.text(SHA256.hash(Array(canonical.utf8))),
        ].joined(separator: "\n")
        let signature = Hexadecimal.text(
            KeyedHash.sha256(key: key(day: day), message: Array(text.utf8))
        )
        return "AWS4-HMAC-SHA256 Credential=\(keys.accessKeyID)/\(scope),SignedHeaders=\(names),"
            + "Signature=\(signature)"
    }

    /// Every service but S3 takes a path that is encoded once more.
    private func canonicalPath(_ path: String) -> String {
        guard service != "s3" else { return path }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { PercentEncoding.encode(String($0)) }.joined(separator: "/")
    }

    private func key(day: String) -> [UInt8] {
        [day, region, service, "aws4_request"].reduce(
            keys.secretKey.withBytes { Array("AWS4".utf8) + $0 }
        ) { KeyedHash.sha256(key: $0, message: Array($1.utf8)) }
    }

    /// `20130524T000000Z` (ISO 8601, basic form).
    private static func context(_ time: WallTime) -> String {
        let text = time.rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" }
        return String(text) + "Z"
    }
}
