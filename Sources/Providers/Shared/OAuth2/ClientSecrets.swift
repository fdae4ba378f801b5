import Settings

/// The credentials with client secrets, by client id.
struct ClientSecrets: Hashable, Sendable {
    /// For a provider with one client id.
    let single: String?
    let byClientID: [String: String]

    /// Reads the keys of ``settings(of:)``.
    init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        let clientIDs = section.texts("client_ids")
        single = section.text("client_secret_credential")
        byClientID = section.map("client_secret_credentials")
        if single != nil, clientIDs.count > 1 {
            problems.report(
                .contradiction,
                "client_secret_credential",
                "there are several client_ids; say which has which secret in "
                    + "client_secret_credentials = { CLIENT_ID = CREDENTIAL }"
            )
        }
        if single != nil, !byClientID.isEmpty {
            problems.report(
                .contradiction,
                "client_secret_credential",
                "client_secret_credentials is given too; one of them is enough"
            )
        }
        for name in byClientID.keys.sorted() where !clientIDs.contains(name) {
            problems.report(
                .unknownValue,
                "client_secret_credentials",
                value: name,
                "it is not one of client_ids"
            )
        }
    }

    /// The credential for a client id; `nil`: a public client.
    func credential(for clientID: String) -> String? { byClientID[clientID] ?? single }
}

extension ClientSecrets {
    /// The keys that name client secrets, for a kind that has several clients.
    static func settings(of kind: String) -> [Setting] {
        [
            .providerSecret(
                "client_secret_credential",
                .optional(example: .text("\(kind)-secret"))
            ) {
                "Client secret of a single client id. Public clients have none."
            },
            .provider(
                "client_secret_credentials",
                .map(.clientID, .credential, 1...64),
                .optional(example: .map(["web-client": "\(kind)-web-secret"]))
            ) {
                "Client secrets, by client id. Others are public."
            }.secret(),
        ]
    }
}

extension NonceRule {
    static let setting = Setting.providerChoice("nonce", defaultsTo: NonceRule.plain) {
        """
        What your applications send as nonce: the raw one, its SHA-256 (hexadecimal or base64url), \
        or any of them.
        """
    }
}
