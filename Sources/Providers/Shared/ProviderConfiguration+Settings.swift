import Lifecycle
package import Settings

extension ProviderConfiguration {
    /// The keys of `[[provider]]`.
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
            """
            How long "proceed" waits, from when the last credential proved unusable.
            """
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
