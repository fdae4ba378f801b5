/// One way in which a provider or the network fails a caller.
package enum FaultKind: String, CaseIterable, Codable, Sendable {
    /// Never answers and does not act; the caller has to give up.
    case timeout
    /// Acts and answers as usual, but only after the plan's delay.
    case delay
    /// Resets the connection before it acts.
    case reset
    /// Answers 429 with `Retry-After` and does not act.
    case throttled
    /// Answers 503 with `Retry-After` and does not act (RFC 7009 §2.2.1).
    case unavailable
    /// Answers 500 and does not act.
    case serverError = "server_error"
    /// Answers 200 with a web page, as a captive portal or proxy does, and does not act.
    case html
    /// Answers 403 with JSON that names no error, as a gateway does, and does not act.
    case forbidden
    /// Acts, promises the whole body, sends half of it and closes.
    case truncated
    /// Acts and answers the right body as `text/plain`.
    case wrongContentType = "wrong_content_type"
    /// Acts, then resets the connection: the caller cannot know.
    case responseLost = "response_lost"

    /// Whether the provider did its work before the caller was failed.
    package var acts: Bool {
        switch self {
        case .delay, .truncated, .wrongContentType, .responseLost: true
        case .timeout, .reset, .throttled, .unavailable, .serverError, .html, .forbidden: false
        }
    }
}
