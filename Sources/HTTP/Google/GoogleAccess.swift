internal import Engine
import Lifecycle
package import Settings

/// How one of Google's interfaces is reached.
package struct GoogleAccess: Hashable, Sendable {
    /// The key file of a service account; `nil` for an emulator.
    package let keyCredential: String?
    /// Without a slash at the end; `nil` means Google's own.
    package let baseURL: String?
    package let connection: ConnectionConfiguration

    package var isEmulator: Bool { keyCredential == nil }

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        keyCredential = section.text("key_credential")
        baseURL = section.text("base_url").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        connection = ConnectionConfiguration(section)
        if section.flag("emulator") {
            if keyCredential != nil {
                problems.report(
                    .contradiction,
                    "key_credential",
                    "an emulator knows no service account; take it out, or take out emulator"
                )
            }
            if baseURL.flatMap({ EndpointURL($0) })?.isLoopback != true {
                problems.report(
                    .contradiction,
                    "emulator",
                    "it needs a base_url on this machine, such as http://127.0.0.1:9099"
                )
            }
        } else if keyCredential == nil, !problems.isWritten("key_credential") {
            problems.report(
                .missingKey,
                "key_credential",
                "it must be given unless emulator is set; for example "
                    + "key_credential = \"service-account.json\""
            )
        }
        if let url = section.text("base_url") {
            problems.requireHTTPS(url, "base_url", isPlainAllowed: connection.allowsPlainHTTP)
        }
    }

    /// Makes a client, and with `body` what calls with it and shuts it down.
    package func open<Made: Sendable>(
        for owner: RemoteOwner,
        scopes: [String],
        in environment: AdapterEnvironment,
        adjust: (inout RemoteSettings) -> Void,
        _ body: (GoogleClient, RemoteSettings) throws -> Made
    ) async throws -> Made {
        var settings = RemoteSettings(
            owner: owner,
            allowsPlainLoopback: connection.allowsPlainHTTP,
            caFile: connection.caFile
        )
        settings.timeoutConnect = connection.timeoutConnect
        settings.timeoutTotal = connection.timeoutTotal
        adjust(&settings)
        let client = try client(settings, scopes, in: environment)
        do {
            return try body(client, settings)
        } catch {
            await client.shutdown()
            throw error
        }
    }

    private func client(
        _ settings: RemoteSettings,
        _ scopes: [String],
        in environment: AdapterEnvironment
    ) throws -> GoogleClient {
        // Everything that can fail comes before the client, which must be shut down once it is.
        let account = try keyCredential.map { name in
            let key = try ServiceAccountKey(
                file: try environment.credential(name, of: settings.owner),
                of: settings.owner
            )
            return (key: key, signer: try environment.signer(key.privateKey, name, .rs256))
        }
        let remote = try RemoteClient(settings, in: environment)
        let tokens =
            try account.map { account in
                try ServiceAccountTokenSource(
                    account.key,
                    signer: account.signer,
                    scopes: scopes,
                    client: remote,
                    settings: settings,
                    now: environment.now
                )
            } ?? ServiceAccountTokenSource(emulatorWith: environment.now)
        return GoogleClient(client: remote, tokens: tokens, now: environment.now)
    }
}

extension GoogleAccess {
    /// The keys of every section that reaches one of Google's interfaces.
    package static func settings(_ scope: SettingScope) -> [Setting] {
        [
            Setting(
                scope,
                "key_credential",
                .text(.credential),
                .optional(example: .text("service-account.json")),
                "Key file of a Google service account; required unless emulator is set."
            ).secret().outsidePlans()
        ]
            + Setting.keys(
                scope,
                (
                    "emulator", .boolean, .defaultsTo(.boolean(false)),
                    "Use an emulator; base_url must be on this machine."
                ),
                (
                    "base_url", .text(.url),
                    .optional(example: .text("https://stand-in.example.com/cloud")),
                    "Address of an emulator."
                )
            ) + connection(scope)
    }

    /// The keys of a section that reaches accounts of Identity Platform.
    package static func accounts(_ scope: SettingScope) -> [Setting] {
        Setting.keys(
            scope,
            (
                "project", .text(.cloudName), .required(example: .text("example-project")),
                "Project of the accounts."
            ),
            (
                "tenant", .text(.cloudName), .optional(example: .text("tenant-a1b2c")),
                "Tenant of Identity Platform, if the accounts are in one."
            )
        ) + settings(scope)
    }

    private static func connection(_ scope: SettingScope) -> [Setting] {
        Setting.keys(
            scope,
            isOutsidePlans: true,
            (
                "timeout_connect", .duration(.milliseconds(100) ... .seconds(60)),
                .defaultsTo(.duration(.seconds(5))), "Time to connect, including TLS."
            ),
            (
                "timeout_total", .duration(.milliseconds(100) ... .seconds(300)),
                .defaultsTo(.duration(.seconds(30))), "Time for one call."
            )
        ) + [
            .caFile(scope, example: "/etc/expunged/ca.pem").outsidePlans(),
            .plainHTTP(scope).outsidePlans(),
        ]
    }
}

extension TextRule {
    /// A project, tenant, bucket or database of Google Cloud.
    package static let cloudName = TextRule(
        "cloud name",
        "1 to 222 characters A-Z, a-z, 0-9, '.', '_', ':', '(', ')' or '-', not '.' first"
    ) { isName($0, countMax: 222, marks: [0x28, 0x29, 0x2d, 0x2e, 0x3a, 0x5f]) }
}

/// Calls Google's interfaces as a service account.
package struct GoogleClient: Sendable {
    let client: RemoteClient
    let tokens: ServiceAccountTokenSource
    let now: @Sendable () -> WallTime

    /// Authorizes and makes one call, and reads its answer by a table that ``table(_:)`` made.
    package func call(_ request: RemoteRequest, _ table: ReplyTable) async -> ReplyReading {
        let token: Secret
        switch await tokens.token() {
        case .token(let found): token = found
        case .failure(let failure): return ReplyReading(meaning: .failure(failure))
        }
        guard let authorization = Authorization.bearer(token) else {
            return ReplyReading(meaning: .failure(.misconfigured))
        }
        var request = request
        request.authorization = authorization
        let outcome = await client.send(request)
        let reading = table.read(outcome, now: now())
        guard case .reply(let reply) = outcome, reply.status == 401 else { return reading }
        tokens.reject(token)
        // About the account's token, and no user's.
        return reading.meaning == .failure(.rejected)
            ? ReplyReading(meaning: .failure(.unusable)) : reading
    }

    /// Closes all connections; must be called before the client is released.
    package func shutdown() async { await client.shutdown() }

    /// A table with the rows that hold for all of Google's interfaces behind those of one call.
    ///
    /// "Errors" (cloud.google.com/apis/design/errors) and "HTTP status and error codes for JSON"
    /// (Cloud Storage): a 403 with one of four reasons is a full quota, any other one a missing
    /// permission. A 401 is a token that was refused; the next try brings another one.
    package static func table(_ rows: [ReplyRow]) -> ReplyTable {
        ReplyTable(rows + common)
    }

    private static let common = [
        ReplyRow(
            403,
            .member("error.errors.0.reason", .text(quotaReasons)),
            .failure(.throttled(retryAfter: nil))
        ),
        ReplyRow(403, .member("error", .isPresent), .failure(.misconfigured)),
    ]

    private static let quotaReasons: Set<String> = [
        "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
    ]
}
