import Lifecycle

/// Why a store of Google's did not do its work; holds no name and no text of the server.
struct GoogleFailure: Error, Hashable, CustomStringConvertible {
    let failure: EffectFailure

    /// A store has no user whose token could be refused: what its interface rejects means nothing.
    init(_ failure: EffectFailure) { self.failure = failure == .rejected ? .unusable : failure }

    var description: String { "cannot purge at 'google' (\(failure.code))" }

    /// What a failure at one of Google's interfaces means, in a sentence for an operator.
    static func sentence(_ failure: EffectFailure, _ place: String) -> String {
        switch failure {
        case .misconfigured:
            "google refuses the service account or the request for \(place): check its name, the"
                + " project, the role of the account, its key, and this machine's clock"
        case .unreachable: "cannot reach \(place): check the network and base_url"
        case .throttled: "\(place): the quota is used up; try again later"
        case .lost: "\(place): the connection broke before an answer came; try again"
        case .unusable, .rejected, .refused, .wrongEndpoint:
            "\(place): the answer is not one that google documents; check base_url"
        case .sealBroken, .vaultSealed, .keys, .blocked: "\(place): the credential cannot be opened"
        }
    }
}
