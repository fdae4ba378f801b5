import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

@testable import Sandbox

/// A server over TLS on loopback, under a certificate of its own.
final class LocalServer: Sendable {
    /// One request.
    struct Call: Sendable {
        let path: String
        let authorization: String?
        let body: String
    }

    /// What it is answered with.
    struct Reply: Sendable {
        var status = 200
        var body = ""
        /// The header `Date`.
        var date: String?
    }

    private let log = Mutex<[Call]>([])
    private let react: @Sendable (Call) -> Reply
    private let channel = Mutex<(any Channel)?>(nil)
    /// What a client must trust.
    let authorityFile: String

    private init(_ directory: String, react: @escaping @Sendable (Call) -> Reply) {
        authorityFile = directory + "/ca.pem"
        self.react = react
    }

    /// Everything that it was sent.
    var calls: [Call] { log.withLock { $0 } }

    var url: String {
        "https://127.0.0.1:\(channel.withLock { $0?.localAddress?.port } ?? 0)"
    }

    /// Runs `body` with a started server and stops it afterwards; its certificate is
    /// written into `directory`.
    static func with(
        _ directory: String,
        react: @escaping @Sendable (Call) -> Reply,
        body: (LocalServer) async throws -> Void
    ) async throws {
        let server = LocalServer(directory, react: react)
        let certificate = try ServerCertificate()
        try Data(certificate.certificatePEM.utf8).write(to: URL(filePath: server.authorityFile))
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(
                    Array(certificate.certificatePEM.utf8)
                ).map { .certificate($0) },
                privateKey: .privateKey(
                    try NIOSSLPrivateKey(
                        bytes: Array(certificate.privateKeyPEM.utf8),
                        format: .pem
                    )
                )
            )
        )
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    let operations = child.pipeline.syncOperations
                    try operations.addHandler(NIOSSLServerHandler(context: context))
                    try operations.configureHTTPServerPipeline()
                    try operations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLock { $0 = channel }
        do {
            try await body(server)
            try await channel.close()
        } catch {
            try await channel.close()
            throw error
        }
    }

    fileprivate func answer(_ call: Call) -> Reply {
        log.withLock { $0.append(call) }
        return react(call)
    }
}

/// Collects one request at a time and writes its answer.
private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: LocalServer
    private var head: HTTPRequestHead?
    private var body = ""

    init(_ server: LocalServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = ""
        case .body(let bytes):
            body += String(buffer: bytes)
        case .end:
            let reply = server.answer(
                LocalServer.Call(
                    path: head?.uri ?? "",
                    authorization: head?.headers.first(name: "authorization"),
                    body: body
                )
            )
            var headers: HTTPHeaders = [
                "content-type": "application/json", "content-length": "\(reply.body.utf8.count)",
            ]
            if let date = reply.date { headers.add(name: "date", value: date) }
            let status = HTTPResponseStatus(statusCode: reply.status)
            context.write(
                wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))),
                promise: nil
            )
            let bytes = ByteBuffer(string: reply.body)
            context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
