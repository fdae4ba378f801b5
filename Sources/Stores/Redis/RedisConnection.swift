import HTTP
import Lifecycle
import NIOCore
import NIOPosix
import NIOSSL

/// One connection to a Redis server; batches of commands go out at once and are answered in order.
struct RedisConnection: Sendable {
    private let channel: any Channel
    private let store: RedisStore
    private var settings: RedisKind { store.settings }

    /// Connects, proves who we are, and selects the database.
    ///
    /// - Throws: ``RedisError``, of kind `cluster` for a node of one.
    static func open(for store: RedisStore) async throws(RedisError) -> RedisConnection {
        let settings = store.settings
        let tls = try context(store)
        let bootstrap = ClientBootstrap(group: store.group)
            .connectTimeout(.milliseconds(RedisLimits.connect.milliseconds))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls, case .host(let host, _, _) = settings.address {
                        try pipeline.addHandler(
                            try NIOSSLClientHandler(
                                context: tls,
                                serverHostname: isAddress(host) ? nil : host
                            )
                        )
                    }
                    try pipeline.addHandler(ByteToMessageHandler(RESPDecoder()))
                    try pipeline.addHandler(RedisReplies())
                }
            }
        let channel: any Channel
        do {
            switch settings.address {
            case .socket(let path):
                channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
            case .host(let host, let port, _):
                channel = try await bootstrap.connect(host: host, port: port).get()
            }
        } catch {
            throw RedisError.unreachable
        }
        let connection = RedisConnection(channel: channel, store: store)
        do throws(RedisError) {
            try await connection.greet()
        } catch {
            await connection.close()
            // TLS fails only when something is sent; nothing but a greeting was.
            throw error == .lost ? .unreachable : error
        }
        return connection
    }

    /// Sends commands and waits for a reply to each; error replies are among them.
    ///
    /// - Throws: ``RedisError`` of kind `lost` after which the connection is of no use.
    func send(_ commands: [[[UInt8]]]) async throws(RedisError) -> [RESPValue] {
        guard !commands.isEmpty else { return [] }
        var bytes = channel.allocator.buffer(capacity: commands.count * 64)
        for command in commands {
            bytes.writeString("*\(command.count)\r\n")
            for word in command {
                bytes.writeString("$\(word.count)\r\n")
                bytes.writeBytes(word)
                bytes.writeString("\r\n")
            }
        }
        let loop = channel.eventLoop
        let promise = loop.makePromise(of: [RESPValue].self)
        let deadline = loop.scheduleTask(in: .milliseconds(settings.timeout.milliseconds)) {
            [channel] in
            channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        let batch = RedisBatch(bytes: bytes, count: commands.count, promise: promise)
        channel.writeAndFlush(batch).whenFailure { _ in promise.fail(RedisReplies.Ended()) }
        do {
            return try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: { [channel] in
                channel.close(promise: nil)
            }
        } catch {
            throw RedisError.lost
        }
    }

    func ask(_ words: String...) async throws(RedisError) -> RESPValue {
        try checked(try await send([words.map { Array($0.utf8) }]))[0]
    }

    func checked(_ replies: [RESPValue]) throws(RedisError) -> [RESPValue] {
        for reply in replies {
            switch reply {
            case .error(let code): throw RedisError(code: code)
            case .simple, .integer, .bulk, .null, .array: break
            }
        }
        return replies
    }

    func close() async {
        do {
            try await channel.close().get()
        } catch {
            // It had ended before.
            return
        }
    }

    private func greet() async throws(RedisError) {
        var commands: [[[UInt8]]] = []
        if let password = store.password {
            let user = settings.username.map { [Array($0.utf8)] } ?? []
            commands.append([Array("AUTH".utf8)] + user + [password.withBytes { Array($0) }])
        }
        commands.append([Array("SELECT".utf8), Array("\(settings.database)".utf8)])
        var replies = try await send(commands + [RedisInfo.command("server")])
        // `SCAN` of a node passes the keys of the others by, and a purge would call them gone.
        guard !RedisInfo(replies.removeLast()).isCluster else { throw .cluster }
        _ = try checked(replies)
    }

    private static func context(_ store: RedisStore) throws(RedisError) -> NIOSSLContext? {
        guard case .host(_, _, isPlain: false) = store.settings.address else { return nil }
        do {
            let remote = RemoteSettings(owner: .store(store.name), caFile: store.settings.caFile)
            return try NIOSSLContext(configuration: try remote.tlsConfiguration())
        } catch {
            throw RedisError.unusableFile
        }
    }

    private static func isAddress(_ host: String) -> Bool {
        do {
            _ = try SocketAddress(ipAddress: host, port: 0)
            return true
        } catch {
            return false
        }
    }
}

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

/// What `INFO` tells about a server; empty where the user may not ask.
struct RedisInfo {
    static func command(_ section: String = "default") -> [[UInt8]] {
        ["INFO", section].map { Array($0.utf8) }
    }

    private var fields: [Substring: Substring] = [:]

    init(_ reply: RESPValue) {
        guard let bytes = reply.bytes else { return }
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
    }

    /// Valkey says `server_mode` (valkey.io/commands/info).
    var isCluster: Bool { (self["redis_mode"] ?? self["server_mode"]) == "cluster" }

    subscript(name: Substring) -> String? { fields[name].map(String.init) }
}

/// Why a Redis server did not do its work; holds no key and no text of the server.
enum RedisError: Error {
    /// No connection, or no TLS that proves the server.
    case unreachable
    /// No answer in time, or the connection ended; the commands may have been carried out.
    case lost
    /// The password is wrong or missing.
    case unauthenticated
    /// The user's ACL does not permit a command or a key.
    case denied
    /// A node of a cluster: it has a part of the keys.
    case cluster
    /// Loading, failing over, busy with a script, a replica for the moment.
    case busy
    /// A key holds another type than the rule is for.
    case wrongType
    /// Any other error, or a reply that fits no command.
    case unusable
    case unusableFile

    /// Classifies the first word of an error reply.
    init(code: String) {
        self =
            switch code {
            case "NOAUTH", "WRONGPASS": .unauthenticated
            case "NOPERM": .denied
            case "MOVED", "ASK", "CROSSSLOT", "TRYAGAIN", "CLUSTERDOWN": .cluster
            case "LOADING", "BUSY", "MASTERDOWN", "READONLY", "MISCONF", "NOREPLICAS": .busy
            case "WRONGTYPE": .wrongType
            default: .unusable
            }
    }

    var failure: EffectFailure {
        switch self {
        case .unreachable: .unreachable
        case .lost: .lost
        case .unauthenticated, .denied, .cluster, .unusableFile: .misconfigured
        case .busy: .throttled(retryAfter: nil)
        case .wrongType, .unusable: .unusable
        }
    }
}
