/// An error of Apple's token endpoints (developer.apple.com, ErrorResponse).
struct AppleRefusal: Error, Equatable, Sendable {
    let code: String
    let explanation: String?
    /// 400 for every documented error, also for a failed client authentication.
    var status = 400
    /// Whether the journal has it already.
    var isRecorded = false

    static let invalidRequest = AppleRefusal(code: "invalid_request", explanation: nil)
    static let invalidClient = AppleRefusal(code: "invalid_client", explanation: nil)
    static let unsupportedGrantType = AppleRefusal(
        code: "unsupported_grant_type",
        explanation: nil
    )
    static let codeUsed = AppleRefusal(
        code: "invalid_grant",
        explanation: "The code has already been used."
    )
    static let codeDead = AppleRefusal(
        code: "invalid_grant",
        explanation: "The code has expired or has been revoked."
    )
    static let tokenDead = AppleRefusal(
        code: "invalid_grant",
        explanation: "The token has expired or has been revoked."
    )
    static let throttled = AppleRefusal(code: "throttled", explanation: nil, status: 429)

    /// The same refusal, known to be in the journal.
    var recorded: AppleRefusal {
        AppleRefusal(code: code, explanation: explanation, status: status, isRecorded: true)
    }

    /// The code or token belongs to another client.
    static func notIssued(to clientID: String) -> AppleRefusal {
        AppleRefusal(
            code: "invalid_grant",
            explanation: "client_id mismatch. The code was not issued to \(clientID)."
        )
    }
}
