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
    case trouble(Trouble)
}

/// One documented answer.
package struct ReplyRow: Sendable {
    package let statuses: ClosedRange<Int>
    package let shape: ReplyShape
    package let meaning: ReplyMeaning

    package init(_ statuses: ClosedRange<Int>, _ shape: ReplyShape, _ meaning: ReplyMeaning) {
        self.statuses = statuses
        self.shape = shape
        self.meaning = meaning
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

    package init(meaning: ReplyMeaning, grant: TokenGrant? = nil, json: JSONValue? = nil) {
        self.meaning = meaning
        self.grant = grant
        self.json = json
    }
}

/// All the answers of one endpoint that mean something; whatever fits no row means nothing.
///
/// The first row that fits decides. A status without the documented body never does: a proxy's HTML
/// page with status 200 or 400 says nothing about a token.
package struct ReplyTable: Sendable {
    private let rows: [ReplyRow]
    private let otherJSON: Set<String>

    /// The rows of one endpoint; those that hold for every provider are appended.
    ///
    /// - Parameters:
    ///   - rows: In the order in which they are tried.
    ///   - otherJSON: More media types whose bodies are read as JSON, in lower case.
    package init(_ rows: [ReplyRow], alsoJSON otherJSON: Set<String> = []) {
        self.rows = rows + Self.common
        self.otherJSON = otherJSON
    }

    /// RFC 6585 §4 and RFC 9110 §15.6.4; the wait is read from the answer.
    private static let common = [
        ReplyRow(429, .anything, .trouble(.throttled(retryAfter: nil))),
        ReplyRow(503, .anything, .trouble(.throttled(retryAfter: nil))),
    ]

    /// Classifies how a call ended.
    ///
    /// - Parameters:
    ///   - outcome: What the HTTP client brought.
    ///   - now: Turns a date in `Retry-After` into a wait.
    /// - Returns: The meaning, and what else the answer holds.
    package func read(_ outcome: RemoteOutcome, now: WallTime) -> ReplyReading {
        switch outcome {
        case .unsent: return ReplyReading(meaning: .trouble(.unreachable))
        case .lost: return ReplyReading(meaning: .trouble(.lost))
        case .oversized: return ReplyReading(meaning: .trouble(.unusable))
        case .reply(let reply):
            let body = ReplyBody(reply, alsoJSON: otherJSON)
            let row = rows.first { $0.statuses.contains(reply.status) && body.has($0.shape) }
            guard let row else { return ReplyReading(meaning: .trouble(.unusable)) }
            if case .trouble(.throttled) = row.meaning {
                let wait = reply.retryAfter.flatMap { RetryAfter.duration($0, now: now) }
                return ReplyReading(meaning: .trouble(.throttled(retryAfter: wait)))
            }
            return ReplyReading(meaning: row.meaning, grant: body.grant, json: body.json)
        }
    }
}
