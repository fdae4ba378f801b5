import Logging
import NIOCore

/// Keeps a failed accept(2), such as EMFILE, from ending the listener.
final class AcceptErrorHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("cannot accept a connection, ignoring", metadata: ["error": "\(error)"])
    }
}
