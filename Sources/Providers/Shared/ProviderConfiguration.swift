package import Lifecycle
package import Settings

/// One `[[provider]]` section.
package struct ProviderConfiguration: Sendable {
    package let name: ProviderName
    package let kind: any ProviderKind
    /// Not empty, without repetition.
    package let clientIDs: [String]
    package let onUnrevocable: OnUnrevocable
    package let revocationDeadline: Duration
    /// Whether tokens are refreshed before they die unused.
    package let keepsTokensAlive: Bool
    /// How long an unused refresh token lives; `nil`: as documented.
    package let tokenLifetime: Duration?
    package let expiryWarning: Duration
    package let concurrency: Int
    package let ratePerSecond: Int?
    package let connection: ConnectionConfiguration
    package let notifications: NotificationConfiguration
}

extension ProviderConfiguration {
    package var kindName: String { type(of: kind).name }

    /// Reads a section whose keys and values are known to be good; `nil` without a known kind.
    ///
    /// Deadlines are compared with those of `requests`.
    init?(
        _ section: SettingsSection,
        among kinds: [any ProviderKind.Type],
        requests: RequestConfiguration,
        _ problems: inout SectionProblems
    ) {
        Self.check(section, requests, &problems)
        guard let type = section.kind as? any ProviderKind.Type else { return nil }
        name = ProviderName(section.requiredText("name"))
        kind = type.init(section, &problems)
        clientIDs = section.texts("client_ids")
        onUnrevocable = section.choice("on_unrevocable") ?? .park
        revocationDeadline = section.duration("revocation_deadline")
        keepsTokensAlive = section.flag("keep_alive")
        tokenLifetime = section.optionalDuration("token_lifetime")
        expiryWarning = section.duration("expiry_warning")
        concurrency = section.count("concurrency") ?? 1
        ratePerSecond = section.count("rate_per_second")
        connection = ConnectionConfiguration(section)
        notifications = NotificationConfiguration(
            section,
            of: type,
            among: kinds.flatMap { $0.notificationFormats },
            &problems
        )
    }

    /// What no single key can tell.
    private static func check(
        _ section: SettingsSection,
        _ requests: RequestConfiguration,
        _ problems: inout SectionProblems
    ) {
        for setting in section.settings where setting.type.isURL {
            guard let url = section.text(setting.name) else { continue }
            problems.requireHTTPS(
                url,
                setting.name,
                isPlainAllowed: section.flag("allow_plain_http")
            )
        }
        let connect = section.duration("timeout_connect")
        let total = section.duration("timeout_total")
        if total > .zero, connect > total {
            problems.report(
                .contradiction,
                "timeout_connect",
                value: DurationText.format(connect),
                "it must not be longer than timeout_total, which is \(DurationText.format(total))"
            )
        }
        let wait = section.duration("revocation_deadline")
        let waitsAndProceeds = section.choice("on_unrevocable") == OnUnrevocable.proceed
        if waitsAndProceeds, requests.deadline > .zero, requests.gracePeriod < requests.deadline,
            requests.gracePeriod + wait >= requests.deadline
        {
            problems.report(
                .contradiction,
                "revocation_deadline",
                value: DurationText.format(wait),
                "with requests.grace_period it must stay below requests.deadline, which is "
                    + DurationText.format(requests.deadline)
            )
        }
    }
}

extension ProviderConfiguration {
    package static func settings(_ kinds: [any ProviderKind.Type]) -> [Setting] {
        .of(
            .provider,
            kinds,
            common: identity(kinds) + revocation + connection
                + NotificationConfiguration.settings(kinds)
        )
    }

    private static func identity(_ kinds: [any ProviderKind.Type]) -> [Setting] {
        [
            .provider("name", .text(.name), .required(example: .text(kinds.first?.name ?? ""))) {
                """
                Name in requests, the spool, the journal and metrics. Identities are stored under \
                it and do not follow a new name.
                """
            },
            .provider(
                "kind",
                .choice(kinds.map { $0.name }),
                .required(example: .text(kinds.first?.name ?? ""))
            ) {
                SettingsTable.summaries(of: kinds)
            },
            .provider(
                "client_ids",
                .texts(.clientID, 1...64),
                .required(example: .texts(["com.example.app", "com.example.web"]))
            ) {
                (["Every client id that credentials were issued to."]
                    + kinds.compactMap { $0.clientIDsNote }).joined(separator: " ")
            },
        ]
    }

    private static let revocation: [Setting] = [
        .providerChoice("on_unrevocable", defaultsTo: OnUnrevocable.proceed) {
            """
            When no usable credential is left: "park" waits for a fresh sign-in without limit; \
            "proceed" waits until revocation_deadline, then erases, and the receipt says NOT \
            revoked. The verdict token_dead never waits.
            """
        },
        .provider(
            "revocation_deadline",
            .duration(.zero ... .days(365)),
            .defaultsTo(.duration(.days(7)))
        ) {
            "How long \"proceed\" waits, from when the last credential proved unusable."
        },
        .provider("keep_alive", .boolean, .defaultsTo(.boolean(true))) {
            "Refresh stored refresh tokens after three fifths of their known life."
        },
        .provider(
            "token_lifetime",
            .duration(.days(7) ... .days(3650)),
            .optional(example: .duration(.days(180)))
        ) {
            """
            How long a refresh token lives without use. Default: as the provider documents it, \
            else without end.
            """
        },
        .provider(
            "expiry_warning",
            .duration(.days(1) ... .days(365)),
            .defaultsTo(.duration(.days(14)))
        ) {
            "How long before a token expires the journal warns, at most a fifth of its life."
        },
    ]

    private static let connection: [Setting] = [
        .provider("concurrency", .count(1...1024, unit: "calls"), .defaultsTo(.count(64))) {
            "Concurrent calls to the provider."
        },
        .provider(
            "rate_per_second",
            .count(1...100_000, unit: "calls per second"),
            .optional(example: .count(100))
        ) { "Unlimited if not set." },
        .provider(
            "timeout_connect",
            .duration(.milliseconds(100) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(5)))
        ) { "Time to connect, including TLS; at most timeout_total." },
        .provider(
            "timeout_total",
            .duration(.milliseconds(100) ... .seconds(300)),
            .defaultsTo(.duration(.seconds(30)))
        ) { "Time for one call." },
        .caFile(.provider, example: "/etc/expunged/ca.pem"),
        .plainHTTP(.provider),
    ]
}

extension ConfigurationReader {
    package mutating func readProviders(
        _ kinds: [any ProviderKind.Type],
        requests: RequestConfiguration
    ) -> [ProviderConfiguration] {
        var providers: [ProviderConfiguration] = []
        for var section in named(.provider) {
            let provider = read(&section) { section, problems in
                ProviderConfiguration(section, among: kinds, requests: requests, &problems)
            }
            append(section)
            if let provider { providers.append(provider) }
        }
        return providers
    }

    package mutating func readDirectory(
        providers: [ProviderConfiguration]
    ) -> DirectoryConfiguration? {
        guard var section = named(.directory).first else { return nil }
        let directory = read(&section) { section, problems in
            DirectoryConfiguration(section, providers: providers, &problems)
        }
        append(section)
        return directory
    }
}
