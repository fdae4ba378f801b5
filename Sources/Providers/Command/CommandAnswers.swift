import Engine
import HTTP
import Lifecycle

/// How one run of the program ended.
enum CommandOutcome: Sendable {
    /// Exit status 0 and one JSON object on standard output.
    case answer(JSONValue)
    case trouble(Trouble)

    /// Classifies an exit status and an output; docs/providers/command.md is the contract.
    ///
    /// Only the two statuses of sysexits.h(3) that a program gives on purpose are believed; after
    /// any other it may have acted.
    init(status: Int32?, output: [UInt8]) {
        switch status {
        case 0:
            guard let json = JSONValue(output), case .object = json else {
                self = .trouble(.unusable)
                return
            }
            self = .answer(json)
        // EX_UNAVAILABLE: the program promises that nothing was sent.
        case 69: self = .trouble(.unreachable)
        // EX_CONFIG.
        case 78: self = .trouble(.misconfigured)
        default: self = .trouble(.lost)
        }
    }
}

/// What each operation's answers mean: the member `outcome`, one table each.
enum CommandAnswers {
    /// Answers of every operation.
    private static func trouble(_ json: JSONValue) -> Trouble {
        switch json["outcome"]?.string {
        case "unreachable": .unreachable
        case "throttled": .throttled(retryAfter: seconds(json["retry_after_s"]))
        case "misconfigured": .misconfigured
        case "unknown": .lost
        default: .unusable
        }
    }

    static func exchange(_ json: JSONValue) -> ExchangeAnswer {
        switch json["outcome"]?.string {
        case "exchanged":
            let tokens = ExchangedTokens(
                refreshToken: secret(json["refresh_token"]),
                accessToken: secret(json["access_token"]),
                accessTokenLifetime: seconds(json["expires_in_s"]),
                subject: secret(json["subject"])
            )
            guard tokens.refreshToken != nil || tokens.accessToken != nil else {
                return .trouble(.unusable)
            }
            return .exchanged(tokens)
        case "refused": return .refused
        default: return .trouble(trouble(json))
        }
    }

    /// - Returns: The answer, and the refresh token that replaced the one asked about.
    static func check(_ json: JSONValue) -> (CheckAnswer, Secret?) {
        switch json["outcome"]?.string {
        case "live": (.live, secret(json["refresh_token"]))
        case "dead": (.dead, nil)
        default: (.trouble(trouble(json)), nil)
        }
    }

    static func revoke(_ json: JSONValue) -> RevokeAnswer {
        switch json["outcome"]?.string {
        case "revoked": .success
        case "already_invalid": .alreadyInvalid
        case "grant_gone": .grantGone
        case "unfit": .unfit
        case "user_only": .userOnly
        default: .trouble(trouble(json))
        }
    }

    static func diagnose(_ json: JSONValue) -> Trouble? {
        json["outcome"]?.string == "ok" ? nil : trouble(json)
    }

    private static func secret(_ value: JSONValue?) -> Secret? {
        guard let text = value?.string, !text.isEmpty else { return nil }
        return Secret(text)
    }

    /// A year bounds nonsense.
    private static func seconds(_ value: JSONValue?) -> Duration? {
        value?.number.flatMap { (0...31_536_000).contains($0) ? .seconds(Int64($0)) : nil }
    }
}
