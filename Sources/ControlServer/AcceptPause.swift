import Glibc
import NIOCore
import Synchronization

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
