import Lifecycle

extension SettingsTable {
    /// What only Google has.
    static let googleProvider: [Setting] =
        clientSecrets("google") + [
            Setting(
                .provider,
                "base_url",
                .text(.url),
                .optional(example: .text("https://stand-in.example.com/google")),
                """
                One address instead of Google's hosts, for a stand-in. The issuer of id tokens \
                stays https://accounts.google.com whatever it is.
                """
            ).only("google"),
            nonce("google"),
        ]

    /// The keys that name client secrets, for a family that has several clients.
    static func clientSecrets(_ family: String) -> [Setting] {
        [
            Setting(
                .provider,
                "client_secret_credential",
                .text(.credential),
                .optional(example: .text("\(family)-secret")),
                """
                The credential that holds the client secret, for one client id. Public clients \
                have none.
                """
            ).only(family).secret().atRestart(),
            Setting(
                .provider,
                "client_secret_credentials",
                .map(.clientID, .credential, 1...64),
                .optional(example: .map(["web-client": "\(family)-web-secret"])),
                """
                The credentials that hold client secrets, by client id, for several of them. A \
                client id that is not here is a public client.
                """
            ).only(family).secret().atRestart(),
        ]
    }

    /// How applications make the nonce of an id token.
    static func nonce(_ family: String) -> Setting {
        Setting(
            .provider,
            "nonce",
            .choice(NonceForm.allCases.map(\.rawValue)),
            .defaultsTo(.text(NonceForm.plain.rawValue)),
            """
            What your applications send as nonce when a user signs in: the raw nonce as it is, its \
            SHA-256 (in hexadecimal or base64url), or any of them.
            """
        ).only(family)
    }
}
