import Engine
import Lifecycle
import Synchronization

@testable import HTTP
@testable import Providers

/// Signs with nothing: for servers that do not look.
struct BlankSigner: MessageSigner {
    var algorithm = SigningAlgorithm.es256

    func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8] { [UInt8](repeating: 7, count: 64) }
}

/// Fails like a token that was pulled out.
struct BrokenSigner: MessageSigner {
    var algorithm: SigningAlgorithm { .es256 }

    func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8] { throw VaultError(kind: .library) }
}

/// A clock that stands still until it is moved.
final class ManualTime: Sendable {
    private let milliseconds = Mutex<Int64>(1_800_000_000_000)

    var now: WallTime { milliseconds.withLock { WallTime(unixMilliseconds: $0) } }

    func advance(by duration: Duration) { milliseconds.withLock { $0 += duration.milliseconds } }
}

/// What a test makes Apple's adapter with.
struct AppleSetup: Sendable {
    var kind: AppleKind
    var http: RemoteSettings
    var clientIDs: [String]
}

/// Runs a provider against an address, with deadlines that nothing runs into, and shuts it down.
enum AppleHarness {
    static let clientID = "com.example.app"

    static func settings(_ baseURL: String, clientIDs: [String] = [clientID]) -> AppleSetup {
        AppleSetup(
            kind: kind(baseURL),
            http: FamilyHarness.http("apple"),
            clientIDs: clientIDs
        )
    }

    static func kind(
        _ baseURL: String,
        teamID: String = "ABCDE12345",
        keyID: String = "KEY1234567"
    ) -> AppleKind {
        AppleKind(teamID: teamID, keyID: keyID, privateKeyCredential: "", baseURL: baseURL)
    }

    static func with<Result>(
        _ setup: AppleSetup,
        signer: any MessageSigner = BlankSigner(),
        now: @escaping @Sendable () -> WallTime = { ManualTime().now },
        body: (AppleProvider) async throws -> Result
    ) async throws -> Result {
        let provider = try AppleProvider(
            setup.kind,
            http: setup.http,
            clientIDs: setup.clientIDs,
            signer: signer,
            in: FamilyHarness.environment(now: now)
        )
        do {
            let result = try await body(provider)
            await provider.shutdown()
            return result
        } catch {
            await provider.shutdown()
            throw error
        }
    }

    static func with<Result>(
        _ server: RawServer,
        body: (AppleProvider) async throws -> Result
    ) async throws -> Result {
        try await with(settings("http://127.0.0.1:\(server.port)"), body: body)
    }

    static func credential(
        _ kind: CredentialKind,
        _ secret: String = "r.canary-token-3f8e21b7",
        clientID: String = clientID,
        redirectURI: String? = nil
    ) -> OpenCredential {
        OpenCredential(
            kind: kind,
            clientID: clientID,
            secret: Secret(secret),
            redirectURI: redirectURI
        )
    }
}

extension ExchangeAnswer {
    /// A comparable summary without the tokens.
    var summary: String {
        switch self {
        case .exchanged(let tokens):
            "exchanged refresh=\(tokens.refreshToken != nil) access=\(tokens.accessToken != nil) "
                + "subject=\(tokens.subject?.exposeText() ?? "-")"
        case .refused: "refused"
        case .failure(let failure): "failure \(failure)"
        }
    }
}
