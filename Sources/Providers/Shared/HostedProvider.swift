import Engine
import HTTP
import Lifecycle

/// A provider at one host, which its check names.
protocol HostedProvider: ConnectedProvider {
    var http: RemoteClient { get }
    var tokenEndpoint: RemoteEndpoint { get }
}

extension HostedProvider {
    package func shutdown() async { await http.shutdown() }

    /// Where no answer came, says whether the host can be connected to at all.
    package func problem() async -> ProviderProblem? {
        guard let failure = await diagnose() else { return nil }
        if failure == .unreachable, let reason = await http.connectionFailure(tokenEndpoint) {
            return ProviderProblem(failure, "\(reason); check the network, DNS and base_url")
        }
        let host = "host '\(tokenEndpoint.host)'"
        return ProviderProblem(failure, "\(host): \(failure.advice(on: name))")
    }
}
