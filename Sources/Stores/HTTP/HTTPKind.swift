import Engine
import HTTP
import Lifecycle
package import Settings

/// An HTTP API that the configuration, or a preset, describes.
package struct HTTPKind: StoreKind {
    package static let name = "http"
    package static let summary = "any HTTPS API, described step by step or by a preset"
    package static let traits = StoreTraits(residualPhrases: [.promised])
    package static let settings =
        ownSettings + authSettings + HTTPVerifyHost.settings + stepSettings

    /// Without a slash at the end.
    let baseURL: String
    /// The secret of ``auth``; `nil` for a scheme without one.
    let keyCredential: String?
    let constants: [String: String]
    let checkID: String?
    let callsPerMinute: Int?
    let connection: Connection
    let auth: HTTPAuth
    /// Where ``verify`` asks; `nil` for the same host.
    let verifyHost: HTTPVerifyHost?
    let erase: [HTTPStep]
    let verify: [HTTPStep]
    let users: [HTTPStep]

    /// How the host is reached.
    struct Connection: Hashable, Sendable {
        let caFile: String?
        let allowsPlainHTTP: Bool
        let allowsPrivateAddresses: Bool
        let timeout: Duration

        func settings(of owner: RemoteOwner) -> RemoteSettings {
            var settings = RemoteSettings(
                owner: owner,
                allowsPlainLoopback: allowsPlainHTTP,
                caFile: caFile,
                concurrency: 8
            )
            settings.allowsPrivateAddresses = allowsPrivateAddresses || allowsPlainHTTP
            settings.timeoutTotal = timeout
            settings.answerMax = HTTPCaller.answerMax
            return settings
        }
    }

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("an HTTP API has steps, not tables")
        Self.fill(&section, &problems)
        let url = section.text("base_url") ?? ""
        baseURL = url.hasSuffix("/") ? String(url.dropLast()) : url
        keyCredential = section.text("key_credential")
        constants = section.map("values")
        checkID = section.text("check_id")
        callsPerMinute = section.count("calls_per_minute")
        connection = Connection(
            caFile: section.text("ca_file"),
            allowsPlainHTTP: section.flag("allow_plain_http"),
            allowsPrivateAddresses: section.flag("allow_private_addresses"),
            timeout: section.duration("timeout")
        )
        auth = HTTPAuth(section, &problems)
        verifyHost = HTTPVerifyHost(
            section,
            isPlainAllowed: connection.allowsPlainHTTP,
            &problems
        )
        let constants = constants
        func steps(_ group: HTTPStepReader.Group, _ problems: inout SectionProblems) -> [HTTPStep] {
            var reader = HTTPStepReader(group: group, constants: constants)
            return reader.read(section.children, &problems)
        }
        erase = steps(.erase, &problems)
        verify = steps(.verify, &problems)
        users = steps(.users, &problems)
        check(section, &problems)
    }

    /// A server says of nothing when it was made, as the steps ask for it.
    package var cutoff: StoreCutoff { .none("an HTTP API has no timestamps here", remedy: nil) }

    package func open(_ environment: StoreEnvironment) async throws -> HTTPStore {
        try await HTTPStore.open(self, environment)
    }

    // MARK: Checks

    /// Takes what the section leaves out from its preset.
    private static func fill(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        guard let name = section.text("preset") else { return }
        do {
            let presets = try HTTPPreset.sections.get()
            guard let preset = presets.first(where: { $0.text("name") == name }) else { return }
            section.fill(from: preset)
        } catch {
            // A test reads every preset.
            problems.report(.contradiction, "preset", "\(error)")
        }
    }

    private func check(_ section: SettingsSection, _ problems: inout SectionProblems) {
        if section.text("base_url") == nil, !problems.isWritten("base_url") {
            let cause = "it must be given; for example base_url = \"https://api.example.com\""
            problems.report(.missingKey, "base_url", cause)
        }
        problems.requireHTTPS(
            baseURL,
            "base_url",
            isPlainAllowed: connection.allowsPlainHTTP
        )
        if auth.needsSecret == (keyCredential == nil), !problems.isReported("auth") {
            problems.report(
                auth.needsSecret ? .missingKey : .contradiction,
                "key_credential",
                auth.needsSecret
                    ? "scheme \"\(auth.scheme.rawValue)\" needs the credential with its secret"
                    : "scheme \"none\" has no secret; take it out, or write [store.auth]"
            )
        }
        if !erase.contains(where: \.effect.changes), !problems.isReported("erase") {
            problems.report(.missingKey, "erase", "no [[store.erase]] erases anything")
        }
        let isPromised = erase.contains { $0.promised != nil }
        let isRead = verify.contains { $0.effect == .reads }
        if !isRead, !(verify.isEmpty && isPromised), !problems.isReported("verify") {
            problems.report(
                .missingKey,
                "verify",
                "no [[store.verify]] finds what is left; without one, a step must say promised"
            )
        }
    }
}

/// The vendors whose steps are known: the stores of `presets.toml`.
enum HTTPPreset {
    /// In the order of the file; a test compares them.
    static let names = [
        "stripe", "intercom", "hubspot", "amplitude", "posthog", "braze", "algolia", "onesignal",
        "auth0", "okta", "elasticsearch", "meilisearch", "typesense", "mailchimp", "sendgrid",
        "segment", "zendesk", "revenuecat", "mixpanel", "customer-io",
    ]

    /// Read as a configuration is, when the first preset is named.
    static let sections: Result<[SettingsSection], any Error> = Result {
        let table = SettingsTable(
            StoreConfiguration.settings([HTTPKind.self]),
            kinds: [.store: [HTTPKind.self]]
        )
        let bytes = PackageResources.presets_toml
        var reader = try ConfigurationLoader.open(bytes, file: "presets.toml", table: table)
        let sections = reader.named(.store)
        try reader.finish()
        return sections
    }
}
