import Engine
import HTTP
import Lifecycle
import NIOHTTP1

extension HTTPTarget {
    /// Makes the target with its client, which the target shuts down.
    ///
    /// - Throws: ``HTTP/SetupError`` for a URL or certificate file that cannot be used, and
    ///   ``StoreSetupError`` for a secret that no header can carry.
    static func open(
        _ plan: HTTPTargetPlan,
        _ auth: HTTPAuth,
        secret: Secret?,
        _ adapters: AdapterEnvironment,
        clock: TargetClock? = nil
    ) async throws -> HTTPTarget {
        let base = try RemoteBaseURL(plan.baseURL, plan.remote)
        var endpoints: [HTTPStep.Method: RemoteEndpoint] = [:]
        for method in HTTPStep.Method.allCases {
            endpoints[method] = try RemoteEndpoint(
                base,
                path: "",
                method: HTTPMethod(rawValue: method.rawValue)
            )
        }
        let remote = try RemoteClient(
            plan.remote,
            eventLoopGroup: adapters.eventLoopGroup,
            logger: adapters.logger
        )
        do {
            let clock = clock ?? .system(wall: adapters.now)
            let caller = HTTPCaller(
                remote: remote,
                base: base,
                endpoints: endpoints,
                authorizer: try auth.authorizer(
                    plan.name,
                    at: base.text,
                    secret,
                    plan.remote,
                    remote,
                    now: clock.wall
                ),
                pace: CallPace(perMinute: plan.callsPerMinute, clock),
                now: clock.wall
            )
            return HTTPTarget(plan, caller, clock)
        } catch {
            await remote.shutdown()
            throw error
        }
    }
}
