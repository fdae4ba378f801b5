import Settings

/// Keys of several kinds of store, each with one text.
extension Setting {
    /// `socket` of a server that also has an address; the example is an absolute path.
    static func unixSocket(_ scope: SettingScope, example: String) -> Setting {
        Setting(
            scope,
            "socket",
            .text(.path),
            .optional(example: .text(example)),
            "Unix socket of the server; this or address."
        )
    }

    /// `timeout` of one call over HTTP, 30 s by default.
    static let callTimeout = Setting(
        .target,
        "timeout",
        .duration(.seconds(1) ... .seconds(300)),
        .defaultsTo(.duration(.seconds(30))),
        "Time for one call."
    ).outsidePlans()

    /// The access key of Amazon's services; the examples of its credentials begin with the prefix.
    static func accessKey(examples prefix: String) -> [Setting] {
        Setting.keys(
            .target,
            isOutsidePlans: true,
            (
                "access_key_id", .text(.clientID),
                .required(example: .text("AKIAIOSFODNN7EXAMPLE")), "Public part of the access key."
            ),
            (
                "secret_key_credential", .text(.credential),
                .required(example: .text("\(prefix)-secret-key")),
                "Secret part of the access key, on one line."
            ),
            (
                "session_token_credential", .text(.credential),
                .optional(example: .text("\(prefix)-session-token")),
                "Session token of a temporary access key, on one line."
            )
        )
    }
}
