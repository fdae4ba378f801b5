import NIOCore
import NIOPosix
import Testing

@testable import ControlServer

extension ControlSuite {
    @Suite(.timeLimit(.minutes(5))) struct ConnectionRegistryTests {
        /// The listener is closed by then, so that nothing would ever be written to the connection.
        @Test func `a connection that comes while the server shuts down is closed at once`()
            async throws
        {
            let registry = ConnectionRegistry(limits: ServerLimits())
            let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            let channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
            registry.drain()
            guard case .dropped = registry.admit(channel, uid: 1000) else {
                Issue.record("it is admitted, or told why not")
                return
            }
            try await channel.close()
        }
    }
}
