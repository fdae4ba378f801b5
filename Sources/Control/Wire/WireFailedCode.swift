package import Lifecycle

/// What became of an authorization code that brought no token.
package enum CodeOutcome: String, Sendable, CaseIterable {
    /// It was too old before an exchange reached the provider.
    case expired
    case refused
    /// It may have been used; a second exchange could revoke what the first one issued.
    case unknown
}

/// The last authorization code of an identity without credentials.
package struct WireFailedCode: WireRecord, Codable, Hashable {
    package var createdAt: WallTime
    package var outcome: WireValue<CodeOutcome>
    package var failures: Int
    package var status: Int?
    package var error: String?

    package init(createdAt: WallTime, outcome: CodeOutcome, failures: Int) {
        (self.createdAt, self.outcome, self.failures) = (createdAt, .known(outcome), failures)
    }

    /// What the provider answered last, if no tokens.
    package var answer: Refusal? {
        status == nil && error == nil ? nil : Refusal(status: status, error: error)
    }

    package static let members: [WireMember<WireFailedCode>] = [
        .required("created_at", \.createdAt, "When the application got it."),
        .required("outcome", \.outcome, "Why it brought no token."),
        .required(
            "failures",
            \.failures,
            "Attempts of the exchange that failed and were repeated."
        ),
        .optional("status", \.status, "The HTTP status of the last answer, if it had no tokens."),
        .optional("error", \.error, "The error code of that answer."),
    ]
}

/// What a provider answered to the last call, where that was no success.
package struct WireAnswer: WireRecord, Codable, Hashable {
    package var status: Int?
    package var error: String?
    package var words: String?
    package var isNamed: Bool

    package init(_ answer: VendorAnswer) {
        (status, error) = (answer.refusal.status, answer.refusal.error)
        (words, isNamed) = (answer.words, answer.isNamed)
    }

    /// The same for people.
    package var answer: VendorAnswer {
        VendorAnswer(Refusal(status: status, error: error), words: words, isNamed: isNamed)
    }

    enum CodingKeys: String, CodingKey {
        case status, error, words
        case isNamed = "named"
    }

    package static let members: [WireMember<WireAnswer>] = [
        .optional("status", \.status, "The HTTP status."),
        .optional("error", \.error, "The provider's error code, and a sub-code behind a slash."),
        .optional("words", \.words, "Its text, redacted, at most 200 characters; for operators."),
        .required("named", \.isNamed, "Whether `last_error` contains the status and error code."),
    ]
}
