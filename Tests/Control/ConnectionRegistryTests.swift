import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ControlServer

extension ControlSuite {
    @Suite(.timeLimit(.minutes(5))) struct ConnectionRegistryTests {
        @Test func `a connection that comes while the server shuts down is served and told`()
            async throws
        {
            let registry = ConnectionRegistry(limits: ServerLimits())
            let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            let channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
            #expect(!registry.isDraining)
            registry.drain()
            guard case .welcome = registry.admit(channel, uid: 1000) else {
                Issue.record("it is not admitted")
                return
            }
            #expect(registry.isDraining)
            try await channel.close()
        }

        @Test func `a listener without a free descriptor pauses until a connection closes`()
            async throws
        {
            let pause = AcceptPause(retryDelay: .seconds(3600))
            let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelInitializer { listener in
                    listener.eventLoop.makeCompletedFuture {
                        try listener.pipeline.syncOperations.addHandler(pause)
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            func isAccepting() async throws -> Bool {
                try await listener.getOption(ChannelOptions.autoRead).get()
            }
            for number in [EMFILE, ENFILE, ENOBUFS, ENOMEM] {
                listener.pipeline.fireErrorCaught(IOError(errnoCode: number, reason: "accept"))
                let whileFull = try await isAccepting()
                #expect(!whileFull)
                pause.resume()
                let afterClose = try await isAccepting()
                #expect(afterClose)
            }
            listener.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
            pause.end([listener])
            pause.resume()
            let afterEnd = try await isAccepting()
            #expect(!afterEnd)
            try await listener.close()
        }

        @Test func `a paused listener does not turn for those who connect`() async throws {
            let pause = AcceptPause(retryDelay: .seconds(3600))
            let reads = ReadCounter()
            let (accepted, note) = AsyncStream.makeStream(of: Void.self)
            let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelInitializer { listener in
                    listener.eventLoop.makeCompletedFuture {
                        try listener.pipeline.syncOperations.addHandler(reads)
                        try listener.pipeline.syncOperations.addHandler(pause)
                    }
                }
                .childChannelInitializer { channel in
                    note.yield()
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                .bind(host: "127.0.0.1", port: 0).get()
            listener.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
            try await listener.eventLoop.submit {}.get()
            let before = reads.count
            let address = try #require(listener.localAddress)
            let clients = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            let first = try await clients.connect(to: address).get()
            let second = try await clients.connect(to: address).get()
            // The socket is readable in each of these turns.
            for _ in 1...100 { try await listener.eventLoop.submit {}.get() }
            #expect(reads.count == before)
            pause.resume()
            var arrivals = accepted.makeAsyncIterator()
            for _ in 1...2 { await arrivals.next() }
            try await listener.eventLoop.submit {}.get()
            #expect(reads.count > before)
            for channel in [first, second, listener] { try await channel.close() }
        }

        /// How often a listener was about to accept.
        private final class ReadCounter: ChannelOutboundHandler, Sendable {
            typealias OutboundIn = Never

            private let counter = Mutex(0)

            var count: Int { counter.withLock(\.self) }

            func read(context: ChannelHandlerContext) {
                counter.withLock { $0 += 1 }
                context.read()
            }
        }

        /// A process with so many descriptors; what one socket of three gives to each.
        @Test(arguments: [
            (16, 2, 0), (200, 25, 8), (1024, 128, 42), (4096, 512, 64), (16_384, 512, 64),
        ])
        func `connections leave descriptors to files and calls`(
            _ descriptors: Int,
            _ connections: Int,
            _ refused: Int
        ) {
            var limits = ServerLimits()
            limits.fit(descriptors: descriptors, socketCount: 3)
            #expect(limits.connectionsMax == connections)
            #expect(limits.refusedMax == refused)
            #expect(3 * (connections + refused) <= descriptors / 2)
            #expect(limits.sharedConnectionsMax < connections)
        }

        @Test func `the descriptors of the unit are enough for all that can be set`() {
            var limits = ServerLimits()
            limits.connectionsMax = 4096
            limits.fit(descriptors: ServerLimits.descriptorsMax, socketCount: 3)
            #expect(limits.connectionsMax == 4096)
        }
    }
}
