import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Starts sandboxes.
package enum SandboxServer {
    /// How long a connection may be silent and a `timeout` fault lasts: longer than any client's.
    private static let idleMaximum = TimeAmount.minutes(5)
    /// Waiting connections; as many as a benchmark opens at once.
    private static let backlog: Int32 = 1024

    /// Starts a sandbox that listens, over TLS, at 127.0.0.1.
    ///
    /// - Throws: ``SandboxError`` when the port, the directory or a key cannot be used.
    package static func start(
        configuration: SandboxConfiguration = SandboxConfiguration()
    ) async throws -> RunningSandbox {
        let directory = try SandboxDirectory(configuration.directory)
        let certificate = try ServerCertificate()
        let clock = SandboxClock(source: configuration.wallMilliseconds)
        let journal = CallJournal(
            file: try LogFile(path: configuration.logFile ?? directory.file("logs.jsonl")),
            capacity: configuration.capacity
        )
        let address = SandboxAddress()
        let families = try SandboxFamilies(
            configuration,
            FamilyTools(
                clock: clock,
                journal: journal,
                address: address,
                capacity: configuration.capacity
            )
        )
        let keyPEM = try providerKey(configuration.apple, directory)
        try families.apple.register(
            AppleRegistration(
                teamID: configuration.apple.teamID,
                keyID: configuration.apple.keyID,
                keyPEM: keyPEM,
                clientIDs: configuration.apple.clientIDs
            )
        )
        let faults = FaultInjector(plan: configuration.faults)
        let admin = AdminRoutes(families: families, faults: faults, journal: journal, clock: clock)
        let connections = OpenConnections()
        let channel = try await listen(
            port: configuration.port,
            tls: try tlsContext(certificate),
            admin: admin,
            connections: connections
        )
        guard let port = channel.localAddress?.port else {
            throw SandboxError(.listen, cannot: "listen", at: "127.0.0.1")
        }
        address.set("https://localhost:\(port)")
        try directory.write(certificate.certificatePEM, to: "ca.pem", mode: 0o644)
        try directory.write(address.baseURL + "\n", to: "endpoint", mode: 0o644)
        return RunningSandbox(
            port: port,
            appleKeyPEM: keyPEM,
            files: directory,
            admin: admin,
            channel: channel,
            connections: connections
        )
    }

    /// The key of the configuration, of the directory, or a new one that is put there.
    private static func providerKey(
        _ apple: AppleConfiguration,
        _ directory: SandboxDirectory
    ) throws(SandboxError) -> String {
        if let given = apple.keyPEM { return given }
        if let kept = try directory.read("apple-key.p8") { return kept }
        let made = try CryptoKey.makeP256().privatePEM()
        try directory.write(made, to: "apple-key.p8", mode: 0o600)
        return made
    }

    private static func tlsContext(_ certificate: ServerCertificate) throws -> NIOSSLContext {
        let leaf = try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificatePEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(certificate.privateKeyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: leaf.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    private static func listen(
        port: Int,
        tls: NIOSSLContext,
        admin: AdminRoutes,
        connections: OpenConnections
    ) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    connections.add(channel)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    try pipeline.addHandler(IdleStateHandler(allTimeout: idleMaximum))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(ProviderConnection(admin: admin))
                }
            }
        do {
            return try await bootstrap.bind(host: "127.0.0.1", port: port).get()
        } catch {
            throw SandboxError(
                .listen,
                cannot: "listen",
                at: "127.0.0.1:\(port)",
                cause: "\(error)"
            )
        }
    }
}

final class OpenConnections: Sendable {
    /// More than any benchmark opens.
    private static let maximum = 16_384

    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    func add(_ channel: any Channel) {
        let identifier = ObjectIdentifier(channel)
        let isAdded = channels.withLock { channels in
            guard channels.count < Self.maximum else { return false }
            channels[identifier] = channel
            return true
        }
        guard isAdded else {
            channel.close(promise: nil)
            return
        }
        channel.closeFuture.whenComplete { [channels = self] _ in channels.remove(identifier) }
    }

    func closeAll() {
        for channel in channels.withLock({ Array($0.values) }) {
            channel.close(promise: nil)
        }
    }

    private func remove(_ identifier: ObjectIdentifier) {
        channels.withLock { channels in channels[identifier] = nil }
    }
}
