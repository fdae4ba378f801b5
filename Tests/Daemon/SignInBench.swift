import Control
import Engine
import HTTP
import Lifecycle
import Logging
import NIOPosix
import Providers
import Synchronization
import Testing

@testable import Daemon

/// Google, whose keys are at a local server, and alice, who signed in there once.
struct SignInBench {
    static let google = ProviderName("google")
    static let client = "123.apps.googleusercontent.com"
    static let application = Caller(role: .submit, uid: 1000)

    /// One for all: a new RSA key takes a while.
    private static let sharedIssuer = Result { try TestIssuer() }

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

    /// Runs `body` with everything set up.
    static func with(
        requests: String = "",
        nonce: String = "plain",
        _ body: (SignInBench) async throws -> Void
    ) async throws {
        let bench = try Bench()
        let issuer = try sharedIssuer.get()
        let keys = try issuer.keySet()
        let outage = Outage()
        let react: @Sendable (LocalServer.Call) -> LocalServer.Reply = { _ in
            outage.isOn ? LocalServer.Reply(status: 503) : LocalServer.Reply(body: keys)
        }
        try await LocalServer.with(bench.directory, react: react) { server in
            let clock = Clock()
            let provider = try provider(at: server, clock, nonce: nonce)
            do {
                let more = """
                    [[provider]]
                    name = "google"
                    kind = "google"
                    client_ids = ["\(client)"]
                    client_secret_credential = "google-secret"
                    [requests]
                    \(requests)
                    """
                let backend = try bench.backend(more: more, providers: [google: provider])
                try await body(
                    SignInBench(
                        bench: bench,
                        backend: backend,
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
    }

    private static func provider(
        at server: LocalServer,
        _ clock: Clock,
        nonce: String
    ) throws -> OAuth2Provider {
        var settings = OAuth2ProviderSettings(
            name: google,
            profile: .google,
            clients: [OAuth2Client(id: client, authentication: .none)]
        )
        settings.keysURL = server.url + "/keys"
        settings.nonce = nonce
        settings.http.caFile = server.authorityFile
        return try OAuth2Provider(
            settings,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { clock.now },
            logger: Logger(label: "test")
        )
    }

    /// An id token as Google makes them, with these claims changed.
    func idToken(_ changed: [String: String?] = [:], by other: TestIssuer? = nil) throws -> Secret {
        let usual: [String: String?] = [
            "iss": #""https://accounts.google.com""#, "aud": #""\#(Self.client)""#,
            "sub": #""sub-1""#, "iat": "1799999990", "exp": "1800003590", "nonce": #""raw""#,
        ]
        return Secret(try (other ?? issuer).token(usual.merging(changed) { _, new in new }))
    }

    func reauthorization(_ token: Secret) -> ReauthorizeInput {
        var input = ReauthorizeInput(provider: Self.google)
        input.idToken = token
        input.rawNonce = Secret("raw")
        return input
    }

    /// Stores what alice's sign-in of long ago left.
    func signUp(subject: String? = "sub-1") async throws {
        var input = CredentialInput(kind: .refreshToken, secret: Secret("token"))
        input.subject = subject
        _ = try await backend.putCredential(
            input,
            user: try #require(UserID("alice")),
            provider: Self.google,
            caller: Self.application
        )
    }

    func submission(
        _ kind: RequestKind = .deleteAccount,
        signIn token: Secret? = nil
    ) throws -> Control.Submission {
        var submission = Control.Submission(kind: kind, user: try #require(UserID("alice")))
        submission.signIn = token.map {
            SignInInput(provider: Self.google, idToken: $0, rawNonce: Secret("raw"))
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
