import CLinux
package import Control
import Glibc
package import Lifecycle
package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Serves the control API on listening Unix sockets, each with one role.
package struct ControlServer: Sendable {
    /// One accepted connection and who is at its other end.
    private struct Connection: Sendable {
        let stream: UnservedStreams.Stream
        let caller: Caller
        let counter: SocketCounter
        let end: ConnectionEnd
    }

    /// What is counted on each socket by itself.
    private struct SocketCounter: Sendable {
        let registry: ConnectionRegistry
        let largeAnswers: AnswerTurns
        let streams: AnswerTurns
        /// The same for all sockets.
        let pause: AcceptPause

        init(_ limits: ServerLimits, _ pause: AcceptPause) {
            self.pause = pause
            registry = ConnectionRegistry(limits: limits)
            largeAnswers = AnswerTurns(
                perUIDMax: limits.largeAnswersPerUIDMax,
                max: limits.largeAnswersMax
            )
            streams = AnswerTurns(perUIDMax: limits.streamsPerUIDMax, max: limits.streamsMax)
        }
    }

    private struct Listener: Sendable {
        let channel: NIOAsyncChannel<Connection, Never>
        let socket: ListeningSocket
        let counter: SocketCounter
    }

    private let listeners: [Listener]
    private let unserved: UnservedStreams
    private let dispatcher: Dispatcher
    private let limits: ServerLimits
    private let logger: Logger

    /// Starts to listen on sockets that the server owns from now on; nothing is answered before
    /// ``run()``.
    ///
    /// - Throws: What the event loop throws when a descriptor cannot be registered.
    package init(
        sockets: [ListeningSocket],
        backend: any ControlBackend,
        limits: ServerLimits = ServerLimits(),
        logger: Logger,
        now: @escaping @Sendable () -> WallTime,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) async throws {
        let unserved = UnservedStreams()
        let pause = AcceptPause(retryDelay: limits.acceptRetryDelay)
        var listeners: [Listener] = []
        for socket in sockets {
            let counter = SocketCounter(limits, pause)
            let check = HeadCheck(router: Router(), role: socket.role)
            let channel = try await ServerBootstrap(group: group)
                .serverChannelInitializer { listener in
                    listener.eventLoop.makeCompletedFuture {
                        try listener.pipeline.syncOperations.addHandler(pause)
                    }
                }
                .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
                .childChannelOption(ChannelOptions.maxMessagesPerRead, value: 1)
                .childChannelOption(
                    ChannelOptions.recvAllocator,
                    value: FixedSizeRecvByteBufferAllocator(capacity: limits.readByteCountMax)
                )
                .childChannelOption(
                    ChannelOptions.writeBufferWaterMark,
                    value: .init(
                        low: limits.unreadByteCountMax / 2,
                        high: limits.unreadByteCountMax
                    )
                )
                .bind(socket.descriptor) { channel in
                    Self.setUp(
                        channel,
                        check: check,
                        counter: counter,
                        unserved: unserved,
                        limits: limits,
                        now: now
                    )
                }
            listeners.append(Listener(channel: channel, socket: socket, counter: counter))
        }
        (self.listeners, self.unserved) = (listeners, unserved)
        dispatcher = Dispatcher(backend: backend)
        (self.limits, self.logger) = (limits, logger)
    }

    package var connectionCount: Int {
        listeners.reduce(0) { $0 + $1.counter.registry.count }
    }

    /// Serves until ``shutDown()`` was called and the last answer is written.
    ///
    /// Cancelling the task cuts every connection.
    ///
    /// - Throws: What ends the accepting of connections before ``shutDown()``.
    package func run() async throws {
        do {
            try await withThrowingDiscardingTaskGroup { group in
                for listener in listeners {
                    group.addTask { try await accept(listener.channel) }
                }
            }
        } catch {
            await unserved.finishAll()
            throw error
        }
        await unserved.finishAll()
        for listener in listeners { listener.socket.removePath() }
    }

    /// Stops accepting, answers what was asked before, and cuts the rest after `drainTimeout`.
    ///
    /// A request that is on its way within `graceTimeout` is answered, too: who connects while the
    /// service is replaced must not get nothing. What is not accepted stays in the socket for the
    /// next process.
    package func shutDown() {
        let channels = listeners.map(\.channel.channel)
        // A listener that is closed drops what it has accepted and nobody serves yet.
        listeners.first?.counter.pause.end(channels)
        let registries = listeners.map(\.counter.registry)
        for registry in registries { registry.drain() }
        guard let eventLoop = channels.first?.eventLoop else { return }
        eventLoop.scheduleTask(in: TimeAmount(limits.graceTimeout)) {
            for channel in channels { channel.close(promise: nil) }
        }
        eventLoop.scheduleTask(in: TimeAmount(limits.drainTimeout)) {
            for registry in registries { registry.closeAll() }
        }
    }

    private static func setUp(
        _ channel: any Channel,
        check: HeadCheck,
        counter: SocketCounter,
        unserved: UnservedStreams,
        limits: ServerLimits,
        now: @escaping @Sendable () -> WallTime
    ) -> EventLoopFuture<Connection> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        channel.closeFuture.whenComplete { _ in counter.pause.resume() }
        // SO_PEERCRED of SOL_SOCKET, unix(7).
        let peer: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: .socket,
            name: NIOBSDSocket.Option(rawValue: 17)
        )
        // SO_PEERPIDFD, Linux 6.5; ENOPROTOOPT before.
        let handle = provider.unsafeGetSocketOption(
            level: .socket,
            name: NIOBSDSocket.Option(rawValue: 77)
        ).map { (handle: CInt) in (handle, CInt(0)) }
            .flatMapErrorThrowing { (-1, ($0 as? IOError)?.errnoCode ?? 0) }
        return peer.and(handle).flatMapThrowing { peer, handle in
            let login = PeerLogin(pid: peer.pid, handle: handle.0, error: handle.1)
            let refusal: ControlProblem?
            switch counter.registry.admit(channel, uid: peer.uid) {
            case .welcome: refusal = nil
            case .refused(let problem): refusal = problem
            case .dropped:
                channel.close(promise: nil)
                throw ChannelError.eof
            }
            var decoderLimits = NIOHTTPDecoderLimitConfiguration()
            decoderLimits.maxHeaderFieldSize = limits.headByteCountMax
            decoderLimits.maxHeaderListSize = limits.headByteCountMax
            decoderLimits.maxHeaderFieldCount = limits.headFieldCountMax
            let decoder = HTTPRequestDecoder(
                leftOverBytesStrategy: .dropBytes,
                limitConfiguration: decoderLimits
            )
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ByteToMessageHandler(decoder))
            try pipeline.addHandler(
                ConnectionHandler(check: check, limits: limits, refusal: refusal, now: now)
            )
            if counter.registry.isDraining {
                pipeline.fireUserInboundEventTriggered(DrainEvent())
            }
            let stream = try unserved.wrap(channel)
            let caller = Caller(
                role: check.role,
                uid: peer.uid,
                pid: peer.pid,
                operatorUID: login.operatorUID(uid: peer.uid, role: check.role),
                isHidden: login == .hidden
            )
            let end = ConnectionEnd()
            channel.closeFuture.whenComplete { _ in end.come() }
            return Connection(stream: stream, caller: caller, counter: counter, end: end)
        }
    }
}

