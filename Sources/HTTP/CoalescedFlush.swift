import NIOCore
import NIOSSL

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
