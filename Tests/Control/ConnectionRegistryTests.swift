import NIOCore
import NIOPosix
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
    }
}
