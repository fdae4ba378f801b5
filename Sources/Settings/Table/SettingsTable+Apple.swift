import Lifecycle

extension SettingsTable {
    /// What only Sign in with Apple has.
    static let appleProvider: [Setting] = [
        Setting(
            .provider,
            "team_id",
            .text(.appleID),
            .required(example: .text("ABCDE12345")),
            """
            The team that the client ids belong to. Identities are stored under it, and a refresh \
            token works with no other team.
            """
        ).only("apple").atRestart(),
        Setting(
            .provider,
            "key_id",
            .text(.appleID),
            .required(example: .text("KEY1234567")),
            "The identifier of the private key."
        ).only("apple"),
        Setting(
            .provider,
            "private_key_credential",
            .text(.credential),
            .required(example: .text("apple-key.p8")),
            """
            The credential that holds the private key, the .p8 file as Apple gave it out, or one \
            line with the URI of a key in a TPM or HSM (docs/guides/keys-in-hardware.md).
            """
        ).only("apple").secret().atRestart(),
        Setting(
            .provider,
            "base_url",
            .text(.origin),
            .defaultsTo(.text(AppleProviderConfiguration.defaultBaseURL)),
            """
            The host to talk to. Another one is for a stand-in; audience and issuer stay \
            https://appleid.apple.com whatever it is.
            """
        ).only("apple"),
    ]
}
