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

    /// Nothing is held between calls.
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
