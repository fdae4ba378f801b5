import Engine
import Lifecycle
import Logging
import NIOPosix
import Synchronization

@testable import HTTP
@testable import Providers

/// Runs any provider against a server on loopback.
enum FamilyHarness {
    static let group = MultiThreadedEventLoopGroup.singleton
    static let logger = Logger(label: "test")
    static let now: @Sendable () -> WallTime = { ManualTime().now }

    /// A process without credentials and keys.
    static func environment(
        now: @escaping @Sendable () -> WallTime = FamilyHarness.now
    ) -> AdapterEnvironment {
        AdapterEnvironment(
            credential: { _, _ in Secret("") },
            signer: { _, _, _ in BlankSigner() },
            eventLoopGroup: group,
            now: now,
            logger: logger
        )
    }

    /// Plain http, and deadlines that nothing runs into.
    static func relax(_ http: inout RemoteSettings) {
        http.allowsPlainLoopback = true
        http.timeoutConnect = .seconds(120)
        http.timeoutTotal = .seconds(120)
    }

    /// How a provider is reached in plain http.
    static func http(_ name: String) -> RemoteSettings {
        var http = RemoteSettings(name: ProviderName(name))
        relax(&http)
        return http
    }

    static func url(_ server: RawServer) -> String { "http://127.0.0.1:\(server.port)" }

    static func credential(
        _ kind: CredentialKind,
        _ secret: String = "canary-token",
        client: String,
        subject: String? = nil,
        keeper: TokenKeeper? = nil
    ) -> OpenCredential {
        var credential = OpenCredential(kind: kind, clientID: client, secret: Secret(secret))
        credential.subject = subject.map { Secret($0) }
        credential.keeper = keeper
        return credential
    }

    /// The `name=value` of a form or query, decoded as far as the tests need it.
    static func field(_ name: String, of request: String) -> String? {
        let marks: Set<Character> = ["?", "&", " ", "\r\n", "\n", "\r"]
        for part in request.split(whereSeparator: { marks.contains($0) })
        where part.hasPrefix(name + "=") {
            return String(part.dropFirst(name.count + 1))
        }
        return nil
    }

    /// The request line.
    static func line(_ request: String) -> String {
        String(request.prefix { $0 != "\r\n" && $0 != "\r" && $0 != "\n" })
    }
}

/// Remembers what was kept, or refuses to keep it.
final class KeptTokens: Sendable {
    private let tokens = Mutex<[String]>([])
    private let isWorking: Bool

    init(isWorking: Bool = true) { self.isWorking = isWorking }

    var all: [String] { tokens.withLock { $0 } }

    var keeper: TokenKeeper {
        TokenKeeper { [self] token in
            tokens.withLock { $0.append(token.exposeText()) }
            return isWorking
        }
    }
}