extension ControlServer {
    private func accept(_ listener: NIOAsyncChannel<Connection, Never>) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    group.addTask { await serve(connection) }
                }
            }
        }
    }

    private func serve(_ connection: Connection) async {
        unserved.beginServing(connection.stream)
        do {
            try await connection.stream.executeThenClose { inbound, outbound in
                for try await request in inbound {
                    try await answer(request, of: connection, outbound)
                }
            }
        } catch {
            logger.debug("connection ended early", metadata: ["error": "\(error)"])
        }
    }

    private func answer(
        _ request: ServerRequest,
        of connection: Connection,
        _ outbound: NIOAsyncChannelOutboundWriter<ServerPart>
    ) async throws {
        let route = request.head.route
        var turn: AnswerTurns.Turn?
        if route.operation == .watchAll {
            turn = connection.counter.streams.take(uid: connection.caller.uid)
            guard turn != nil else {
                let refusal = ServerAnswer(ControlProblem(.tooManyConnections))
                return try await outbound.write(.answer(refusal))
            }
        }
        switch await reply(to: request, of: connection) {
        case .answer(let answer): try await outbound.write(.answer(answer))
        case .events(let events): try await stream(events, to: connection, outbound)
        }
        withExtendedLifetime(turn) {}
    }

    /// Answers, and gives up a plan or a large answer once the connection has ended.
    private func reply(
        to request: ServerRequest,
        of connection: Connection
    ) async -> Dispatcher.Reply {
        let route = request.head.route
        guard route.takesLong || route.hasLargeAnswer else {
            return await dispatcher.reply(to: request, caller: connection.caller)
        }
        return await withTaskGroup(of: Dispatcher.Reply?.self) { group in
            group.addTask {
                route.hasLargeAnswer
                    ? await largeReply(to: request, of: connection)
                    : await dispatcher.reply(to: request, caller: connection.caller)
            }
            group.addTask {
                await connection.end.wait()
                return nil
            }
            var reply: Dispatcher.Reply?
            for await ended in group {
                group.cancelAll()
                reply = reply ?? ended
            }
            return reply ?? .answer(ServerAnswer(ControlProblem(.unavailable)))
        }
    }

    private func largeReply(
        to request: ServerRequest,
        of connection: Connection
    ) async -> Dispatcher.Reply? {
        let uid = connection.caller.uid
        guard let turn = await connection.counter.largeAnswers.wait(uid: uid) else { return nil }
        let reply = await dispatcher.reply(to: request, caller: connection.caller)
        guard case .answer(var answer) = reply else { return reply }
        answer.turn = turn
        return .answer(answer)
    }

    private func stream(
        _ events: AsyncStream<WireEvent>,
        to connection: Connection,
        _ outbound: NIOAsyncChannelOutboundWriter<ServerPart>
    ) async throws {
        let channel = connection.stream.channel
        try await outbound.write(.streamHead)
        await withTaskGroup { group in
            group.addTask {
                do {
                    for await event in events {
                        try await outbound.write(.streamEvent(Dispatcher.frame(event)))
                    }
                } catch {
                    logger.debug("event stream ended early", metadata: ["error": "\(error)"])
                }
                channel.close(promise: nil)
            }
            group.addTask {
                do { try await channel.closeFuture.get() } catch { return }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

/// The end of one connection, for whoever waits for it.
///
/// A connection may live for months: a request that waits no more leaves nothing behind. A callback
/// of the channel would stay.
final class ConnectionEnd: Sendable {
    private struct State {
        var hasCome = false
        var lastNumber: UInt64 = 0
        var waiters: [UInt64: AsyncStream<Never>.Continuation] = [:]
    }

    private let state = Mutex(State())

    var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Wakes every waiter, also one that comes later.
    func come() {
        let waiters = state.withLock { state in
            state.hasCome = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.finish() }
    }

    /// Waits for the end, or until the task is cancelled.
    func wait() async {
        let (events, waiter) = AsyncStream.makeStream(of: Never.self)
        let number = state.withLock { state -> UInt64? in
            guard !state.hasCome else { return nil }
            state.lastNumber += 1
            state.waiters[state.lastNumber] = waiter
            return state.lastNumber
        }
        guard let number else { return }
        for await _ in events {}
        _ = state.withLock { $0.waiters.removeValue(forKey: number) }
    }
}

/// `struct ucred` of unix(7), which the C library hides from Swift.
struct PeerCredentials: Sendable {
    var pid: Int32 = 0
    var uid: UInt32 = 65_534
    var gid: UInt32 = 65_534
}

/// Which person is behind a process: two root shells of one login are one.
package enum PeerLogin: Hashable, Sendable {
    /// The login session belongs to this uid, whatever the process runs as.
    case session(UInt32)
    /// A service, a cron job, or a kernel that keeps no login uids.
    case none
    /// The process is gone, or `/proc` hides it.
    case hidden

    /// Reads it, and closes `handle`, a pidfd of the process or -1.
    ///
    /// `error` says why there is none. A kernel that has pidfds gives none of a process that is
    /// gone, whose number may be another one's by now.
    init(pid: Int32, handle: CInt, error: CInt = ENOPROTOOPT) {
        guard handle >= 0 || error == ENOPROTOOPT else {
            self = .hidden
            return
        }
        var login: UInt32 = 0
        switch unsafe clinux_login_of_process(pid, handle, &login) {
        case 1: self = .session(login)
        case 0: self = .none
        default: self = .hidden
        }
    }

    /// Whether `/proc` shows the processes of others, here the first of all.
    ///
    /// `ProtectProc=invisible` of systemd.exec(5) hides them; then no approval can be taken.
    package static var isReadable: Bool { PeerLogin(pid: 1, handle: -1) != .hidden }

    /// ``Control/Caller/operatorUID``: an application has none, but a person on its socket has.
    func operatorUID(uid: UInt32, role: ControlRole) -> UInt32? {
        switch self {
        case .session(let login): login
        case .none: role == .operator ? uid : nil
        case .hidden: nil
        }
    }
}
