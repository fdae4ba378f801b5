import Encoding
package import Lifecycle

/// An answer that is none of those that are documented.
package struct ReplyRefusal: Hashable, Sendable {
    package let refusal: Refusal
    /// No endpoint of a provider answers so: a page, a status that says that there is no endpoint,
    /// without an error code of OAuth (RFC 9110 §15.5.5, §15.5.6 and §15.5.11), or 403 without any
    /// error, as gateways have it.
    package let isForeign: Bool
    /// Markup: whatever stands between answered, so it says nothing of a token.
    package let isPage: Bool
    /// Without an error code (RFC 6749 §5.2): a gateway may have answered in the provider's place.
    package var isMute: Bool { refusal.error == nil }

    /// - Returns: `nil` for success, an outage, a pause, and whatever else says nothing about a
    ///   token or an endpoint (401 without a word, 407, 408, 425).
    init?(_ reply: RemoteReply, _ body: ReplyBody) {
        isPage = !body.has(.noPage)
        let refusal = Refusal(status: reply.status, error: body.json?.errorCode)
        let isMissing =
            [404, 405, 410].contains(reply.status) && !body.has(.error(Self.tokenErrors))
        let isForbidden = reply.status == 403 && body.json?["error"] == nil
        isForeign = isPage && ![401, 407].contains(reply.status) || isMissing || isForbidden
        guard (200...499).contains(reply.status), ![408, 425, 429].contains(reply.status),
            isForeign || reply.isAboutCall(body), reply.retryAfter == nil,
            !body.has(.error(ReplyTable.providerErrors))
        else { return nil }
        self.refusal = refusal
    }

    /// RFC 6749 §5.2 and RFC 7009 §2.2.1, and what is said of tokens besides.
    private static let tokenErrors: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "invalid_token",
        "unauthorized_client", "unsupported_grant_type", "unsupported_token_type", "invalid_scope",
    ]
}

extension JSONValue {
    /// The code of an error (RFC 6749 §5.2), or the vendor's own.
    ///
    /// Behind a slash stands what is more exact, where the vendor says it.
    var errorCode: String? {
        guard let error = self["error"] else { return integerText(at: "errors.0.code") }
        if let name = error.string {
            let number = integerText(at: "error_codes.0").map { "AADSTS\($0)" }
            return (number ?? self["error_subtype"]?.string).map { "\(name)/\($0)" } ?? name
        }
        guard let code = error["code"]?.string ?? integerText(at: "error.code") else { return nil }
        return integerText(at: "error.error_subcode").map { "\(code)/\($0)" } ?? code
    }

    /// The text of an error for people: of OAuth 2 (RFC 6749 §5.2), problem details (RFC 9457 §3.1)
    /// or a vendor's own.
    var errorText: String? {
        let places = [
            "error_description", "error.message", "message", "detail", "errors.0.message", "msg",
            "title",
        ]
        return places.lazy.compactMap { member(at: $0)?.string }.first
            ?? self["error"]?.string.flatMap { $0.contains(" ") ? $0 : nil }
    }

    func integerText(at path: String) -> String? {
        member(at: path)?.number.flatMap { Int(exactly: $0) }.map { "\($0)" }
    }
}
