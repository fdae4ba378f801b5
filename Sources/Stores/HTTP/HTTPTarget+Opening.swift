import Engine
import HTTP
import Lifecycle
import NIOHTTP1

extension HTTPTarget {
    /// One host and the secret that goes to it alone.
    private struct Host {
        let baseURL: String
        let auth: HTTPAuth
        let secret: Secret?
    }

    /// Makes the target with its client, which the target shuts down; another host may answer the
    /// steps of verification.
    ///
    /// - Throws: ``HTTP/SetupError`` for a URL or certificate file that cannot be used, and
    ///   ``StoreSetupError`` for a secret that no header can carry.
    static func open(
        _ plan: HTTPStore,
        _ environment: StoreEnvironment
    ) async throws -> HTTPTarget {
        let host = Host(
            baseURL: plan.baseURL,
            auth: plan.auth,
            secret: try plan.keyCredential.map(environment.line)
        )
        let verifyHost = try plan.verifyHost.map { other in
            Host(
                baseURL: other.baseURL,
                auth: other.auth,
                secret: try other.keyCredential.map(environment.line)
            )
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
            return HTTPTarget(plan, caller, verifier: verifier ?? caller, environment)
        } catch {
            await remote.shutdown()
            throw error
        }
    }

    private static func caller(
        of plan: HTTPStore,
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
                host.secret,
                settings,
                remote,
                now: clock.wall
            ),
            pace: CallPace(perMinute: plan.callsPerMinute, clock),
            now: clock.wall
        )
    }
}
