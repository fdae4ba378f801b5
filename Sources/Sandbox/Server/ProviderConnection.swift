import NIOCore
import NIOHTTP1

/// One keep-alive connection: collects a request, has it answered, and breaks the answer when a
/// fault says so.
final class ProviderConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Far more than any token request; the admin routes get keys and plans.
    private static let bodyMaximum = 256 * 1024
    private static let page = Array("<!DOCTYPE html><title>Sign in to the network</title>\n".utf8)

    private let service: SandboxService
    private let breaker: ConnectionBreaker
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(service: SandboxService, breaker: ConnectionBreaker) {
        self.service = service
        self.breaker = breaker
    }

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
        let query = FormBody(Array((parts.count > 1 ? parts[1] : "").utf8))
        guard let (family, endpoint) = service.route(method: head.method.rawValue, path: path)
        else {
            let reply = service.admin.answer(
                method: head.method.rawValue,
                path: path,
                query: query,
                body: body
            )
            send(reply, context: context, keepAlive: head.isKeepAlive)
            return
        }
        let isRefused = service.faults.refuses(body, at: endpoint)
        let fault = isRefused ? nil : service.faults.decide(family.name, endpoint)
        let call = ProviderCall(
            endpoint: endpoint,
            method: head.method.rawValue,
            path: path,
            query: query,
            headers: head.headers,
            body: body,
            fault: fault?.kind
        )
        guard !isRefused else {
            family.recordSkipped(call, status: 400)
            send(Self.refusal, context: context, keepAlive: head.isKeepAlive)
            return
        }
        guard let fault else {
            send(family.answer(call), context: context, keepAlive: head.isKeepAlive)
            return
        }
        if fault.kind.acts {
            act(on: call, family, fault, context: context, keepAlive: head.isKeepAlive)
        } else {
            skip(call, family, fault, context: context, keepAlive: head.isKeepAlive)
        }
    }

    /// RFC 6749 §5.2.
    private static let refusal = ProviderReply(
        status: 400,
        contentType: "application/json",
        body: Array(#"{"error":"invalid_request"}"#.utf8)
    )

    private func act(
        on call: ProviderCall,
        _ family: any ProviderFamily,
        _ fault: FaultInjector.Fault,
        context: ChannelHandlerContext,
        keepAlive: Bool
    ) {
        switch fault.kind {
        case .delay:
            context.eventLoop.assumeIsolated()
                .scheduleTask(in: .milliseconds(fault.delayMilliseconds)) {
                    self.send(family.answer(call), context: context, keepAlive: keepAlive)
                }
        case .truncated:
            truncate(family.answer(call), context: context)
        case .wrongContentType:
            var reply = family.answer(call)
            reply.contentType = "text/plain"
            send(reply, context: context, keepAlive: keepAlive)
        case .responseLost:
            _ = family.answer(call)
            breaker.reset()
        case .timeout, .reset, .throttled, .unavailable, .serverError, .html:
            preconditionFailure("these kinds do not act")
        }
    }

    private func skip(
        _ call: ProviderCall,
        _ family: any ProviderFamily,
        _ fault: FaultInjector.Fault,
        context: ChannelHandlerContext,
        keepAlive: Bool
    ) {
        let after = fault.retryAfterSeconds
        let reply: ProviderReply? =
            switch fault.kind {
            case .throttled: family.throttled(retryAfterSeconds: after)
            case .unavailable: ProviderReply(status: 503, retryAfterSeconds: after)
            case .serverError: ProviderReply(status: 500)
            case .html: ProviderReply(status: 200, contentType: "text/html", body: Self.page)
            case .timeout, .reset, .delay, .truncated, .wrongContentType, .responseLost: nil
            }
        family.recordSkipped(call, status: reply?.status ?? 0)
        if let reply {
            send(reply, context: context, keepAlive: keepAlive)
        } else if fault.kind == .reset {
            breaker.reset()
        }
    }

    private func send(_ reply: ProviderReply, context: ChannelHandlerContext, keepAlive: Bool) {
        var head = responseHead(reply, length: reply.body.count)
        if !keepAlive {
            head.headers.add(name: "connection", value: "close")
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !reply.body.isEmpty {
            let buffer = context.channel.allocator.buffer(bytes: reply.body)
            context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        }
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !keepAlive {
            close(context, after: written)
        }
    }

    /// Promises all of the body, or some of an empty one, and sends half.
    private func truncate(_ reply: ProviderReply, context: ChannelHandlerContext) {
        let head = responseHead(reply, length: max(reply.body.count, 64))
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let buffer = context.channel.allocator.buffer(
            bytes: reply.body.prefix(reply.body.count / 2)
        )
        close(context, after: context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer)))))
    }

    private func close(_ context: ChannelHandlerContext, after written: EventLoopFuture<Void>) {
        written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    private func responseHead(_ reply: ProviderReply, length: Int) -> HTTPResponseHead {
        var headers: HTTPHeaders = ["content-length": "\(length)", "cache-control": "no-store"]
        if let type = reply.contentType {
            headers.add(name: "content-type", value: type)
        }
        if let seconds = reply.retryAfterSeconds {
            headers.add(name: "retry-after", value: "\(seconds)")
        }
        for (name, value) in reply.headers {
            headers.add(name: name, value: value)
        }
        return HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: reply.status),
            headers: headers
        )
    }
}
