import Lifecycle

/// Why a step did not do its work; holds no id and no text of the server.
struct HTTPFailure: Error, Hashable {
    let failure: EffectFailure
    /// For an operator.
    let cause: String
    /// What an earlier step had named is not there.
    var isMissing = false

    init(_ failure: EffectFailure, _ cause: String) {
        self.failure = failure == .rejected ? .unusable : failure
        self.cause = cause
    }

    static let ambiguousID = HTTPFailure(
        .unusable,
        "an id could change the call around it, or mean another user"
    )
    static let noValue = HTTPFailure(.unusable, "a placeholder has no value")

    /// A 404 or 410 of a thing or job that an earlier step has named, so the address is right.
    static func missing(_ cause: String) -> HTTPFailure {
        var failure = HTTPFailure(.unusable, cause)
        failure.isMissing = true
        return failure
    }

    static func malformed(_ what: String) -> HTTPFailure { HTTPFailure(.unusable, what) }
}
