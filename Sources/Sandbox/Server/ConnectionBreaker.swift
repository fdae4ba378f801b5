import Glibc
import NIOCore

/// Sits below TLS and can end a connection as a crashed peer or a firewall does.
final class ConnectionBreaker: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Sends a TCP reset: with a linger time of zero, close(2) drops the connection (socket(7)),
    /// and TLS, which is above this handler, says no goodbye.
    func reset() {
        guard let context else { return }
        if let provider = context.channel as? any SocketOptionProvider {
            // Should the option fail, the caller still sees the connection end without an answer.
            _ = provider.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        context.close(mode: .all, promise: nil)
    }
}
