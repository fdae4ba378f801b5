import Encoding
import Engine
import HTTP
import Lifecycle

/// What each operation's answers mean: the member `outcome`, one table each.
enum CommandAnswers {
    static func exchange(_ json: JSONValue) -> ExchangeAnswer {
        switch json["outcome"]?.string {
        case "exchanged":
            let tokens = ExchangedTokens(
                refreshToken: secret(json["refresh_token"]),
                accessToken: secret(json["access_token"]),
                accessTokenLifetime: json["expires_in_s"]?.seconds,
                subject: secret(json["subject"])
            )
            guard tokens.refreshToken != nil || tokens.accessToken != nil else {
                return .failure(.unusable)
            }
            return .exchanged(tokens)
        case "refused": return .refused
        default: return .failure(failure(json))
        }
    }

    /// - Returns: The answer, and the refresh token that replaced the one asked about.
    static func check(_ json: JSONValue) -> (CheckAnswer, Secret?) {
        switch json["outcome"]?.string {
        case "live": (.live, secret(json["refresh_token"]))
        case "dead": (.dead, nil)
        default: (.failure(failure(json)), nil)
        }
    }

    static func revoke(_ json: JSONValue) -> RevokeAnswer {
        switch json["outcome"]?.string {
        case "revoked": .success
        case "already_invalid": .alreadyInvalid
        case "grant_gone": .grantGone
        case "unfit": .unfit
        case "user_only": .userOnly
        default: .failure(failure(json))
        }
    }

    static func diagnose(_ json: JSONValue) -> EffectFailure? {
        json["outcome"]?.string == "ok" ? nil : EffectFailure(ofObject: json)
    }

    /// What every operation can answer; a refusal may carry the provider's own status and code.
    private static func failure(_ json: JSONValue) -> EffectFailure {
        guard json["outcome"]?.string == "rejected" else { return EffectFailure(ofObject: json) }
        let status = json["status"]?.number.flatMap { Int(exactly: $0) }
        return .refused(
            Refusal(
                status: status.flatMap { (100...599).contains($0) ? $0 : nil },
                error: json["error"]?.string
            )
        )
    }

    private static func secret(_ value: JSONValue?) -> Secret? {
        guard let text = value?.string, !text.isEmpty else { return nil }
        return Secret(text)
    }
}
