import NIOCore

/// Commands that are written at once, and who waits for their replies.
struct RedisBatch: Sendable {
    let bytes: ByteBuffer
    let count: Int
    let promise: EventLoopPromise<[RESPValue]>
}

/// Gives each batch of commands the replies that follow it, which come in order.
///
/// Lives on the event loop of its channel.
final class RedisReplies: ChannelDuplexHandler {
    typealias InboundIn = RESPValue
    typealias OutboundIn = RedisBatch
    typealias OutboundOut = ByteBuffer

    /// The connection ended, or brought what nobody asked for.
    struct Ended: Error {}

    private var waiting: CircularBuffer<RedisBatch> = []
    private var replies: [RESPValue] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let batch = unwrapOutboundIn(data)
        waiting.append(batch)
        context.write(wrapOutboundOut(batch.bytes), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let batch = waiting.first else { return context.close(promise: nil) }
        replies.append(unwrapInboundIn(data))
        guard replies.count == batch.count else { return }
        waiting.removeFirst()
        batch.promise.succeed(replies)
        replies = []
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail()
        context.fireChannelInactive()
    }

    /// The error's text may quote what the peer sent, so it goes nowhere.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail()
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) { fail() }

    private func fail() {
        for batch in waiting { batch.promise.fail(Ended()) }
        waiting = []
    }
}
