import Encoding
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL

/// One keep-alive connection: collects a request, has it answered, and breaks the answer when a
/// fault says so.
final class ProviderConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Far more than any token request; the admin routes get keys and plans.
    private static let bodyMaximum = 256 * 1024
    private static let page = Array("<!DOCTYPE html><title>Sign in to the network</title>\n".utf8)

    private let admin: AdminRoutes
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(admin: AdminRoutes) { self.admin = admin }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body.removeAll(keepingCapacity: true)
        case .body(let part):
            guard body.count + part.readableBytes <= Self.bodyMaximum else {
                context.close(promise: nil)
                return
            }
            body.append(contentsOf: part.readableBytesView)
        case .end:
            guard let head else { return }
            self.head = nil
            respond(to: head, context: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The bound of every wait here: also a `timeout` fault ends with it.
        if event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A caller that gave up, or a broken handshake: nobody is left to tell.
        context.close(promise: nil)
    }

    // MARK: - Answers

    private func respond(to head: HTTPRequestHead, context: ChannelHandlerContext) {
        let parts = head.uri.split(separator: "?", maxSplits: 1).map(String.init)
        let path = parts.first ?? "/"
        let query = ParsedForm(Array((parts.count > 1 ? parts[1] : "").utf8))
        let method = head.method.rawValue
        guard let (family, endpoint) = admin.families.route(method: method, path: path) else {
            let reply = admin.answer(method: method, path: path, query: query, body: body)
            return send(reply, context: context, keepAlive: head.isKeepAlive)
        }
        let isRefused = admin.faults.refuses(body, at: endpoint)
        let fault = isRefused ? nil : admin.faults.decide(family.name, endpoint)
        let call = Call(endpoint, head, path: path, query: query, body: body, fault: fault?.kind)
        if isRefused {
            // RFC 6749 §5.2.
            let reply = FamilyRefusal.invalidRequest.reply
            family.recordSkipped(call, status: reply.status)
            send(reply, context: context, keepAlive: head.isKeepAlive)
        } else if let fault {
            fail(call, family, fault, context: context, keepAlive: head.isKeepAlive)
        } else {
            send(family.answer(call), context: context, keepAlive: head.isKeepAlive)
        }
    }

    private func fail(
        _ call: Call,
        _ family: any ProviderFamily,
        _ fault: FaultInjector.Fault,
        context: ChannelHandlerContext,
        keepAlive: Bool
    ) {
        let after = fault.plan.retryAfterSeconds
        var skipped: Reply?
        switch fault.kind {
        case .delay:
            context.eventLoop.assumeIsolated()
                .scheduleTask(in: .milliseconds(fault.plan.delayMilliseconds)) {
                    self.send(family.answer(call), context: context, keepAlive: keepAlive)
                }
            return
        case .truncated: return truncate(family.answer(call), context: context)
        case .wrongContentType:
            var reply = family.answer(call)
            reply.contentType = "text/plain"
            return send(reply, context: context, keepAlive: keepAlive)
        case .responseLost:
            _ = family.answer(call)
            return reset(context)
        case .timeout, .reset: break
        case .throttled: skipped = family.throttled(retryAfterSeconds: after)
        case .unavailable: skipped = Reply(status: 503, retryAfterSeconds: after)
        case .serverError: skipped = Reply(status: 500)
        case .html:
            skipped = Reply(status: 200, contentType: "text/html", body: Self.page)
        case .forbidden: skipped = .json(["message": "Forbidden"], status: 403)
        }
        family.recordSkipped(call, status: skipped?.status ?? 0)
        if let skipped {
            send(skipped, context: context, keepAlive: keepAlive)
        } else if fault.kind == .reset {
            reset(context)
        }
    }

    private func send(_ reply: Reply, context: ChannelHandlerContext, keepAlive: Bool) {
        var head = responseHead(reply, length: reply.body.count)
        if !keepAlive { head.headers.add(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !reply.body.isEmpty {
            let buffer = context.channel.allocator.buffer(bytes: reply.body)
            context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        }
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !keepAlive { close(context, after: written) }
    }

    /// Promises all of the body, or some of an empty one, and sends half.
    private func truncate(_ reply: Reply, context: ChannelHandlerContext) {
        let head = responseHead(reply, length: max(reply.body.count, 64))
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let buffer = context.channel.allocator.buffer(
            bytes: reply.body.prefix(reply.body.count / 2)
        )
        close(context, after: context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer)))))
    }

    /// Sends a TCP reset, as a crashed peer does: with a linger time of zero, close(2) drops the
    /// connection (socket(7)).
    private func reset(_ context: ChannelHandlerContext) {
        if let provider = context.channel as? any SocketOptionProvider {
            // Should the option fail, the caller still sees the connection end without an answer.
            _ = provider.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        do {
            // From below TLS, which would say goodbye.
            try context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                .close(promise: nil)
        } catch {
            context.close(promise: nil)
        }
    }

    private func close(_ context: ChannelHandlerContext, after written: EventLoopFuture<Void>) {
        written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    private func responseHead(_ reply: Reply, length: Int) -> HTTPResponseHead {
        var headers: HTTPHeaders = ["content-length": "\(length)", "cache-control": "no-store"]
        if let type = reply.contentType { headers.add(name: "content-type", value: type) }
        if let seconds = reply.retryAfterSeconds {
            headers.add(name: "retry-after", value: "\(seconds)")
        }
        for (name, value) in reply.headers { headers.add(name: name, value: value) }
        return HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: reply.status),
            headers: headers
        )
    }
}
