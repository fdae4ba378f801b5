import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// One call: lends the body to the HTTP client, remembers that it did, and collects the answer.
///
/// Whether anything was sent is not guessed from error values. The client asks for the body only
/// after a connection (TLS included) is there and the head went out, and never again once the call
/// has failed; as long as it has not asked, no server can have acted. A call without a body counts
/// as sent once its head went out.
final class RemoteCall: HTTPClientResponseDelegate {
    /// The answer exceeded ``RemoteSettings/answerMax``, or what its stream takes.
    struct TooLarge: Error {}

    private struct State {
        var isSent = false
        var hasBody = false
        var reply = RemoteReply(status: 0)
        var streamedCount = 0
        var afterPart: (@Sendable () -> Void)?
    }

    private let answerMax: Int
    private let stream: BodyStream?
    /// Of the task that makes the call: the answer comes on another thread.
    private let dates = ServerDates.current
    private let state = Mutex(State())

    init(answerMax: Int, stream: BodyStream? = nil) {
        (self.answerMax, self.stream) = (answerMax, stream)
    }

    var isStreamed: Bool { stream != nil }

    func afterEachPart(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.afterPart = body }
    }

    var isSent: Bool { state.withLock { $0.isSent } }

    /// A body that marks this call as sent the moment it is asked for.
    func body(_ bytes: [UInt8]) -> HTTPClient.Body {
        let buffer = ByteBuffer(bytes: bytes)
        state.withLock { $0.hasBody = true }
        return .stream(contentLength: Int64(buffer.readableBytes)) { [self] writer in
            state.withLock { $0.isSent = true }
            return writer.write(.byteBuffer(buffer))
        }
    }

    func didSendRequestHead(task: HTTPClient.Task<RemoteReply>, _ head: HTTPRequestHead) {
        state.withLock { if !$0.hasBody { $0.isSent = true } }
    }

    func didReceiveHead(
        task: HTTPClient.Task<RemoteReply>,
        _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        if let dates, let date = head.headers.first(name: "Date") { dates.note(date) }
        let max = head.status == .ok ? stream?.max ?? answerMax : answerMax
        if let length = head.headers.first(name: "Content-Length"), let count = Int(length),
            count > max
        {
            return task.eventLoop.makeFailedFuture(TooLarge())
        }
        state.withLock {
            $0.reply.status = Int(head.status.code)
            $0.reply.contentType = head.headers.first(name: "Content-Type")
            $0.reply.retryAfter = head.headers.first(name: "Retry-After")
            let links = head.headers["Link"]
            $0.reply.link = links.isEmpty ? nil : links.joined(separator: ", ")
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(
        task: HTTPClient.Task<RemoteReply>,
        _ buffer: ByteBuffer
    ) -> EventLoopFuture<Void> {
        let fits =
            if let stream, state.withLock({ $0.reply.status == 200 }) {
                pass(buffer, to: stream)
            } else {
                keep(buffer)
            }
        guard fits else { return task.eventLoop.makeFailedFuture(TooLarge()) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    private func keep(_ buffer: ByteBuffer) -> Bool {
        state.withLock { [answerMax] state in
            guard state.reply.body.count + buffer.readableBytes <= answerMax else { return false }
            state.reply.body.append(contentsOf: buffer.readableBytesView)
            return true
        }
    }

    private func pass(_ buffer: ByteBuffer, to stream: BodyStream) -> Bool {
        let (count, afterPart) = state.withLock { state in
            state.streamedCount += buffer.readableBytes
            return (state.streamedCount, state.afterPart)
        }
        guard count <= stream.max else { return false }
        stream.take(buffer.readableBytesView)
        afterPart?()
        return true
    }

    func didFinishRequest(task: HTTPClient.Task<RemoteReply>) throws -> RemoteReply {
        state.withLock { $0.reply }
    }
}

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
