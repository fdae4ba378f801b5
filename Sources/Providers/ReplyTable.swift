import Lifecycle

/// What a provider's answer means for the call that brought it.
enum ReplyMeaning: Hashable, Sendable {
    /// The documented success.
    case honoured
    /// The documented refusal of this very token or code.
    case refused
    /// The provider calls the request malformed; what that says depends on the call.
    case unclear
    case trouble(Trouble)
}

/// The shapes of a body that a table can ask for.
enum ReplyShape: Sendable {
    /// Nothing but white space.
    case empty
    /// A JSON object with an access token (RFC 6749 §5.1).
    case tokens
    /// A JSON object with one of these `error` codes (RFC 6749 §5.2).
    case error(Set<String>)
    case anything
}

/// One documented answer.
struct ReplyRow: Sendable {
    let statuses: ClosedRange<Int>
    let shape: ReplyShape
    let meaning: ReplyMeaning

    init(_ statuses: ClosedRange<Int>, _ shape: ReplyShape, _ meaning: ReplyMeaning) {
        self.statuses = statuses
        self.shape = shape
        self.meaning = meaning
    }
}

/// All the answers of one endpoint that mean something; whatever fits no row means nothing.
///
/// The first row that fits decides. A status without the documented body never does: a proxy's HTML
/// page with status 200 or 400 says nothing about a token.
struct ReplyTable: Sendable {
    private let rows: [ReplyRow]

    /// The rows of one endpoint; those that hold for every provider are appended.
    init(_ rows: [ReplyRow]) { self.rows = rows + Self.common }

    /// RFC 6585 §4 and RFC 9110 §15.6.4; the wait is read from the answer.
    private static let common = [
        ReplyRow(429...429, .anything, .trouble(.throttled(retryAfter: nil))),
        ReplyRow(503...503, .anything, .trouble(.throttled(retryAfter: nil))),
    ]

    /// Classifies how a call ended.
    ///
    /// - Parameters:
    ///   - outcome: What the HTTP client brought.
    ///   - now: Turns a date in `Retry-After` into a wait.
    /// - Returns: The meaning, and the tokens when the answer carries some.
    func read(_ outcome: ProviderOutcome, now: WallTime) -> (ReplyMeaning, TokenGrant?) {
        switch outcome {
        case .unsent: return (.trouble(.unreachable), nil)
        case .lost: return (.trouble(.lost), nil)
        case .oversized: return (.trouble(.unusable), nil)
        case .reply(let reply):
            let body = ReplyBody(reply)
            let row = rows.first { $0.statuses.contains(reply.status) && body.has($0.shape) }
            guard let row else { return (.trouble(.unusable), nil) }
            if case .trouble(.throttled) = row.meaning {
                let wait = reply.retryAfter.flatMap { RetryAfter.duration($0, now: now) }
                return (.trouble(.throttled(retryAfter: wait)), nil)
            }
            return (row.meaning, body.grant)
        }
    }
}

/// What a body turned out to be.
private enum ReplyBody {
    case empty
    case tokens(TokenGrant)
    case error(String)
    case other

    init(_ reply: ProviderReply) {
        if reply.body.allSatisfy({ [0x20, 0x09, 0x0d, 0x0a].contains($0) }) {
            self = .empty
        } else if Self.isJSON(reply.contentType), let json = JSONValue(reply.body) {
            if let error = json["error"] {
                self = error.string.map { .error($0) } ?? .other
            } else {
                self = TokenGrant(json).map { .tokens($0) } ?? .other
            }
        } else {
            self = .other
        }
    }

    var grant: TokenGrant? {
        guard case .tokens(let grant) = self else { return nil }
        return grant
    }

    func has(_ shape: ReplyShape) -> Bool {
        switch (shape, self) {
        case (.empty, .empty), (.tokens, .tokens), (.anything, _): true
        case (.error(let codes), .error(let code)): codes.contains(code)
        case (.empty, _), (.tokens, _), (.error, _): false
        }
    }

    /// `application/json` with any parameters (RFC 9110 §8.3.1).
    private static func isJSON(_ contentType: String?) -> Bool {
        guard let contentType else { return false }
        let type = contentType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        return type.lowercased() == "application/json"
    }
}
