import Crypto
import Encoding
import FoundationEssentials
import HTTP
import Lifecycle

/// Signs one request with HMAC-SHA1 (RFC 5849 §3.4); X takes nothing stronger for OAuth 1.0a.
struct OAuth1Signature: Sendable {
    let consumerKey: String
    let consumerSecret: Secret
    let token: String
    let tokenSecret: Secret
    /// Unique per request.
    let nonce: String
    let timestamp: Int64

    /// The value of the `Authorization` header behind `OAuth` (RFC 5849 §3.5.1).
    ///
    /// - Parameters:
    ///   - method: In capitals.
    ///   - url: Without query, lower-case host, default port left out (§3.4.1.2).
    ///   - parameters: Of query and form.
    /// - Returns: Secret, since it shows the token.
    func header(method: String, url: String, parameters: [(String, String)] = []) -> Secret {
        var fields = oauthParameters
        let signature = sign(baseString(method: method, url: url, parameters: parameters))
        fields.append(("oauth_signature", signature))
        let texts = fields.sorted { $0.0 < $1.0 }.map {
            #"\#(PercentEncoding.encode($0.0))="\#(PercentEncoding.encode($0.1))""#
        }
        return Secret(texts.joined(separator: ", "))
    }

    /// What is signed: method, URL and the sorted parameters, each encoded (§3.4.1.1).
    func baseString(method: String, url: String, parameters: [(String, String)]) -> String {
        let pairs = (oauthParameters + parameters).map {
            (PercentEncoding.encode($0.0), PercentEncoding.encode($0.1))
        }
        let normalized = pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }
        return [
            method, PercentEncoding.encode(url),
            PercentEncoding.encode(normalized.joined(separator: "&")),
        ]
        .joined(separator: "&")
    }

    private var oauthParameters: [(String, String)] {
        [
            ("oauth_consumer_key", consumerKey), ("oauth_nonce", nonce),
            ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "\(timestamp)"),
            ("oauth_token", token), ("oauth_version", "1.0"),
        ]
    }

    private func sign(_ baseString: String) -> String {
        let key = Data(
            (PercentEncoding.encode(consumerSecret.exposeText()) + "&"
                + PercentEncoding.encode(tokenSecret.exposeText()))
                .utf8
        )
        let code = HMAC<Insecure.SHA1>.authenticationCode(
            for: Data(baseString.utf8),
            using: SymmetricKey(data: key)
        )
        return Base64.text(Array(code))
    }
}
