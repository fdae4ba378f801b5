import AsyncHTTPClient
package import Control
import Encoding
import Glibc
package import Lifecycle
import NIOCore
import NIOHTTP1

/// Calls the control API over a Unix socket.
///
/// A call that may be repeated is repeated while the daemon restarts, with the same idempotency key
/// where there is one; a call that may not (a fresh sign-in works once, an override counts) is not.
package struct ControlClient: Sendable {
    private let http: HTTPClient
    package let socketPath: String
    let limits: ClientLimits
    private let clock: any Clock<Duration>

    /// Runs `body` with a client and closes its connections afterwards.
    package static func with<R: Sendable>(
        socketPath: String,
        limits: ClientLimits = ClientLimits(),
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: (ControlClient) async throws -> R
    ) async throws -> R {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        // One loop: across loops an early answer and a close crash async-http-client 1.37.
        let http = HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup.next(),
            configuration: configuration
        )
        let result: R
        do {
            result = try await body(
                ControlClient(http: http, socketPath: socketPath, limits: limits, clock: clock)
            )
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
        return result
    }

    /// Makes a call and reads its answer.
    package func call<Answer>(
        _ call: ControlCall<Answer>
    ) async throws(ControlClientError) -> Answer {
        let body = try await bytes(call)
        do { return try call.read(body) } catch { throw failure(.malformedAnswer) }
    }

    /// Makes a call, again where that does no harm, and returns the body of its success.
    private func bytes<Answer>(
        _ call: ControlCall<Answer>
    ) async throws(ControlClientError) -> [UInt8] {
        let started = ContinuousClock.now
        var failures = 0
        while true {
            do throws(ControlClientError) {
                return try await once(call)
            } catch {
                failures += 1
                let delay = RetryPolicy.restart.delay(failures: failures)
                let isOver = started.duration(to: .now) + delay > limits.reconnectTimeout
                guard call.isRepeatable, error.isPassing, !isOver else { throw error }
                try await pause(delay)
            }
        }
    }

    /// Waits by the clock of the client; throws `unreachable` when the task is cancelled.
    package func pause(_ delay: Duration) async throws(ControlClientError) {
        do {
            try await clock.sleep(for: delay)
        } catch {
            throw failure(.unreachable)  // Cancelled: nobody waits for the answer any more.
        }
    }

    private func once<Answer>(
        _ call: ControlCall<Answer>
    ) async throws(ControlClientError) -> [UInt8] {
        let takesLong = RouteTable.route(call.operation).takesLong
        let limit = takesLong ? limits.planTimeout : limits.callTimeout
        let response = try await send(call, deadline: .now() + TimeAmount(limit))
        let body: ByteBuffer
        do {
            body = try await response.body.collect(upTo: ControlLimits.answerByteCountMax)
        } catch {
            throw failure(kind(of: error))
        }
        return Array(body.readableBytesView)
    }

    /// Sends a call and returns its answer once the head is there and says success.
    func send<Answer>(
        _ call: ControlCall<Answer>,
        deadline: NIODeadline
    ) async throws(ControlClientError) -> HTTPClientResponse {
        try await requireAnswer()
        let route = RouteTable.route(call.operation)
        let query = call.query.isEmpty ? "" : "?" + call.query
        let url =
            "http+unix://\(PercentEncoding.encode(socketPath))\(route.path(call.values))\(query)"
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: route.method.rawValue)
        request.headers.add(name: "host", value: "expunged")
        if let body = call.body {
            let fields = call.fields ?? ["content-type": "application/json"]
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                request.headers.add(name: name, value: value)
            }
            request.body = .bytes(body)
        }
        if let key = call.idempotencyKey {
            request.headers.add(name: "idempotency-key", value: key)
        }
        let response: HTTPClientResponse
        do {
            response = try await http.execute(request, deadline: deadline)
        } catch {
            throw failure(kind(of: error))
        }
        guard response.status.code == UInt(route.successStatus) else {
            throw await problem(response)
        }
        return response
    }

    /// Asks for anything: a service that answers does so within milliseconds.
    private func requireAnswer() async throws(ControlClientError) {
        guard let limit = limits.firstAnswerTimeout else { return }
        var request = HTTPClientRequest(
            url: "http+unix://\(PercentEncoding.encode(socketPath))/v1/health"
        )
        request.headers.add(name: "host", value: "expunged")
        do {
            let answer = try await http.execute(request, deadline: .now() + TimeAmount(limit))
            _ = try await answer.body.collect(upTo: ControlLimits.answerByteCountMax)
        } catch {
            let kind = kind(of: error)
            throw failure(kind == .timedOut ? .unreachable : kind)
        }
    }

    private func problem(_ response: HTTPClientResponse) async -> ControlClientError {
        do {
            let body = try await response.body.collect(upTo: ControlLimits.answerByteCountMax)
            let problem = try TypedJSON.value(WireProblem.self, from: body.readableBytesView)
            return failure(.refused(problem))
        } catch {
            return failure(.malformedAnswer)
        }
    }

    func failure(_ kind: ControlClientError.Kind) -> ControlClientError {
        ControlClientError(kind: kind, socketPath: socketPath)
    }

    private func kind(of error: any Error) -> ControlClientError.Kind {
        switch error {
        case let error as IOError where error.errnoCode == EACCES || error.errnoCode == EPERM:
            .permissionDenied
        case let error as HTTPClientError
        where error == .deadlineExceeded || error == .connectTimeout:
            .timedOut
        case is HTTPParserError, is NIOTooManyBytesError: .malformedAnswer
        default: .unreachable
        }
    }
}

