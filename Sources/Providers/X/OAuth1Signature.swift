import Cryptography
import Encoding
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
    /// The method is in capitals, the URL without query and default port (§3.4.1.2).
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
        let secrets = [consumerSecret, tokenSecret].map { PercentEncoding.encode($0.exposeText()) }
        let key = Array(secrets.joined(separator: "&").utf8)
        return Base64.text(KeyedHash.sha1(key: key, message: Array(baseString.utf8)))
    }
}
