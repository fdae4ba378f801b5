import Encoding
package import Engine
package import HTTP
package import Lifecycle
import Programs

/// A provider that a configured program speaks to: one JSON request on its standard input, one
/// JSON answer on its standard output.
///
/// The contract is docs/providers/command.md; how it is run, ``Programs/ProgramRunner``.
package final class CommandProvider: TokenOnlyProvider {
    package let name: ProviderName
    package let traits: ProviderTraits

    private let clientIDs: [String]
    private let runner: ProgramRunner

    /// The program is started for each call, and not before; `timeout` is the whole life of one
    /// call of the program, and `sleep` bounds it.
    ///
    /// - Throws: ``SetupError`` when the program's path is not absolute.
    package init(
        _ kind: CommandKind,
        name: ProviderName,
        clientIDs: [String],
        timeout: Duration = .seconds(30),
        sleep: @escaping Sleep = BootClock.sleeping
    ) throws(SetupError) {
        let runner = ProgramRunner(
            program: kind.program,
            arguments: kind.arguments,
            timeout: timeout,
            sleep: sleep
        )
        guard let runner, !clientIDs.isEmpty else {
            throw SetupError(kind: .malformedClient, provider: name.rawValue)
        }
        (self.name, self.clientIDs, self.runner) = (name, clientIDs, runner)
        traits = kind.traits
    }

    package func shutdown() async {}

    package func serves(_ clientID: String) -> Bool { clientIDs.contains(clientID) }

    package func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        switch await ask("exchange", code) {
        case .answer(let json): CommandAnswers.exchange(json)
        case .failure(let failure): .failure(failure)
        }
    }

    /// Has the program ask about a token; one that it rotated is kept before anything is said.
    package func check(_ credential: OpenCredential) async -> CheckAnswer {
        switch await ask("check", credential) {
        case .answer(let json):
            let (answer, rotated) = CommandAnswers.check(json)
            guard let rotated else { return answer }
            return await credential.keeper?.keep(rotated) ?? false ? answer : .failure(.lost)
        case .failure(let failure): return .failure(failure)
        }
    }

    package func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        switch await ask("revoke", credential) {
        case .answer(let json): CommandAnswers.revoke(json)
        case .failure(let failure): .failure(failure)
        }
    }

    package func diagnose() async -> EffectFailure? {
        var request = JSONBody()
        begin(&request, "diagnose")
        switch await runner.run(request) {
        case .answer(let json): return CommandAnswers.diagnose(json)
        case .failure(let failure): return failure
        }
    }

    private func begin(_ request: inout JSONBody, _ operation: String) {
        request.add("version", 1)
        request.add("operation", operation)
        request.add("provider", name.rawValue)
    }

    private func ask(_ operation: String, _ credential: OpenCredential) async -> ObjectReply {
        var request = JSONBody()
        begin(&request, operation)
        request.add("client_id", credential.clientID)
        request.add("kind", credential.kind.rawValue)
        request.add("secret", credential.secret)
        if let subject = credential.subject { request.add("subject", subject) }
        if let redirectURI = credential.redirectURI { request.add("redirect_uri", redirectURI) }
        if let verifier = credential.codeVerifier { request.add("code_verifier", verifier) }
        return await runner.run(request)
    }
}

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
