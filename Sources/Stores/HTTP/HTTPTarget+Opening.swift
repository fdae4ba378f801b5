import Engine
import HTTP
import Lifecycle
import NIOHTTP1

extension HTTPTarget {
    /// One host and the secret that goes to it alone.
    struct Host {
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
        _ plan: HTTPTargetPlan,
        at host: Host,
        _ verifyHost: Host?,
        _ adapters: AdapterEnvironment,
        clock: TargetClock? = nil
    ) async throws -> HTTPTarget {
        let remote = try RemoteClient(plan.remote, in: adapters)
        do {
            let clock = clock ?? .system(wall: adapters.now)
            let caller = try caller(of: plan, at: host, remote, clock)
            let verifier = try verifyHost.map { try Self.caller(of: plan, at: $0, remote, clock) }
            return HTTPTarget(plan, caller, verifier: verifier ?? caller, clock)
        } catch {
            await remote.shutdown()
            throw error
        }
    }

    private static func caller(
        of plan: HTTPTargetPlan,
        at host: Host,
        _ remote: RemoteClient,
        _ clock: TargetClock
    ) throws -> HTTPCaller {
        let base = try RemoteBaseURL(host.baseURL, plan.remote)
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
                plan.name,
                at: base.text,
                host.secret,
                plan.remote,
                remote,
                now: clock.wall
            ),
            pace: CallPace(perMinute: plan.callsPerMinute, clock),
            now: clock.wall
        )
    }
}
