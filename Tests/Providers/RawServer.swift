import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on loopback that answers exactly the bytes it is told, and remembers what it was sent.
final class RawServer: Sendable {
    /// What happens once a whole request is there.
    enum Reaction: Sendable {
        case bytes([UInt8])
        /// Sends and closes.
        case bytesThenClose([UInt8])
        /// Sends parts with a pause before each.
        case slowly([[UInt8]], pause: TimeAmount)
        case silence

        static func http(
            _ status: Int,
            _ headers: [String] = [],
            body: [UInt8] = []
        ) -> Reaction {
            let head = ["HTTP/1.1 \(status) X", "Content-Length: \(body.count)"] + headers
            return .bytes(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
        }

        static func json(_ status: Int, _ body: String) -> Reaction {
            .http(status, ["Content-Type: application/json;charset=UTF-8"], body: Array(body.utf8))
        }
    }

    private struct State {
        var connectionCount = 0
        var requests: [String] = []
    }

    private let state = Mutex(State())
    private let react: @Sendable (String) -> Reaction
    private let channel = Mutex<(any Channel)?>(nil)

    private init(react: @escaping @Sendable (String) -> Reaction) { self.react = react }

    var requests: [String] { state.withLock { $0.requests } }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    var port: Int { channel.withLock { $0?.localAddress?.port ?? 0 } }

    /// Like the other one, with the same reaction to everything.
    static func with<Result>(
        tls: NIOSSLContext? = nil,
        answering reaction: Reaction,
        body: (RawServer) async throws -> Result
    ) async throws -> Result {
        let react: @Sendable (String) -> Reaction = { _ in reaction }
        return try await with(tls: tls, react: react, body: body)
    }

    /// Runs `body` with a started server and stops it afterwards; plain text unless `tls` is given.
    ///
    /// `react` gets the request's head and body as text.
    static func with<Result>(
        tls: NIOSSLContext? = nil,
        react: @escaping @Sendable (String) -> Reaction,
        body: (RawServer) async throws -> Result
    ) async throws -> Result {
        let server = RawServer(react: react)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    if let tls {
                        try child.pipeline.syncOperations.addHandler(
                            NIOSSLServerHandler(context: tls)
                        )
                    }
                    try child.pipeline.syncOperations.addHandler(RawHandler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLock { $0 = channel }
        do {
            let result = try await body(server)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }

    fileprivate func noteConnection() { state.withLock { $0.connectionCount += 1 } }

    fileprivate func reaction(to request: String) -> Reaction {
        state.withLock { $0.requests.append(request) }
        return react(request)
    }
}

/// Collects one request at a time: head, then as many bytes as `Content-Length` says.
private final class RawHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: RawServer
    private var received = ""

    init(_ server: RawServer) { self.server = server }

    func channelActive(context: ChannelHandlerContext) { server.noteConnection() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard let request = nextRequest() else { return }
        switch server.reaction(to: request) {
        case .bytes(let bytes):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        case .bytesThenClose(let bytes):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            context.close(promise: nil)
        case .slowly(let parts, let pause):
            let (channel, times) = (context.channel, Int64(1)...Int64(parts.count))
            for (part, time) in zip(parts, times) {
                context.eventLoop.scheduleTask(in: pause * Int(time)) {
                    channel.writeAndFlush(ByteBuffer(bytes: part), promise: nil)
                }
            }
        case .silence: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func nextRequest() -> String? {
        let bytes = Array(received.utf8)
        guard
            let head = received.split(separator: "\r\n\r\n", omittingEmptySubsequences: false)
                .first,
            head.utf8.count < bytes.count
        else { return nil }
        let length =
            head.split(separator: "\r\n").compactMap { line -> Int? in
                guard line.lowercased().hasPrefix("content-length:") else { return nil }
                return Int(line.drop { $0 != ":" }.dropFirst().drop { $0 == " " })
            }.first ?? 0
        guard bytes.count >= head.utf8.count + 4 + length else { return nil }
        defer { received = "" }
        return received
    }
}
