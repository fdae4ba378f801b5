import Lifecycle

extension SettingsTable {
    /// What only Microsoft Entra and personal Microsoft accounts has.
    static let microsoftProvider: [Setting] = [
        Setting(
            .provider,
            "tenant",
            .text(.tenant),
            .defaultsTo(.text("common")),
            """
            Whose accounts sign in: "common", "organizations", "consumers" (personal accounts), \
            or one directory by its GUID or domain. As in the addresses that the application \
            uses.
            """
        ).only("microsoft"),
        Setting(
            .provider,
            "client_secret_credential",
            .text(.credential),
            .optional(example: .text("microsoft-secret")),
            """
            The credential that holds the client secret. Give this or private_key_credential.
            """
        ).only("microsoft").secret().atRestart(),
        Setting(
            .provider,
            "private_key_credential",
            .text(.credential),
            .optional(example: .text("microsoft-key.pem")),
            """
            The credential that holds the private key of the certificate, RSA in PKCS#8 PEM, or \
            one line with the URI of a key in a TPM or HSM (docs/guides/keys-in-hardware.md). \
            Needs certificate_sha256.
            """
        ).only("microsoft").secret().atRestart(),
        Setting(
            .provider,
            "certificate_sha256",
            .text(.sha256),
            .optional(
                example: .text(
                    "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
                )
            ),
            """
            The SHA-256 fingerprint of the certificate, as openssl x509 -fingerprint -sha256 \
            shows it.
            """
        ).only("microsoft"),
        Setting(
            .provider,
            "graph_tenants",
            .texts(.guid, 0...64),
            .defaultsTo(.texts([])),
            """
            Directories whose administrators consented to deleting grants by Microsoft Graph. \
            Accounts of every other directory, and personal accounts, get the verdict manual.
            """
        ).only("microsoft"),
        Setting(
            .provider,
            "revoke_sign_in_sessions",
            .boolean,
            .defaultsTo(.boolean(false)),
            """
            Also end every session of the user in graph_tenants, in all applications. That signs \
            the user out of everything at work, so it is off.
            """
        ).only("microsoft"),
        Setting(
            .provider,
            "base_url",
            .text(.url),
            .defaultsTo(.text(MicrosoftProviderConfiguration.defaultBaseURL)),
            """
            The sign-in host, which is also the issuer of id tokens. Another one is for a \
            national cloud or a stand-in.
            """
        ).only("microsoft"),
        Setting(
            .provider,
            "graph_url",
            .text(.url),
            .defaultsTo(.text(MicrosoftProviderConfiguration.defaultGraphURL)),
            """
            The host of Microsoft Graph. Another one is for a national cloud or a stand-in.
            """
        ).only("microsoft"),
    ]
}
