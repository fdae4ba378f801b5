import Encoding
import FoundationEssentials
import Glibc
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
        let tools = FamilyTools(
            clock: SandboxClock(source: configuration.wallMilliseconds),
            journal: CallJournal(
                file: try LogFile(path: configuration.logFile ?? directory.file("logs.jsonl")),
                capacity: configuration.capacity
            ),
            capacity: configuration.capacity
        )
        let families = try SandboxFamilies(configuration, tools)
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
        let admin = AdminRoutes(families: families, faults: faults, tools: tools)
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
        tools.address.set("https://localhost:\(port)")
        try directory.write(certificate.certificatePEM, to: "ca.pem", mode: 0o644)
        try directory.write(tools.address.baseURL + "\n", to: "endpoint", mode: 0o644)
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

/// A sandbox that takes calls.
package struct RunningSandbox: Sendable {
    package let port: Int
    /// The .p8 that signs client secrets, unless the configuration brought its own key.
    package let appleKeyPEM: String
    let files: SandboxDirectory
    let admin: AdminRoutes
    let channel: any Channel
    let connections: OpenConnections

    var families: SandboxFamilies { admin.families }
    /// What a client uses as `base_url`: `https://localhost:PORT`.
    package var baseURL: String { "https://localhost:\(port)" }
    /// What a client must trust, as a file (`ca_file`).
    package var authorityFile: String { files.file("ca.pem") }
    /// The directory of `ca.pem`, `apple-key.p8`, `endpoint` and `logs.jsonl`.
    package var directory: String { files.path }

    /// Stops listening, closes every connection and takes `endpoint` away.
    ///
    /// - Throws: ``SandboxError`` when the log file is not complete or the directory cannot be
    ///   cleaned; a channel error when it is called twice.
    package func shutdown() async throws {
        try await channel.close().get()
        connections.closeAll()
        try files.retire()
        if let failure = admin.tools.journal.failure { throw failure }
    }
}

/// The directory through which a sandbox and its users find each other.
struct SandboxDirectory: Sendable {
    let path: String
    let isTemporary: Bool

    init(_ given: String?) throws(SandboxError) {
        isTemporary = given == nil
        path =
            given
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("expunged-sandbox-\(UUID().uuidString)").path
        do {
            // The service, as another user, reads ca.pem in it; the key has a mode of its own.
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755]
            )
        } catch {
            throw SandboxError(.file, cannot: "make directory", at: path, cause: "\(error)")
        }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Replaces a file as a whole, so that a reader never finds half of it.
    func write(_ text: String, to name: String, mode: mode_t) throws(SandboxError) {
        let fresh = file(".\(name).new")
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
        let descriptor = unsafe open(fresh, flags, 0o600)
        defer { close(descriptor) }
        // fchmod: the umask may have taken bits away.
        guard descriptor >= 0, fchmod(descriptor, mode) == 0,
            FileBytes.write(Array(text.utf8), to: descriptor),
            unsafe rename(fresh, file(name)) == 0
        else { throw SandboxError(.file, cannot: "write file", at: file(name)) }
    }

    func read(_ name: String) throws(SandboxError) -> String? {
        guard FileManager.default.fileExists(atPath: file(name)) else { return nil }
        do {
            return try String(contentsOf: URL(fileURLWithPath: file(name)), encoding: .utf8)
        } catch {
            throw SandboxError(.file, cannot: "read file", at: file(name), cause: "\(error)")
        }
    }

    /// Takes `endpoint` away, or the whole directory when it was made for this run.
    func retire() throws(SandboxError) {
        let victim = isTemporary ? path : file("endpoint")
        do {
            try FileManager.default.removeItem(atPath: victim)
        } catch {
            throw SandboxError(.file, cannot: "remove", at: victim, cause: "\(error)")
        }
    }
}
