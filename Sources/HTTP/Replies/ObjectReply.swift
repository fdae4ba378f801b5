package import Encoding
package import Lifecycle

/// One JSON object of a program or service of the operator's own, or why there is none.
package enum ObjectReply: Sendable {
    case answer(JSONValue)
    case failure(EffectFailure)
}

extension EffectFailure {
    /// What the member `outcome` means where it is none of an operation's own; the same words for
    /// every program and service of the operator's own.
    package init(ofObject json: JSONValue) {
        self =
            switch json["outcome"]?.string {
            case "unreachable": .unreachable
            case "throttled", "working":
                .throttled(retryAfter: json["retry_after_s"]?.seconds)
            case "misconfigured": .misconfigured
            case "unknown": .lost
            default: .unusable
            }
    }
}

extension JSONValue {
    /// A number of seconds; `nil` for anything else.
    ///
    /// A year bounds nonsense.
    package var seconds: Duration? {
        number.flatMap { (0...31_536_000).contains($0) ? .seconds(Int64($0)) : nil }
    }
}
