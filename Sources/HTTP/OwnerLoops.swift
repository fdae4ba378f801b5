package import NIOCore
import NIOPosix
import Synchronization

/// An event loop for each provider, store and subscriber.
///
/// NIO resolves the names of one loop one after the other, on a thread of their own (getaddrinfo(3)
/// blocks). So a name that hangs keeps only its owner waiting, each call for its connect timeout.
/// Beyond `countMax` loops, as after reloads with ever new names, owners share.
package final class OwnerLoops: Sendable {
    private let loops = Mutex<[RemoteOwner: MultiThreadedEventLoopGroup]>([:])
    private let countMax: Int

    package init(countMax: Int = 256) { self.countMax = countMax }

    /// The same one for each client of an owner.
    ///
    /// It runs to the end of the process: an answer may come long after the last client is closed.
    package func loop(of owner: RemoteOwner) -> any EventLoop {
        loops.withLock { loops in
            let shared = loops.count < countMax ? nil : Array(loops.values)[loops.count % countMax]
            let group = loops[owner] ?? shared ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
            loops[owner] = group
            return group
        }.next()
    }
}
