import Control
import Engine
import FoundationEssentials
import Glibc
import Lifecycle
import NIOPosix
import Providers
import Settings
import Synchronization
import Systemd
import Testing

@testable import Daemon
@testable import Sandbox

/// A provider made of its section of the configuration, whose keys are at a local server, and
/// alice, who signed in there once.
struct SignInBench {
    static let name = ProviderName("idp")
    static let application = Caller(role: .submit, uid: 1000)
    /// One of each for all: a new RSA key takes a while.
    private static let issuers = pair()
    /// Others under the same key id.
    private static let forgers = pair()
    private static let strangers = pair(keyID: "key-2")

    private static func pair(keyID: String = "key-1") -> Result<[Bool: TestIssuer], any Error> {
        Result {
            [
                false: try TestIssuer(keyID: keyID),
                true: try TestIssuer(keyID: keyID, isElliptic: true),
            ]
        }
    }

    let family: SignInFamily
    let bench: Bench
    let backend: DaemonBackend
    let issuer: TestIssuer
    let server: LocalServer
    let clock: Clock
    let outage: Outage

    /// Whether the provider's keys cannot be read.
    final class Outage: Sendable {
        private let flag = Mutex(false)
        var isOn: Bool { flag.withLock { $0 } }
        func set(_ isOn: Bool) { flag.withLock { $0 = isOn } }
    }

    /// The provider's clock; the state's stands still.
    final class Clock: Sendable {
        private let time = Mutex(Bench.start)
        var now: WallTime { time.withLock { $0 } }
        func advance(_ span: Duration) { time.withLock { $0 = $0 + span } }
    }

    /// What the server must know of itself.
    private final class Place: Sendable {
        let url = Mutex("")
    }

    /// Runs `body` with everything set up.
    static func with(
        requests: String = "",
        family: SignInFamily = .google,
        _ body: (SignInBench) async throws -> Void
    ) async throws {
        let bench = try Bench()
        let issuer = try #require(try issuers.get()[family.signsWithP256])
        let keys = try issuer.keySet()
        let (outage, place) = (Outage(), Place())
        try await LocalServer.with(
            bench.directory,
            react: { call in
                guard !outage.isOn else { return LocalServer.Reply(status: 503) }
                let url = place.url.withLock { $0 }
                return LocalServer.Reply(body: isMetadata(call.path) ? metadata(url) : keys)
            },
            body: { server in
                place.url.withLock { $0 = server.url }
                let clock = Clock()
                let text = configuration(of: family, at: server) + "[requests]\n\(requests)\n"
                let provider = try provider(bench, text, clock)
                do {
                    try await body(
                        SignInBench(
                            family: family,
                            bench: bench,
                            backend: try bench.backend(more: text, providers: [name: provider]),
                            issuer: issuer,
                            server: server,
                            clock: clock,
                            outage: outage
                        )
                    )
                    await provider.shutdown()
                } catch {
                    await provider.shutdown()
                    throw error
                }
            }
        )
    }

    private static func isMetadata(_ path: String) -> Bool {
        path.contains("openid-configuration") || path.contains("oauth-authorization-server")
    }

    private static func metadata(_ url: String) -> String {
        """
        {"issuer":"\(url)","jwks_uri":"\(url)/keys","token_endpoint":"\(url)/token",\
        "revocation_endpoint":"\(url)/revoke"}
        """
    }

    private static func configuration(of family: SignInFamily, at server: LocalServer) -> String {
        """
        [[provider]]
        name = "\(name)"
        client_ids = ["\(family.client)"]
        ca_file = "\(server.authorityFile)"
        timeout_connect = "60s"
        timeout_total = "300s"
        \(family.section(server.url))

        """
    }

    /// As the daemon makes it.
    private static func provider(
        _ bench: Bench,
        _ text: String,
        _ clock: Clock
    ) throws -> any ConnectedProvider {
        try write(try CryptoKey.makeP256().privatePEM(), to: bench.directory + "/apple-key.p8")
        try write("app-secret", to: bench.directory + "/secret")
        let factory = AdapterFactory(
            credentials: CredentialDirectory(path: bench.directory),
            hasher: bench.hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { clock.now },
            logger: bench.log.logger
        )
        let configured = try Bench.configuration(text).providers.first { $0.name == name }
        let provider = try #require(configured)
        return try provider.kind.make(ProviderSetup(provider, in: factory.environment))
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, 0o600) == 0)
    }

    /// Signs with a key of its own under the provider's key id, of the right type or of the other.
    func forger(ofOtherType: Bool = false) throws -> TestIssuer {
        try #require(try Self.forgers.get()[family.signsWithP256 != ofOtherType])
    }

    /// Signs with a key that the provider does not publish.
    func stranger() throws -> TestIssuer {
        try #require(try Self.strangers.get()[family.signsWithP256])
    }

    /// An id token as the provider makes them, with these claims changed.
    func idToken(
        _ changed: SignInFamily.Claims = [:],
        by other: TestIssuer? = nil
    ) throws -> Secret {
        let nonce = family.hashesNonce ? SignInFamily.hashedNonce : "raw"
        var claims: SignInFamily.Claims = [
            "iss": "\"\(family.issuer(server.url))\"", "aud": "\"\(family.client)\"",
            "iat": "1799999990", "exp": "1800003590", "nonce": "\"\(nonce)\"",
        ]
        claims.merge(family.claims) { _, new in new }
        claims.merge(changed) { _, new in new }
        return Secret(try (other ?? issuer).token(claims))
    }

    func reauthorization(_ token: Secret) -> ReauthorizeInput {
        var input = ReauthorizeInput(provider: Self.name)
        input.idToken = token
        input.rawNonce = Secret("raw")
        return input
    }

    /// Signs in again for a request; answers what that is refused with.
    func reauthorize(_ id: RequestID, _ token: Secret) async throws -> String? {
        try await Self.refusal {
            _ = try await backend.reauthorize(
                id,
                with: reauthorization(token),
                caller: Self.application
            )
        }
    }

    /// Stores what alice's sign-in of long ago left.
    func signUp(knowsSubject: Bool = true) async throws {
        var input = SubmittedCredential(kind: .refreshToken, secret: Secret("token"))
        input.subject = knowsSubject ? Secret(family.subject) : nil
        _ = try await backend.putCredential(
            input,
            user: try #require(UserID("alice")),
            provider: Self.name,
            caller: Self.application
        )
    }

    func submission(
        _ kind: RequestKind = .deleteAccount,
        signIn token: Secret? = nil
    ) throws -> WireSubmission {
        var submission = WireSubmission(kind: kind, user: try #require(UserID("alice")))
        submission.signIn = token.map {
            SignInInput(provider: Self.name, idToken: $0, rawNonce: Secret("raw"))
        }
        return submission
    }

    @discardableResult
    func submit(
        _ kind: RequestKind = .deleteAccount,
        signIn token: Secret? = nil,
        key: String? = nil,
        caller: Caller = application
    ) async throws -> RequestID {
        try await backend.submit(
            submission(kind, signIn: token),
            idempotencyKey: key,
            caller: caller
        ).id
    }

    /// What a call is refused with: the problem's code, and the cause if it names one.
    static func refusal(_ call: () async throws -> Void) async throws -> String? {
        do {
            try await call()
            return nil
        } catch let problem as ControlProblem {
            return problem.errors.first?.message ?? problem.code.rawValue
        }
    }
}
