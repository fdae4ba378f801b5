import NIOCore
import NIOHTTP1

/// Ends a call whose answer is mostly not its body: endless informational answers, header fields,
/// chunk extensions or trailers.
///
/// ``RemoteCall`` bounds the body, and only the body reaches it. Two handlers count before and
/// behind the HTTP decoder.
enum AnswerLimit {
    /// Before the final one (RFC 9110 §15.2); servers send one or two.
    static let informationalMax = 8
    /// Bytes of an answer besides its body: heads of real servers have less than 16 KiB.
    static let besidesBodyMax = 64 * 1024
    /// Bytes on the wire for one byte of the body: a chunk of one byte has six.
    static let wirePerBodyMax = 8

    final class Count {
        var wireByteCount = 0
        var bodyByteCount = 0
        var informationalCount = 0

        var isExceeded: Bool {
            wireByteCount > besidesBodyMax + wirePerBodyMax * bodyByteCount
        }

        func reset() { (wireByteCount, bodyByteCount, informationalCount) = (0, 0, 0) }
    }

    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(
                type: ByteToMessageHandler<HTTPResponseDecoder>.self
            )
            let count = Count()
            try pipeline.addHandler(ByteCounter(count), position: .before(decoder))
            try pipeline.addHandler(PartCounter(count), position: .after(decoder))
        }
    }

    private final class ByteCounter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let count: Count

        init(_ count: Count) { self.count = count }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            count.wireByteCount += unwrapInboundIn(data).readableBytes
            context.fireChannelRead(data)
            // The parts of what came are counted by now.
            if count.isExceeded { context.fireErrorCaught(RemoteCall.TooLarge()) }
        }
    }

    private final class PartCounter: ChannelDuplexHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundIn = HTTPClientRequestPart

        private let count: Count
        private var isOver = false

        init(_ count: Count) { self.count = count }

        func write(
            context: ChannelHandlerContext,
            data: NIOAny,
            promise: EventLoopPromise<Void>?
        ) {
            if case .head = unwrapOutboundIn(data) { count.reset() }
            context.write(data, promise: promise)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                if head.status.code < 200 { count.informationalCount += 1 }
                guard count.informationalCount <= informationalMax else {
                    // Once: what the decoder still has is dropped.
                    if !isOver { context.fireErrorCaught(RemoteCall.TooLarge()) }
                    isOver = true
                    return
                }
            case .body(let bytes): count.bodyByteCount += bytes.readableBytes
            case .end: break
            }
            if !isOver { context.fireChannelRead(data) }
        }
    }
}
