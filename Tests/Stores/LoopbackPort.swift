import Glibc
import NIOCore
import NIOPosix

/// Ports of the loopback interface for the servers that have to be told theirs.
enum LoopbackPort {
    /// A port that no suite has been given, in this process or another, and at which nobody
    /// listens.
    static func take() throws -> UInt16 {
        for _ in 0..<1000 {
            // Below those of outgoing connections.
            let port = UInt16.random(in: 24_000...31_999)
            // Locked until the process ends: its server listens later.
            let path = "/tmp/expunged-port-\(port)"
            let file = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o666)
            guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {
                close(file)
                continue
            }
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
