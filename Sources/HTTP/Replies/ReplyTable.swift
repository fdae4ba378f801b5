package import Encoding
package import Lifecycle

/// What a provider's answer means for the call that brought it.
package enum ReplyMeaning: Hashable, Sendable {
    /// The documented success.
    case honoured
    /// The documented refusal of this very token or code.
    case refused
    /// The provider calls the request malformed, or of a kind that it does not take; what that says
    /// depends on the call.
    case unclear
    case failure(EffectFailure)
}

/// One documented answer.
package struct ReplyRow: Sendable {
    package let statuses: ClosedRange<Int>
    package let shape: ReplyShape
    package let meaning: ReplyMeaning

    package init(_ statuses: ClosedRange<Int>, _ shape: ReplyShape, _ meaning: ReplyMeaning) {
        (self.statuses, self.shape, self.meaning) = (statuses, shape, meaning)
    }

    package init(_ status: Int, _ shape: ReplyShape, _ meaning: ReplyMeaning) {
        self.init(status...status, shape, meaning)
    }
}

/// What a table made of an answer.
package struct ReplyReading: Sendable {
    package let meaning: ReplyMeaning
    /// The tokens, when the answer carries some.
    package var grant: TokenGrant?
    /// The body, when a row fits and it is JSON.
    package var json: JSONValue?
    /// A success (2xx) that no row knows and that is no page: the other side may have acted.
    package var isVague = false
    /// The answer, when it is none that is documented for the call and no outage either: the token
    /// may be at fault, or the endpoint.
    package var refusal: ReplyRefusal?

    /// A 404 without an error of OAuth: another endpoint than the one that was meant.
    package var isNotFound: Bool {
        refusal.map { $0.isForeign && $0.refusal.status == 404 } ?? false
    }

    package init(meaning: ReplyMeaning, grant: TokenGrant? = nil, json: JSONValue? = nil) {
        (self.meaning, self.grant, self.json) = (meaning, grant, json)
    }
}

/// All the answers of one endpoint that mean something; whatever fits no row means nothing.
///
/// The first row that fits decides. A status without the documented body never does: a proxy's HTML
/// page with status 200 or 400 says nothing about a token.
package struct ReplyTable: Sendable {
    private let rows: [ReplyRow]
    private let otherJSON: Set<String>

    /// The rows in the order in which they are tried, before those that hold for every provider.
    ///
    /// `otherJSON` are more media types whose bodies are read as JSON, in lower case.
    package init(_ rows: [ReplyRow], alsoJSON otherJSON: Set<String> = []) {
        self.rows = rows + Self.common
        self.otherJSON = otherJSON
    }

    /// RFC 6585 §4 and RFC 9110 §15.6.4; the wait is read from the answer.
    private static let common = [
        ReplyRow(429, .anything, .failure(.throttled(retryAfter: nil))),
        ReplyRow(503, .anything, .failure(.throttled(retryAfter: nil))),
    ]

    /// Classifies how a call ended; `now` turns a date in `Retry-After` into a wait.
    package func read(_ outcome: RemoteOutcome, now: WallTime) -> ReplyReading {
        switch outcome {
        case .unsent: return ReplyReading(meaning: .failure(.unreachable))
        case .lost: return ReplyReading(meaning: .failure(.lost))
        case .oversized: return ReplyReading(meaning: .failure(.unusable))
        case .reply(let reply):
            let body = ReplyBody(reply, alsoJSON: otherJSON)
            let row = rows.first { $0.statuses.contains(reply.status) && body.has($0.shape) }
            guard let row else {
                var reading = ReplyReading(
                    meaning: .failure(Self.failure(of: reply, body, now: now))
                )
                reading.isVague = (200...299).contains(reply.status) && body.has(.noPage)
                reading.refusal = ReplyRefusal(reply, body)
                return reading
            }
            if case .failure(.throttled) = row.meaning {
                let wait = reply.retryAfter.flatMap { RetryAfter.duration($0, now: now) }
                return ReplyReading(meaning: .failure(.throttled(retryAfter: wait)))
            }
            var reading = ReplyReading(meaning: row.meaning, grant: body.grant, json: body.json)
            switch row.meaning {
            case .unclear, .failure: reading.refusal = ReplyRefusal(reply, body)
            case .honoured, .refused: break
            }
            return reading
        }
    }

    /// What an answer means that no row knows.
    ///
    /// A page is a proxy's. GitHub asks for a pause with 403 and `Retry-After`.
    private static func failure(
        of reply: RemoteReply,
        _ body: ReplyBody,
        now: WallTime
    ) -> EffectFailure {
        guard reply.isAboutCall(body), body.has(.noPage), !body.has(.error(providerErrors)) else {
            return .unusable
        }
        let wait = reply.retryAfter.flatMap { RetryAfter.duration($0, now: now) }
        return wait.map { .throttled(retryAfter: $0) } ?? .rejected
    }

    /// RFC 6749 §4.1.2.1; seen from token endpoints, too.
    static let providerErrors: Set<String> = ["server_error", "temporarily_unavailable"]
}

extension RemoteReply {
    /// Whether the status says that this one call is at fault (RFC 9110 §15.5).
    ///
    /// That is the token or the user that it names; 401 without a word is about the service.
    func isAboutCall(_ body: ReplyBody) -> Bool {
        [400, 403, 404, 409, 410, 422].contains(status) || status == 401 && body.json != nil
    }
}

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
