import Lifecycle

/// What a trouble at one of Google's interfaces means, in a sentence for an operator.
enum GoogleTrouble {
    static func sentence(_ trouble: Trouble, _ place: String) -> String {
        switch trouble {
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
