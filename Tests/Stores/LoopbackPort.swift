import NIOCore
import NIOPosix
import Synchronization

/// Ports of the loopback interface for the servers that have to be told theirs.
enum LoopbackPort {
    private static let given = Mutex<Set<UInt16>>([])

    /// A port that no server of this process has been given and at which nobody listens.
    static func take() throws -> UInt16 {
        for _ in 0..<1000 {
            // Above those of the clusters, below those of outgoing connections.
            let port = UInt16.random(in: 24_000...31_999)
            guard given.withLock({ $0.insert(port).inserted }) else { continue }
            do {
                try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .bind(host: "127.0.0.1", port: Int(port)).wait().close().wait()
                return port
            } catch is IOError {
                continue
            }
        }
        throw ServerFailure(text: "no port of 1000 is free")
    }
}
