import Engine
import Lifecycle
import Sandbox
import TestSupport

@testable import HTTP
@testable import Providers

/// What a test makes a provider of the OAuth 2 family with.
struct OAuth2Setup: Sendable {
    var profile: OAuth2Profile
    var http = RemoteSettings(name: ProviderName("sso"))
    var clients: [OAuth2Client]
    var admin = AdminAPI.Access.open
}

/// Runs a provider of the OAuth 2 family against an address, and shuts it down.
enum OAuth2Harness {
    static let clientID = "app"

    static func settings(
        _ profile: OAuth2Profile = .standard,
        _ authentication: OAuth2Client.Authentication = .basic(Secret("app-secret"))
    ) -> OAuth2Setup {
        var settings = OAuth2Setup(
            profile: profile,
            clients: [OAuth2Client(id: clientID, authentication: authentication)]
        )
        FamilyHarness.relax(&settings.http)
        return settings
    }

    static func with<Result>(
        _ settings: OAuth2Setup,
        now: @escaping @Sendable () -> WallTime = { ManualTime().now },
        body: (OAuth2Provider) async throws -> Result
    ) async throws -> Result {
        let provider = try OAuth2Provider(
            settings.profile,
            http: settings.http,
            clients: settings.clients,
            admin: settings.admin,
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

    /// Every endpoint of the profile at one server.
    static func at(
        _ server: RawServer,
        _ profile: OAuth2Profile,
        check: OAuth2Check? = nil
    ) -> OAuth2Setup {
        var moved = profile
        moved.hasMetadata = false
        let base = "http://127.0.0.1:\(server.port)"
        if moved.clientTokenURL != nil { moved.clientTokenURL = base + "/client" }
        let authentication: OAuth2Client.Authentication =
            profile.prefersPost ? .post(Secret("app-secret")) : .basic(Secret("app-secret"))
        var settings = settings(moved, authentication)
        settings.profile.tokenURL = base + "/token"
        settings.profile.revocationURL = base + "/revoke"
        settings.profile.introspectionURL = base + "/introspect"
        if let check { settings.profile.check = check }
        return settings
    }

    static func credential(_ kind: CredentialKind, _ secret: String = "t0ken") -> OpenCredential {
        OpenCredential(kind: kind, clientID: clientID, secret: Secret(secret))
    }

    /// Runs a provider against the stand-in, over TLS and by the machine's clock.
    static func withSandbox(
        _ sandboxed: SandboxProvider,
        _ configuration: SandboxConfiguration = SandboxConfiguration(),
        settings make: (RunningSandbox) throws -> OAuth2Setup,
        body: (OAuth2Provider, RunningSandbox) async throws -> Void
    ) async throws {
        let sandbox = try await SandboxServer.start(configuration: configuration)
        do {
            var settings = try make(sandbox)
            settings.http.caFile = sandbox.authorityFile
            settings.http.timeoutConnect = .seconds(120)
            settings.http.timeoutTotal = .seconds(120)
            try await with(settings, now: MachineClock.now) { provider in
                try await body(provider, sandbox)
            }
        } catch {
            try await sandbox.shutdown()
            throw error
        }
        try await sandbox.shutdown()
    }
}
