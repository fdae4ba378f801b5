import Engine
import HTTP
import Lifecycle
import NIOHTTP1

extension HTTPStore {
    /// One host and the credential of the secret that goes to it alone.
    private typealias Host = (baseURL: String, auth: HTTPAuth, keyCredential: String?)

    /// Makes the store with its client, which the store shuts down; another host may answer the
    /// steps of verification.
    ///
    /// - Throws: ``HTTP/SetupError`` for a URL or certificate file that cannot be used, and
    ///   ``StoreSetupError`` for a secret that no header can carry.
    static func open(
        _ plan: HTTPKind,
        _ environment: StoreEnvironment
    ) async throws -> HTTPStore {
        let host: Host = (plan.baseURL, plan.auth, plan.keyCredential)
        let verifyHost = plan.verifyHost.map { other -> Host in
            (other.baseURL, other.auth, other.keyCredential)
        }
        let remote = try RemoteClient(
            plan.connection.settings(of: environment.owner),
            in: environment.adapters
        )
        do {
            let caller = try caller(of: plan, at: host, remote, environment)
            let verifier = try verifyHost.map {
                try Self.caller(of: plan, at: $0, remote, environment)
            }
            return HTTPStore(plan, caller, verifier: verifier ?? caller, environment)
        } catch {
            await remote.shutdown()
            throw error
        }
    }

    private static func caller(
        of plan: HTTPKind,
        at host: Host,
        _ remote: RemoteClient,
        _ environment: StoreEnvironment
    ) throws -> HTTPCaller {
        let settings = plan.connection.settings(of: environment.owner)
        let clock = environment.clock
        let base = try RemoteBaseURL(host.baseURL, settings)
        var endpoints: [HTTPStep.Method: RemoteEndpoint] = [:]
        for method in HTTPStep.Method.allCases {
            endpoints[method] = try RemoteEndpoint(
                base,
                path: "",
                method: HTTPMethod(rawValue: method.rawValue)
            )
        }
        return HTTPCaller(
            remote: remote,
            base: base,
            endpoints: endpoints,
            authorizer: try host.auth.authorizer(
                environment.name,
                at: base.text,
                host.keyCredential.map(environment.line),
                settings,
                remote,
                now: clock.wall
            ),
            pace: CallPace(perMinute: plan.callsPerMinute, clock),
            now: clock.wall
        )
    }
}
