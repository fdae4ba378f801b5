import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// One call: lends the form to the HTTP client, remembers that it did, and collects the answer.
///
/// Whether anything was sent is not guessed from error values. The client asks for the body only
/// after a connection (TLS included) is there and the head went out, and never again once the call
/// has failed; as long as it has not asked, the token cannot have left this process.
final class ProviderCall: HTTPClientResponseDelegate {
    /// The answer exceeded ``ProviderCall/bodyMax``.
    struct TooLarge: Error {}

    private struct State {
        var isSent = false
        var status = 0
        var contentType: String?
        var retryAfter: String?
        var body: [UInt8] = []
    }

    /// Bytes of an answer's body; the largest documented one, a key set, is below 8 KiB.
    static let bodyMax = 65_536

    private let state = Mutex(State())

    var isSent: Bool { state.withLock { $0.isSent } }

    /// The form as a body that marks this call as sent the moment it is asked for.
    func body(_ form: FormBody) -> HTTPClient.Body {
        let buffer = ByteBuffer(bytes: form.bytes)
        return .stream(contentLength: Int64(buffer.readableBytes)) { [self] writer in
            state.withLock { $0.isSent = true }
            return writer.write(.byteBuffer(buffer))
        }
    }

    /// A GET has no body to be asked for; its head is all there is to send.
    func didSendRequestHead(task: HTTPClient.Task<ProviderReply>, _ head: HTTPRequestHead) {
        if head.method == .GET { state.withLock { $0.isSent = true } }
    }

    func didReceiveHead(
        task: HTTPClient.Task<ProviderReply>,
        _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        if let length = head.headers.first(name: "Content-Length"), let count = Int(length),
            count > Self.bodyMax
        {
            return task.eventLoop.makeFailedFuture(TooLarge())
        }
        state.withLock {
            $0.status = Int(head.status.code)
            $0.contentType = head.headers.first(name: "Content-Type")
            $0.retryAfter = head.headers.first(name: "Retry-After")
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(
        task: HTTPClient.Task<ProviderReply>,
        _ buffer: ByteBuffer
    ) -> EventLoopFuture<Void> {
        let fits = state.withLock { state in
            guard state.body.count + buffer.readableBytes <= Self.bodyMax else { return false }
            state.body.append(contentsOf: buffer.readableBytesView)
            return true
        }
        guard fits else { return task.eventLoop.makeFailedFuture(TooLarge()) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<ProviderReply>) throws -> ProviderReply {
        state.withLock {
            ProviderReply(
                status: $0.status,
                contentType: $0.contentType,
                retryAfter: $0.retryAfter,
                body: $0.body
            )
        }
    }
}
