import AsyncHTTPClient
import Engine
import Glibc
import Lifecycle
package import Logging
package import NIOCore
import NIOSSL
import Synchronization

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

/// Ends calls that take too long, with one timer for all calls of a client.
///
/// A timer for each call costs as much as its place in the pool, since another thread makes it and
/// takes it back. All calls of a client may take equally long. No timer runs without calls.
final class CallDeadlines: Sendable {
    struct Token: Hashable {
        fileprivate let number: UInt64
    }

    private struct Call {
        var deadline: NIODeadline
        let fail: @Sendable () -> Void
    }

    private struct State {
        var calls: [Token: Call] = [:]
        var lastNumber: UInt64 = 0
        var isTimerSet = false
    }

    private let limit: TimeAmount
    private let pause: TimeAmount
    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    /// A call is ended a sixteenth of `limit` too late at most, or a second.
    init(limit: TimeAmount, eventLoop: any EventLoop) {
        self.limit = limit
        pause = .milliseconds(min(max(limit.nanoseconds / 1_000_000 / 16, 1), 1000))
        self.eventLoop = eventLoop
    }

    /// Watches a call until ``end(_:)``; `fail` is called at most once, and never under a lock.
    func begin(_ fail: @escaping @Sendable () -> Void) -> Token {
        let deadline = NIODeadline.now() + limit
        let (token, mustSetTimer) = state.withLock { state in
            state.lastNumber += 1
            let token = Token(number: state.lastNumber)
            state.calls[token] = Call(deadline: deadline, fail: fail)
            defer { state.isTimerSet = true }
            return (token, !state.isTimerSet)
        }
        if mustSetTimer { setTimer() }
        return token
    }

    /// The call may take as long again.
    func renew(_ token: Token) {
        let deadline = NIODeadline.now() + limit
        state.withLock { $0.calls[token]?.deadline = deadline }
    }

    func end(_ token: Token) { state.withLock { _ = $0.calls.removeValue(forKey: token) } }

    private func setTimer() {
        eventLoop.scheduleTask(in: pause) { [weak self] in self?.look() }
    }

    private func look() {
        let now = NIODeadline.now()
        let (late, goesOn) = state.withLock { state -> ([Call], Bool) in
            let late = state.calls.filter { $0.value.deadline <= now }
            for token in late.keys { state.calls[token] = nil }
            state.isTimerSet = !state.calls.isEmpty
            return (Array(late.values), state.isTimerSet)
        }
        for call in late { call.fail() }
        if goesOn { setTimer() }
    }
}

/// Which addresses a connection may have; asked once it is there and before anything is sent, so
/// that no name can point elsewhere in between.
final class PeerRule: Sendable {
    struct Refused: Error {}

    private let allowsPrivate: Bool
    private let refused = Mutex(false)

    init(allowsPrivate: Bool) { self.allowsPrivate = allowsPrivate }

    var didRefuse: Bool { refused.withLock { $0 } }

    /// Remembers a refusal.
    func permits(_ address: SocketAddress?) -> Bool {
        let isPermitted = wouldPermit(address)
        if !isPermitted { refused.withLock { $0 = true } }
        return isPermitted
    }

    func wouldPermit(_ address: SocketAddress?) -> Bool {
        allowsPrivate || (address.flatMap(Self.bytes).map(Self.isPublic) ?? false)
    }

    /// The address in network order; a zone at its end (RFC 4007) makes it none.
    private static func bytes(_ address: SocketAddress) -> [UInt8]? {
        guard let text = address.ipAddress else { return nil }
        let (family, count) = text.contains(":") ? (AF_INET6, 16) : (AF_INET, 4)
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    /// Whether an address is none of the special ones of RFC 6890, in network order.
    static func isPublic(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 4 {
            switch (bytes[0], bytes[1]) {
            case (0, _), (10, _), (127, _), (169, 254), (192, 168), (224..., _): return false
            case (100, 64...127), (172, 16...31), (198, 18...19): return false
            case (192, 0): return bytes[2] != 0 && bytes[2] != 2
            case (198, 51): return bytes[2] != 100
            case (203, 0): return bytes[2] != 113
            default: return true
            }
        }
        // An IPv4 address in the form of IPv6 (RFC 4291 §2.5.5.2), or behind NAT64 (RFC 6052).
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        let translated: [UInt8] = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]
        if bytes.starts(with: mapped) || bytes.starts(with: translated) {
            return isPublic(Array(bytes.suffix(4)))
        }
        // Global unicast alone (RFC 4291 §2.4), without documentation (RFC 3849) and 6to4.
        return bytes[0] & 0xe0 == 0x20 && !bytes.starts(with: [0x20, 0x01, 0x0d, 0xb8])
            && !bytes.starts(with: [0x20, 0x02])
    }
}

/// Sends in one go what a connection writes during one turn of its event loop.
///
/// async-http-client flushes the head of a request, its body and its end one by one, each with a
/// system call and a packet. It also closes at once: TLS would read and decrypt until the provider
/// closes, too.
final class CoalescedFlush: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var isScheduled = false

    /// Puts one between TLS, if there is any, and HTTP.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(CoalescedFlush(), position: place(in: pipeline))
        }
    }

    private static func place(
        in pipeline: ChannelPipeline.SynchronousOperations
    ) -> ChannelPipeline.SynchronousOperations.Position {
        do {
            return .after(try pipeline.handler(type: NIOSSLClientHandler.self))
        } catch {
            // A stand-in on this machine is asked without TLS.
            return .first
        }
    }

    func flush(context: ChannelHandlerContext) {
        guard !isScheduled else { return }
        isScheduled = true
        context.eventLoop.assumeIsolated().execute { self.flushNow(context) }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        flushNow(context)
        context.close(mode: mode, promise: promise)
        if mode == .all, let tls = Self.tls(in: context.pipeline) {
            // TLS has sent its closure alert, and need not wait for the other one (RFC 8446 §6.1).
            tls.close(promise: nil)
        }
    }

    private static func tls(in pipeline: ChannelPipeline) -> ChannelHandlerContext? {
        do {
            return try pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        } catch {
            // Without TLS the channel is closed by now.
            return nil
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { flushNow(context) }

    private func flushNow(_ context: ChannelHandlerContext) {
        guard isScheduled else { return }
        isScheduled = false
        context.flush()
    }
}
