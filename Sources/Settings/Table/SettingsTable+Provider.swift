import Lifecycle

extension SettingsTable {
    /// What every family has, then the rows of each family; a key may have a row in several.
    static let provider: [Setting] =
        commonProvider
        + notifications
        + appleProvider
        + googleProvider
        + facebookProvider
        + microsoftProvider
        + gitHubProvider
        + xProvider
        + commandProvider
        + oauth2Provider

    private static let commonProvider: [Setting] = [
        Setting(
            .provider,
            "name",
            .text(.name),
            .required(example: .text("apple")),
            """
            The provider's name in requests, the spool, the journal and metrics. Identities are \
            stored under it: renaming a provider strands them.
            """
        ),
        Setting(
            .provider,
            "kind",
            .choice(ProviderFamily.allCases.map(\.rawValue)),
            .required(example: .text(ProviderFamily.apple.rawValue)),
            """
            The family of the provider: "apple" is Sign in with Apple, "command" is a program of \
            your own, "oauth2" is any provider with token revocation as in RFC 7009, and every \
            preset.
            """
        ).atRestart(),
        Setting(
            .provider,
            "client_ids",
            .texts(.clientID, 1...64),
            .required(example: .texts(["com.example.app", "com.example.web"])),
            """
            Every client id that credentials were issued to. For Apple: the bundle ids of the apps \
            and the Services IDs of the web sites.
            """
        ),
        Setting(
            .provider,
            "on_unrevocable",
            .choice(OnUnrevocable.allCases.map(\.rawValue)),
            .defaultsTo(.text(OnUnrevocable.proceed.rawValue)),
            """
            What happens when no usable credential is left: "park" waits for a fresh sign-in for \
            as long as it takes, "proceed" waits until revocation_deadline and then erases all the \
            same; the receipt says NOT revoked. The verdict "token_dead" never waits: the provider \
            refused every stored token.
            """
        ),
        Setting(
            .provider,
            "revocation_deadline",
            .duration(.zero ... .days(365)),
            .defaultsTo(.duration(.days(7))),
            """
            How long "proceed" waits for a fresh sign-in. The clock starts when the last \
            credential turns out to be unusable; an outage never starts it.
            """
        ),
        Setting(
            .provider,
            "keep_alive",
            .boolean,
            .defaultsTo(.boolean(true)),
            """
            Whether stored refresh tokens that die unused are refreshed in time, each once in \
            three fifths of its life or later. Where the provider says no end and token_lifetime \
            is not given there is nothing to do.
            """
        ),
        Setting(
            .provider,
            "token_lifetime",
            .duration(.days(7) ... .days(3650)),
            .optional(example: .duration(.days(180))),
            """
            How long a refresh token lives without use. Unless given: as the provider documents \
            it (see docs/providers), or without end. A refresh counts as use.
            """
        ),
        Setting(
            .provider,
            "expiry_warning",
            .duration(.days(1) ... .days(365)),
            .defaultsTo(.duration(.days(14))),
            """
            How long before a stored token dies unused the journal warns of it, at most a fifth \
            of its life; one that is refreshed in time is not warned about.
            """
        ),
        Setting(
            .provider,
            "concurrency",
            .count(1...1024, unit: "calls"),
            .defaultsTo(.count(64)),
            "The most calls to the provider at once."
        ),
        Setting(
            .provider,
            "rate_per_second",
            .count(1...100_000, unit: "calls per second"),
            .optional(example: .count(100)),
            "The most calls to the provider in a second. Not limited unless given."
        ),
        Setting(
            .provider,
            "timeout_connect",
            .duration(.milliseconds(100) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(5))),
            "The time for a connection to stand, TLS included; at most timeout_total."
        ),
        Setting(
            .provider,
            "timeout_total",
            .duration(.milliseconds(100) ... .seconds(300)),
            .defaultsTo(.duration(.seconds(30))),
            "The time for one call to be answered, connecting included."
        ),
        Setting(
            .provider,
            "ca_file",
            .text(.path),
            .optional(example: .text("/etc/expunged/ca.pem")),
            """
            Certificates in PEM form that are trusted for this provider instead of the system's: \
            for a stand-in or a provider of your own.
            """
        ),
        Setting(
            .provider,
            "allow_plain_http",
            .boolean,
            .defaultsTo(.boolean(false)),
            """
            Accept http instead of https for a host on this machine (127.0.0.0/8, ::1, localhost). \
            For tests only.
            """
        ),
    ]
}
