extension SettingsTable {
    static let s3Target: [Setting] = [
        s3("bucket", .text(.bucket), .required(example: .text("app-uploads")), "The bucket."),
        s3(
            "endpoint",
            .text(.origin),
            .required(example: .text("https://s3.eu-central-1.amazonaws.com")),
            "The server, without the name of the bucket."
        ),
        s3(
            "region",
            .text(.clientID),
            .required(example: .text("eu-central-1")),
            "The region that requests are signed for; many other servers take us-east-1."
        ),
        s3(
            "url_style",
            .choice(URLStyleSetting.allCases.map(\.rawValue)),
            .defaultsTo(.text(URLStyleSetting.virtualHost.rawValue)),
            """
            Where the name of the bucket stands: in front of the host, or first in the path, which \
            servers on a machine of your own mostly want.
            """
        ),
        s3(
            "ca_file",
            .text(.path),
            .optional(example: .text("/etc/expunged/objects-ca.pem")),
            "The certificate authorities that vouch for the server, in place of the system's."
        ),
        s3(
            "access_key_id",
            .text(.clientID),
            .required(example: .text("AKIAIOSFODNN7EXAMPLE")),
            "The public part of the access key."
        ),
        s3(
            "secret_key_credential",
            .text(.credential),
            .required(example: .text("s3-secret-key")),
            "The credential with the secret part of the access key; one line."
        ),
        s3(
            "session_token_credential",
            .text(.credential),
            .optional(example: .text("s3-session-token")),
            "The credential with the session token of a temporary access key; one line."
        ),
        s3(
            "prefixes",
            .texts(.userObject, 0...64),
            .defaultsTo(.texts([])),
            """
            What the keys of a user's objects begin with, such as users/{user_id}/. A separator \
            must follow the user id, and users whose id holds it are left for an operator.
            """
        ),
        s3(
            "objects",
            .texts(.userObject, 0...64),
            .defaultsTo(.texts([])),
            "Whole keys of a user's objects, such as avatars/{user_id}.png."
        ),
        s3(
            "timeout",
            .duration(.seconds(1) ... .seconds(300)),
            .defaultsTo(.duration(.seconds(30))),
            "How long one call may take, the connection included."
        ),
    ]

    private static func s3(
        _ name: String,
        _ type: SettingType,
        _ presence: Setting.Presence,
        _ documentation: String
    ) -> Setting {
        Setting(.target, name, type, presence, documentation).only("s3").atRestart()
    }
}
