package import Engine
import HTTP
import Lifecycle

/// A provider that holds connections, and uses the event loops of its caller until it is shut down.
package protocol ConnectedProvider: IdentityProvider {
    /// Closes all connections; must be called before the provider is released.
    func shutdown() async
}

/// A provider without id tokens.
protocol TokenOnlyProvider: ConnectedProvider, ProviderAdapter {}

extension TokenOnlyProvider {
    package var issuesIDTokens: Bool { false }

    /// - Throws: ``SignInError`` of kind `unsupported`, always.
    package func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        throw SignInError(kind: .unsupported, provider: name)
    }
}

/// A provider at one host, which its check names.
protocol HostedProvider: ConnectedProvider, ProviderAdapter {
    var http: RemoteClient { get }
    var tokenEndpoint: RemoteEndpoint { get }

    /// What the answers to harmless calls show.
    func problemOfAnswers() async -> ProviderProblem?
}

extension HostedProvider {
    package func shutdown() async { await http.shutdown() }

    /// Where no answer came, says whether the host can be connected to at all.
    package func problem() async -> ProviderProblem? {
        guard let problem = await problemOfAnswers() else { return nil }
        if problem.failure == .unreachable,
            let reason = await http.connectionFailure(tokenEndpoint)
        {
            return ProviderProblem(.unreachable, "\(reason); check the network, DNS and base_url")
        }
        return problem
    }

    func problemOfAnswers() async -> ProviderProblem? { await diagnose().map { problem($0) } }

    func problem(_ failure: EffectFailure) -> ProviderProblem {
        let host = "host '\(tokenEndpoint.host)'"
        return ProviderProblem(failure, "\(host): \(failure.advice(on: name))")
    }
}
