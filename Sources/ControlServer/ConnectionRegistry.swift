import Control
import Glibc
import NIOCore
import Synchronization

/// The open connections of one socket, counted by uid before anything is read.
///
/// Each socket has its own, so that applications cannot use up what operators need.
final class ConnectionRegistry: Sendable {
    /// What becomes of a new connection.
    enum Admission {
        case welcome
        /// It may read why, and is closed then.
        case refused(ControlProblem)
        /// It is closed at once: too many refused ones are still open.
        case dropped
    }

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var countByUID: [UInt32: Int] = [:]
        var refusedCount = 0
        var isDraining = false

        func count(besides uid: UInt32) -> Int { channels.count - countByUID[uid, default: 0] }
    }

    private static let root: UInt32 = 0

    private let limits: ServerLimits
    private let state = Mutex(State())

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Counts a new connection until it closes.
    func admit(_ channel: any Channel, uid: UInt32) -> Admission {
        let admission = state.withLock { state -> Admission in
            guard let problem = refusal(of: uid, state) else {
                state.countByUID[uid, default: 0] += 1
                state.channels[ObjectIdentifier(channel)] = channel
                return .welcome
            }
            guard state.refusedCount < limits.refusedMax else { return .dropped }
            state.refusedCount += 1
            return .refused(problem)
        }
        switch admission {
        case .welcome: channel.closeFuture.whenComplete { [self] _ in forget(channel, uid) }
        case .refused:
            channel.closeFuture.whenComplete { [self] _ in
                state.withLock { $0.refusedCount -= 1 }
            }
        case .dropped: break
        }
        return admission
    }

    private func refusal(of uid: UInt32, _ state: State) -> ControlProblem? {
        // 65534 is what the kernel shows for a uid outside our user namespace: anybody.
        if uid == 65_534 { return ControlProblem(.forbidden) }
        let isRoot = uid == Self.root
        let hasRoom =
            state.countByUID[uid, default: 0] < limits.connectionsPerUIDMax
            && state.channels.count < limits.connectionsMax
            && (isRoot || state.count(besides: Self.root) < limits.sharedConnectionsMax)
        return hasRoom ? nil : ControlProblem(.tooManyConnections)
    }

    private func forget(_ channel: any Channel, _ uid: UInt32) {
        state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = nil
            let count = state.countByUID[uid, default: 1] - 1
            state.countByUID[uid] = count == 0 ? nil : count
        }
    }

    /// Whether connections are told to finish; one that is admitted later must be told by itself.
    var isDraining: Bool { state.withLock(\.isDraining) }

    var count: Int { state.withLock(\.channels.count) }

    func drain() {
        let channels = state.withLock { state in
            state.isDraining = true
            return Array(state.channels.values)
        }
        for channel in channels {
            channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        }
    }

    func closeAll() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
}

/// Pauses listeners that find no descriptor free, until a connection closes.
///
/// NIO alone would call accept(2) in every turn of the loop: the socket stays readable.
final class AcceptPause: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel

    private struct State {
        var listeners: [any Channel] = []
        var isOver = false
    }

    private let retryDelay: Duration
    private let state = Mutex(State())

    /// A listener also tries again after `retryDelay`: others may have freed a descriptor.
    init(retryDelay: Duration) { self.retryDelay = retryDelay }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError,
            [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(failure.errnoCode)
        else { return context.fireErrorCaught(error) }
        let listener = context.channel
        state.withLock { $0.listeners.append(listener) }
        _ = listener.setOption(ChannelOptions.autoRead, value: false)
        context.eventLoop.scheduleTask(in: TimeAmount(retryDelay)) { [self] in resume() }
    }

    /// Accepts again, unless ``end(_:)`` was called.
    func resume() {
        let listeners = state.withLock { state in
            defer { state.listeners = [] }
            return state.isOver ? [] : state.listeners
        }
        for listener in listeners {
            _ = listener.setOption(ChannelOptions.autoRead, value: true)
        }
        // The end may have come between; an end that comes now has the last word.
        if state.withLock({ $0.isOver }) { end(listeners) }
    }

    /// Stops accepting for good.
    func end(_ listeners: [any Channel]) {
        state.withLock { $0.isOver = true }
        for listener in listeners {
            _ = listener.setOption(ChannelOptions.autoRead, value: false)
        }
    }
}

/// Accepted connections that nobody serves yet.
///
/// The listener buffers them, and drops the buffer when it ends. NIO ends the process when a
/// wrapped channel is dropped that was neither read nor finished, so those that are left are
/// finished here.
final class UnservedStreams: Sendable {
    typealias Stream = NIOAsyncChannel<ServerRequest, ServerPart>

    private struct State {
        var streams: [ObjectIdentifier: Stream] = [:]
        var isOver = false
    }

    private let state = Mutex(State())

    /// Wraps a channel, on its event loop, and keeps it until it is served.
    ///
    /// - Throws: `ChannelError.eof` once ``finishAll()`` was called, and what wrapping throws.
    func wrap(_ channel: any Channel) throws -> Stream {
        try state.withLock { state in
            guard !state.isOver else { throw ChannelError.eof }
            let stream = try Stream(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: false)
            )
            state.streams[ObjectIdentifier(channel)] = stream
            return stream
        }
    }

    func beginServing(_ stream: Stream) {
        _ = state.withLock { $0.streams.removeValue(forKey: ObjectIdentifier(stream.channel)) }
    }

    /// Closes all that is left and refuses what comes later.
    func finishAll() async {
        let left = state.withLock { state in
            state.isOver = true
            defer { state.streams = [:] }
            return state.streams.values.map { $0 }
        }
        for stream in left {
            do {
                try await stream.executeThenClose { _, _ in }
            } catch {
                // Closed by the peer already; it is finished all the same.
            }
        }
    }
}
