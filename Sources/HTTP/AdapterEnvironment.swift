package import Engine
package import Lifecycle
package import Logging
package import NIOCore

/// What adapters of providers and stores are made with, besides their settings.
package struct AdapterEnvironment: Sendable {
    /// Reads a systemd credential of a provider or store.
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
