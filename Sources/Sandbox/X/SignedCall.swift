import Cryptography
import Encoding

/// The `OAuth` authorization header of OAuth 1.0a (RFC 5849 §3.5.1), with what it was made over.
struct SignedCall: Sendable {
    private let parameters: [String: String]
    private let call: Call

    /// Takes the header apart; `nil` when it is missing or something else.
    init?(_ call: Call) {
        guard let header = call.authorization, header.lowercased().hasPrefix("oauth ") else {
            return nil
        }
        var parameters: [String: String] = [:]
        for part in header.dropFirst(6).split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            let value = pair[1].drop { $0 == "\"" || $0 == " " }.prefix { $0 != "\"" }
            let name = pair[0].filter { $0 != " " }
            parameters[name] = ParsedForm.decoded(String(value))
        }
        (self.parameters, self.call) = (parameters, call)
    }

    var consumerKey: String? { parameters["oauth_consumer_key"] }
    var token: String? { parameters["oauth_token"] }
    var nonce: String? { parameters["oauth_nonce"] }
    var timestamp: Int64? { parameters["oauth_timestamp"].flatMap { Int64($0) } }

    /// Tells whether the signature is HMAC-SHA1 over this very call (RFC 5849 §3.4).
    func isSigned(consumerSecret: String, tokenSecret: String) -> Bool {
        guard parameters["oauth_signature_method"] == "HMAC-SHA1",
            let signature = parameters["oauth_signature"]
        else { return false }
        let key = "\(PercentEncoding.encode(consumerSecret))&\(PercentEncoding.encode(tokenSecret))"
        let code = KeyedHash.sha1(key: Array(key.utf8), message: Array(baseString.utf8))
        return Base64.text(code) == signature
    }

    /// Method, address and sorted parameters (RFC 5849 §3.4.1).
    private var baseString: String {
        var pairs = parameters.filter { $0.key != "oauth_signature" && $0.key != "realm" }
            .map { (PercentEncoding.encode($0.key), PercentEncoding.encode($0.value)) }
        for (name, value) in call.query.pairs + call.form.pairs {
            pairs.append((PercentEncoding.encode(name), PercentEncoding.encode(value)))
        }
        let text = pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        let host = call.header("host") ?? ""
        let address = "https://\(host.lowercased())\(call.path)"
        return "\(call.method)&\(PercentEncoding.encode(address))&\(PercentEncoding.encode(text))"
    }
}