extension ControlClientError {
    /// Whether the same call may succeed once the daemon is back.
    var isPassing: Bool {
        switch kind {
        case .unreachable, .timedOut: true
        case .refused(let problem):
            problem.code == .known(.unavailable) || problem.code == .known(.tooManyConnections)
        case .permissionDenied, .malformedAnswer, .interrupted: false
        }
    }
}

extension ControlClient {
    /// Repeats erasures and waits for the end, across restarts of the service.
    ///
    /// A service that restarted knows of no replay, or shows another one; this one is begun again
    /// then. `order` has an id that no other order has.
    ///
    /// - Throws: ``ControlClientError``: `unreachable` or `timedOut` when the service stays away
    ///   for longer than ``ClientLimits/reconnectTimeout``, `interrupted` when it restarts during
    ///   each of ``ClientLimits/replayStartsMax`` tries, `refused` with `wrong_state` while another
    ///   runs.
    package func replayToEnd(
        _ order: ReplayTerms,
        onRestart: () -> Void = {},
        onProgress: (WireReplay) -> Void = { _ in }
    ) async throws(ControlClientError) -> WireReplay {
        for start in 1...limits.replayStartsMax {
            if start > 1 { onRestart() }
            var replay = try await call(.startReplay(order))
            while replay.id == order.id, replay.state.known == .running {
                onProgress(replay)
                try await pause(limits.replayPause)
                replay = try await call(.replay)
            }
            if replay.id == order.id { return replay }
        }
        throw failure(.interrupted)
    }
}

/// Bounds of the control client; a test may shorten the waits.
package struct ClientLimits: Sendable {
    /// From the start of one try to the end of its answer; the daemon answers within milliseconds.
    package var callTimeout: Duration = .seconds(30)
    /// The same for a plan; the daemon gives up first, and says so.
    package var planTimeout: Duration = .seconds(610)
    /// How long a call goes on trying once the daemon cannot be reached; a restart takes a second.
    package var reconnectTimeout: Duration = .seconds(5)
    /// How long the service may take to answer anything at all; `nil`: as long as a call.
    ///
    /// The sockets of systemd accept connections while the service starts, or cannot start.
    package var firstAnswerTimeout: Duration?
    /// Between two reads of a replay, which takes seconds or hours.
    package var replayPause: Duration = .milliseconds(250)
    /// How often one replay is begun.
    ///
    /// A daemon that ends in the middle of it more often than by chance ends because of it.
    package var replayStartsMax = 20

    package init() {}
}

/// Why a call of the control API brought no result.
package struct ControlClientError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Kind: Sendable, Hashable {
        /// No process listens at the socket, or the connection was lost for too long.
        case unreachable
        case permissionDenied
        case timedOut
        /// An answer that is not what the API documents.
        case malformedAnswer
        case interrupted
        case refused(WireProblem)
    }

    package let kind: Kind
    package let socketPath: String

    package var problem: WireProblem? {
        guard case .refused(let problem) = kind else { return nil }
        return problem
    }

    package var description: String {
        switch kind {
        case .unreachable: "cannot reach the daemon at '\(socketPath)' (unreachable)"
        case .permissionDenied: "cannot reach the daemon at '\(socketPath)' (permission denied)"
        case .timedOut: "cannot get an answer at '\(socketPath)' (timed out)"
        case .malformedAnswer: "cannot read the answer at '\(socketPath)' (malformed)"
        case .interrupted: "cannot end the replay at '\(socketPath)' (the daemon restarts)"
        case .refused(let problem): "\(problem.detail) (\(problem.code))"
        }
    }
}
