extension Setting {
    /// The name, the type, whether it must be given, and the documentation.
    package typealias Row = (
        name: String, type: SettingType, presence: Presence, documentation: String
    )

    /// Keys of one section.
    package static func keys(
        _ scope: SettingScope,
        isOutsidePlans: Bool = false,
        _ rows: Row...
    ) -> [Setting] {
        rows.map { row in
            let key = Setting(scope, row.name, row.type, row.presence, row.documentation)
            return isOutsidePlans ? key.outsidePlans() : key
        }
    }
}

/// Keys of several sections, each with one text.
extension Setting {
    /// `ca_file`; the example is an absolute path.
    package static func caFile(_ scope: SettingScope, example: String) -> Setting {
        Setting(
            scope,
            "ca_file",
            .text(.path),
            .optional(example: .text(example)),
            "PEM file of the authorities to trust instead of the system's."
        )
    }

    /// `allow_private_addresses`, false by default.
    package static func privateAddresses(_ scope: SettingScope) -> Setting {
        Setting(
            scope,
            "allow_private_addresses",
            .boolean,
            .defaultsTo(.boolean(false)),
            "Allow a private, link-local or loopback address."
        )
    }

    /// `allow_plain_http` of a section for stand-ins, false by default.
    package static func plainHTTP(_ scope: SettingScope) -> Setting {
        Setting(
            scope,
            "allow_plain_http",
            .boolean,
            .defaultsTo(.boolean(false)),
            "Allow http for this machine (127.0.0.0/8, ::1, localhost), for tests."
        )
    }

    /// `secret_credential`, the key of Standard Webhooks; the example is a credential.
    package static func messageKey(_ scope: SettingScope, example: String) -> Setting {
        Setting(
            scope,
            "secret_credential",
            .text(.credential),
            .required(example: .text(example)),
            """
            Key that signs each message (Standard Webhooks): 24 to 64 random bytes in base64, with \
            or without whsec_.
            """
        )
    }

    /// `arguments` of a program, at most 16.
    package static func programArguments(_ scope: SettingScope) -> Setting {
        Setting(
            scope,
            "arguments",
            .texts(.sentence, 0...16),
            .defaultsTo(.texts([])),
            "Arguments for every call; no secrets: other processes can read them."
        )
    }
}
