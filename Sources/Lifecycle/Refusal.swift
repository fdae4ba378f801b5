/// The answer with which a provider refused one call, as far as a receipt may show it.
package struct Refusal: Hashable, Sendable {
    /// The HTTP status; `nil` for a provider that is no HTTP server.
    package let status: Int?
    /// The error code that came along (RFC 6749 §5.2), the vendor's own, or both with a slash
    /// between.
    package let error: String?
    /// The client id or directory that is refused, where that is not all of the provider.
    package let client: String?

    /// Keeps an error only if it looks like a code: anything else may quote what was sent.
    package init(status: Int?, error: String? = nil, client: String? = nil) {
        self.status = status
        self.error = error.flatMap { Self.isCode($0) ? $0 : nil }
        self.client = client
    }

    /// What a person reads, such as `401 invalid_client/AADSTS7000222`.
    package var text: String {
        let parts = [status.map { String($0) }, error].compactMap(\.self)
        let answer = parts.isEmpty ? "no reason given" : parts.joined(separator: " ")
        return client.map { "'\($0)': \(answer)" } ?? answer
    }

    /// Codes are words (RFC 6749 §5.2 allows more); 40 bytes hold every registered one.
    ///
    /// A vendor's code is another word, or a number of six digits at most, which names no user;
    /// Microsoft's are longer, and begin with AADSTS; Facebook's sub-codes have seven.
    private static func isCode(_ text: String) -> Bool {
        text.wholeMatch(of: /([a-z_]{1,40}\/)?([A-Za-z_]{1,40}|[0-9]{1,6}|AADSTS[0-9]{1,9})/) != nil
            || text.wholeMatch(of: /[0-9]{1,6}\/[0-9]{1,7}/) != nil
    }
}

/// How often a provider refused one token, and nothing but that token.
package struct RefusalCount: Hashable, Sendable {
    package let count: Int
    package let lastAt: WallTime
    package let last: Refusal

    package init(count: Int, lastAt: WallTime, last: Refusal) {
        (self.count, self.lastAt, self.last) = (count, lastAt, last)
    }

    /// Adds a refusal; one that follows the last too closely changes nothing but the answer.
    static func adding(_ refusal: Refusal, to before: RefusalCount?, at now: WallTime) -> Self {
        guard let before else { return Self(count: 1, lastAt: now, last: refusal) }
        // A clock that went back must not keep a refusal from counting for ever.
        let pause = now.since(before.lastAt)
        guard pause >= Limits.refusalSpacing || pause < .zero else {
            return Self(count: before.count, lastAt: before.lastAt, last: refusal)
        }
        return Self(count: before.count + 1, lastAt: now, last: refusal)
    }
}

/// What a vendor last answered about the tokens of one user, where that was no success.
package struct VendorAnswer: Hashable, Sendable {
    /// The longest ``words``, in characters.
    package static let wordsMax = 200

    package let refusal: Refusal
    /// The vendor's own text, without what may be personal or secret; `nil` where it has none.
    package let words: String?
    /// The failure that came of it names status and error itself.
    package let isNamed: Bool

    package init(_ refusal: Refusal, words: String? = nil, isNamed: Bool = false) {
        (self.refusal, self.words, self.isNamed) = (refusal, words, isNamed)
    }

    /// The same beside a failure that names this refusal.
    package func beside(_ named: Refusal?) -> VendorAnswer {
        let isNamed = named.map { ($0.status, $0.error) == (refusal.status, refusal.error) }
        return VendorAnswer(refusal, words: words, isNamed: isNamed ?? false)
    }

    /// Where several clients were asked, the last answer need not be the one that decided.
    func deciding(_ failure: EffectFailure?) -> VendorAnswer {
        let answer = beside(failure?.refusal)
        guard let decided = failure?.refusal, decided.status != nil, !answer.isNamed else {
            return answer
        }
        return VendorAnswer(decided, isNamed: true)
    }

    /// What is kept after the end, and what viewers see.
    package var withoutWords: VendorAnswer { VendorAnswer(refusal, isNamed: isNamed) }

    /// What a person reads, such as `400 invalid_grant: Token has been revoked`.
    package var text: String { words.map { "\(refusal.text): \($0)" } ?? refusal.text }

    /// Adds to the text of the failure what it does not say yet.
    package func added(to text: String) -> String {
        guard isNamed else { return "\(text); the answer: \(self.text)" }
        return words.map { "\(text); in its words: \($0)" } ?? text
    }
}
