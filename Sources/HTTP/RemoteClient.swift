import AsyncHTTPClient
import Engine
import Lifecycle
package import Logging
package import NIOCore
import NIOSSL

/// The one way to a provider or a store: https to the hosts of its endpoints, and nothing else.
///
/// No redirects, no proxy (the environment's included), no decompression, no cookies, HTTP/1.1
/// only, TLS 1.2 or newer with full verification. Every call has a deadline (with a ``BodyStream``
/// a new one after each part), every answer a largest size, and the pool a number of connections.
package final class RemoteClient: Sendable {
    /// How long an unused connection is kept.
    ///
    /// Short enough that we usually close before the provider does: a connection that dies under a
    /// code exchange costs the code.
    static let idleTime = TimeAmount.seconds(20)

    private let client: HTTPClient
    private let deadlines: CallDeadlines
    private let answerMax: Int
    private let logger: Logger
    let peers: PeerRule
    let tls: TLSConfiguration
    let loop: any EventLoop
    let timeoutConnect: TimeAmount

    /// Whether a connection was given up because of its address, before anything was sent.
    package var didRefusePeer: Bool { peers.didRefuse }

    /// Prepares the client; no connection is made yet.
    ///
    /// The caller shuts the event loops down, after this client.
    ///
    /// - Throws: ``SetupError`` when the CA file cannot be used.
    package init(
        _ settings: RemoteSettings,
        eventLoopGroup: any EventLoopGroup,
        logger: Logger
    ) throws(SetupError) {
        answerMax = settings.answerMax
        self.logger = logger
        peers = PeerRule(allowsPrivate: settings.allowsPrivateAddresses)
        var configuration = HTTPClient.Configuration()
        tls = try settings.tlsConfiguration()
        configuration.tlsConfiguration = tls
        configuration.redirectConfiguration = .disallow
        configuration.proxy = nil
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        timeoutConnect = .milliseconds(settings.timeoutConnect.milliseconds)
        configuration.timeout.connect = timeoutConnect
        configuration.connectionPool.idleTimeout = Self.idleTime
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            max(1, settings.concurrency)
        // What a tracer would get is put together even without one.
        configuration.tracing.tracer = nil
        // The engine has a backoff and a breaker; a second, hidden one would only hide the outage.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { [peers] channel in
            guard peers.permits(channel.remoteAddress) else {
                return channel.eventLoop.makeFailedFuture(PeerRule.Refused())
            }
            return CoalescedFlush.add(to: channel).flatMap { AnswerLimit.add(to: channel) }
        }
        // One loop for calls and connections. Across loops a call's head and body are sent in turns
        // of the loop; an answer that comes between them (a refusal) and a close right after it
        // crash async-http-client 1.37: it releases a connection that its pool has forgotten.
        loop = eventLoopGroup.next()
        client = HTTPClient(eventLoopGroup: loop, configuration: configuration)
        let limit = TimeAmount.milliseconds(settings.timeoutTotal.milliseconds)
        deadlines = CallDeadlines(limit: limit, eventLoop: loop)
    }

    /// The same with event loops and logger of the environment.
    ///
    /// - Throws: ``SetupError`` when the CA file cannot be used.
    package convenience init(
        _ settings: RemoteSettings,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let loop = environment.eventLoop(of: settings.owner)
        try self.init(settings, eventLoopGroup: loop, logger: environment.logger)
    }

    /// Makes one call; cancelling the task counts as its failure.
    package func send(_ request: RemoteRequest) async -> RemoteOutcome {
        let outcome = await call(request)
        AnswerRecorder.current?.record(outcome, to: request)
        return outcome
    }

    private func call(_ request: RemoteRequest) async -> RemoteOutcome {
        guard !Task.isCancelled else { return .unsent }
        let call = RemoteCall(answerMax: answerMax, stream: request.stream)
        guard let request = request.prepared(for: call) else { return .unsent }
        let task = client.execute(request: request, delegate: call)
        let token = deadlines.begin { task.fail(reason: HTTPClientError.deadlineExceeded) }
        defer { deadlines.end(token) }
        if call.isStreamed {
            call.afterEachPart { [deadlines] in deadlines.renew(token) }
        }
        do {
            return .reply(
                try await withTaskCancellationHandler {
                    try await task.futureResult.get()
                } onCancel: {
                    task.fail(reason: HTTPClientError.cancelled)
                }
            )
        } catch is RemoteCall.TooLarge {
            return .oversized
        } catch {
            // The error's text may quote what the peer sent, so it goes nowhere.
            return call.isSent ? .lost : .unsent
        }
    }

    /// Closes all connections; must be called before the client is released.
    package func shutdown() async {
        do {
            try await client.shutdown()
        } catch {
            logger.debug("cannot close connections, ignoring")
        }
    }
}
