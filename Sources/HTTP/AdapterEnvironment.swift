package import Engine
package import Lifecycle
package import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// What adapters of providers and stores are made with, besides their settings.
package struct AdapterEnvironment: Sendable {
    package typealias CredentialReader =
        @Sendable (_ name: String, _ owner: RemoteOwner) throws -> Secret
    package typealias SignerMaker =
        @Sendable (_ pem: Secret, _ credential: String, SigningAlgorithm) throws
        -> any MessageSigner

    private let readCredential: CredentialReader
    package let signer: SignerMaker
    private let eventLoopGroup: any EventLoopGroup
    private let loops: OwnerLoops?
    package let now: @Sendable () -> WallTime
    package let logger: Logger

    package init(
        credential: @escaping CredentialReader,
        signer: @escaping SignerMaker,
        eventLoopGroup: any EventLoopGroup,
        loops: OwnerLoops? = nil,
        now: @escaping @Sendable () -> WallTime,
        logger: Logger
    ) {
        readCredential = credential
        (self.signer, self.eventLoopGroup, self.loops) = (signer, eventLoopGroup, loops)
        (self.now, self.logger) = (now, logger)
    }

    /// Where the connections of an owner run; without ``OwnerLoops`` all owners share the group.
    package func eventLoop(of owner: RemoteOwner) -> any EventLoop {
        loops?.loop(of: owner) ?? eventLoopGroup.next()
    }

    /// Reads a credential; the error says in one line why it cannot be read.
    package func credential(_ name: String, of owner: RemoteOwner) throws -> Secret {
        try readCredential(name, owner)
    }

    /// Reads a credential of one line, without the end of the line; throws as
    /// ``credential(_:of:)`` does.
    package func line(_ name: String, of owner: RemoteOwner) throws -> Secret {
        // The copy is made inside: the lent array is overwritten together with its owner.
        try credential(name, of: owner).withBytes { bytes in
            var line = bytes[...]
            while let last = line.last, [0x0a, 0x0d].contains(last) { line.removeLast() }
            return Secret(Array(line))
        }
    }
}

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

/// Whose connection it is, for errors.
package enum RemoteOwner: Hashable, Sendable {
    case provider(ProviderName)
    case directory(ProviderName)
    case store(StoreName)
    case subscriber(SubscriberName)
    case queue(String)

    package var role: String {
        switch self {
        case .provider: "provider"
        case .directory: "directory"
        case .store: "store"
        case .subscriber: "subscriber"
        case .queue: "queue"
        }
    }

    package var name: String {
        switch self {
        case .provider(let name), .directory(let name): name.rawValue
        case .store(let name): name.rawValue
        case .subscriber(let name): name.rawValue
        case .queue(let name): name
        }
    }
}
