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
