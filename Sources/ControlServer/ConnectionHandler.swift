import Control
import Lifecycle
import NIOCore
import NIOHTTP1

/// One connection on its event loop: checks heads, collects bodies, writes answers, keeps time.
///
/// ```
///            first byte        head ok        end of body        answer written
///   idle ──────────────► head ─────────► body ───────────► answering ───────────► idle
///     │ 30 s, stop 0.25 s  │ 5 s           │ 10 s              │ events
///     ▼                    ▼               ▼                   ▼
///   closed              408 or 400 ──► closing (1 s)        streaming ──► closed
/// ```
/// While an answer is worked on nothing is read, so a flood of pipelined requests stays in the
/// kernel; what one read had already brought waits in `pending`.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = ServerRequest
    typealias OutboundIn = ServerPart
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case idle
        case head
        case body(CheckedHead, [UInt8])
        case answering(keepsAlive: Bool)
        case streaming
        case closing
    }

    private let check: HeadCheck
    private let limits: ServerLimits
    /// Why nothing at all is answered to this peer, if so.
    private let refusal: ControlProblem?
    private let now: @Sendable () -> WallTime
    private var phase = Phase.idle
    private var pending = CircularBuffer<HTTPServerRequestPart>()
    private var pendingProblem: ControlProblem?
    private var isReadDeferred = false
    private var isDraining = false
    /// Whether anything came from this peer.
    private var wasAsked = false
    /// Whether the request that is being read or answered is a HEAD.
    private var isHead = false
    private var deadline: NIODeadline?
    private var writeDeadline: NIODeadline?
    private var timer: (task: Scheduled<Void>, at: NIODeadline)?

    init(
        check: HeadCheck,
        limits: ServerLimits,
        refusal: ControlProblem?,
        now: @escaping @Sendable () -> WallTime
    ) {
        (self.now, self.check, self.limits, self.refusal) = (now, check, limits, refusal)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard timer == nil else { return }
        setDeadline(after: idleTimeout, context)
        if let refusal { refuse(refusal, context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        phase = .closing
        context.fireChannelInactive()
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        wasAsked = true
        switch phase {
        case .answering: pending.append(part)
        case .streaming, .closing: break
        case .idle, .head, .body: take(part, context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .idle = phase {
            phase = .head
            setDeadline(after: limits.headTimeout, context)
        }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if case .answering = phase {
            isReadDeferred = true
        } else {
            context.read()
        }
    }

    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch (part, phase) {
        case (.head(let head), _):
            isHead = head.method == .HEAD
            do throws(HeadCheck.Refusal) {
                phase = .body(try check.check(head), [])
                setDeadline(after: limits.bodyTimeout, context)
            } catch {
                refuse(error.problem, context, allow: error.allow, keepsAlive: error.keepsAlive)
            }
        case (.body(let buffer), .body(let head, var body)):
            guard body.count + buffer.readableBytes <= ControlLimits.bodyByteCountMax else {
                return refuse(ControlProblem(.bodyTooLarge), context)
            }
            phase = .idle  // Lets go of the only other reference, so that appending copies nothing.
            body.append(contentsOf: buffer.readableBytesView)
            phase = .body(head, body)
        case (.end(nil), .body(let head, let body)):
            phase = .answering(keepsAlive: head.keepsAlive && !isDraining)
            setDeadline(after: limits.timeout(of: head.route), context)
            context.fireChannelRead(wrapInboundOut(ServerRequest(head: head, body: body)))
        case (.end(.some), .body):
            refuse(ControlProblem(.malformedHTTP, "trailers are not supported"), context)
        case (.body, _), (.end, _):
            // The rest of a request that was refused by its head and had no body to read.
            break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            switch phase {
            case .answering: phase = .answering(keepsAlive: false)
            case .idle, .head, .body, .streaming, .closing: context.close(promise: nil)
            }
        case is DrainEvent: drain(context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func drain(_ context: ChannelHandlerContext) {
        isDraining = true
        switch phase {
        case .answering: phase = .answering(keepsAlive: false)
        case .idle: setDeadline(after: idleTimeout, context)
        case .streaming: context.close(promise: nil)
        case .head, .body, .closing: break
        }
    }

    private var idleTimeout: Duration {
        guard isDraining else { return limits.idleTimeout }
        return wasAsked ? limits.graceTimeout : limits.firstGraceTimeout
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else {
            context.close(promise: nil)
            return
        }
        let problem = ControlProblem(error == .headerOverflow ? .headersTooLarge : .malformedHTTP)
        switch phase {
        case .answering: pendingProblem = problem
        case .idle, .head, .body: refuse(problem, context)
        case .streaming, .closing: break
        }
    }

    // MARK: Writing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .answer(let answer):
            guard case .answering(let keepsAlive) = phase else {
                promise?.fail(ChannelError.ioOnClosedChannel)
                return
            }
            let written = keep(answer.turn, until: promise, context)
            send(answer, context, keepsAlive: keepsAlive, promise: written)
        case .streamHead: beginStream(context, promise: promise)
        case .streamEvent(let bytes):
            context.write(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: promise)
        }
    }

    /// Ends a turn once the kernel has taken the last byte of its answer, or never will.
    private func keep(
        _ turn: AnswerTurns.Turn?,
        until promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void>? {
        guard let turn else { return promise }
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in withExtendedLifetime(turn) {} }
        return written
    }

    private func beginStream(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        var buffer = context.channel.allocator.buffer(capacity: 128)
        ServerAnswer.streamHead.write(to: &buffer, keepsAlive: false, hasBody: true, at: now())
        guard case .answering = phase else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        // A drain that came before the stream does not come again.
        guard !isDraining else { return closeAfter(buffer, context, promise: promise) }
        phase = .streaming
        setDeadline(after: limits.heartbeatInterval, context)
        pending.removeAll()
        context.write(wrapOutboundOut(buffer), promise: promise)
        resumeReading(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeDeadline =
            context.channel.isWritable ? nil : .now() + TimeAmount(limits.writeTimeout)
        arm(context)
        context.fireChannelWritabilityChanged()
    }

    private func send(
        _ answer: ServerAnswer,
        _ context: ChannelHandlerContext,
        keepsAlive: Bool,
        promise: EventLoopPromise<Void>?
    ) {
        var buffer = context.channel.allocator.buffer(capacity: answer.body.count + 256)
        answer.write(to: &buffer, keepsAlive: keepsAlive, hasBody: !isHead, at: now())
        isHead = false
        guard keepsAlive else {
            return closeAfter(buffer, context, promise: promise)
        }
        context.write(wrapOutboundOut(buffer), promise: promise)
        phase = .idle
        setDeadline(after: limits.idleTimeout, context)
        while let part = pending.popFirst() {
            take(part, context)
            switch phase {
            case .answering:
                // The asynchronous side is handed what was read only once a reading is complete.
                return context.fireChannelReadComplete()
            case .closing: return
            case .idle, .head, .body, .streaming: continue
            }
        }
        if let problem = pendingProblem {
            pendingProblem = nil
            refuse(problem, context)
        } else {
            resumeReading(context)
        }
    }

    private func resumeReading(_ context: ChannelHandlerContext) {
        guard isReadDeferred else { return }
        isReadDeferred = false
        context.read()
    }

    /// Answers a request that goes no further than this handler.
    private func refuse(
        _ problem: ControlProblem,
        _ context: ChannelHandlerContext,
        allow: [Route.Method] = [],
        keepsAlive: Bool = false
    ) {
        var answer = ServerAnswer(problem)
        if !allow.isEmpty {
            let names = allow.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }
            answer.fields.append(("allow", names.joined(separator: ", ")))
        }
        send(answer, context, keepsAlive: keepsAlive && !isDraining, promise: nil)
        context.flush()
    }

    /// Closes in two steps: what the peer still sends is dropped, so that it can read the answer.
    private func closeAfter(
        _ buffer: ByteBuffer,
        _ context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>?
    ) {
        phase = .closing
        pending.removeAll()
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(buffer), promise: written)
        setDeadline(after: limits.lingerTimeout, context)
        resumeReading(context)
    }

    // MARK: Time

    private func setDeadline(after delay: Duration, _ context: ChannelHandlerContext) {
        deadline = .now() + TimeAmount(delay)
        arm(context)
    }

    /// Keeps one timer at or before the nearest deadline; a request that is quick moves none.
    private func arm(_ context: ChannelHandlerContext) {
        // One that the listener accepted right before its end may never become active.
        guard context.channel.isActive || isDraining,
            let next = [deadline, writeDeadline].compactMap({ $0 }).min()
        else { return }
        if let timer, timer.at <= next { return }
        timer?.task.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: next) {
            let (handler, context) = bound.value
            handler.timer = nil
            handler.wake(context)
        }
        timer = (task, next)
    }

    private func wake(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        if let writeDeadline, writeDeadline <= now { return context.close(promise: nil) }
        guard let due = deadline, due <= now else { return arm(context) }
        deadline = nil
        switch phase {
        case .head, .body: refuse(ControlProblem(.requestTimeout), context)
        case .idle, .closing: context.close(promise: nil)
        case .answering: refuse(ControlProblem(.unavailable), context)
        case .streaming:
            let heartbeat = ByteBuffer(bytes: Dispatcher.heartbeat)
            context.writeAndFlush(wrapOutboundOut(heartbeat), promise: nil)
            setDeadline(after: limits.heartbeatInterval, context)
        }
    }
}

/// Tells a connection to finish what it is answering and then to close.
struct DrainEvent: Sendable {}
