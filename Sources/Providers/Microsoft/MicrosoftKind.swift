import Encoding
import Engine
package import Lifecycle
package import Settings

/// Work accounts of Microsoft Entra and personal Microsoft accounts.
package struct MicrosoftKind: Hashable {
    enum Proof: Hashable {
        case secret(credential: String)
        /// - sha256: The certificate's fingerprint, 64 hexadecimal digits.
        case certificate(keyCredential: String, sha256: String)
    }

    /// Hosts of the global cloud.
    static let loginHost = "https://login.microsoftonline.com"
    static let graphHost = "https://graph.microsoft.com"

    /// `common`, `organizations`, `consumers`, a GUID or a domain.
    let tenant: String
    let proof: Proof
    /// Tenants that let the application delete grants.
    var graphTenants: [String] = []
    /// Also end all sessions of the user, in every application.
    var revokesSessions = false
    var baseURL = MicrosoftKind.loginHost
    var graphURL = MicrosoftKind.graphHost
}

extension MicrosoftKind: ProviderKind {
    package static let name = "microsoft"
    package static let directoryWord: String? = "microsoft.com"
    package static let settings: [Setting] = [
        .provider("tenant", .text(.tenant), .defaultsTo(.text("common"))) {
            """
            Accounts that sign in: "common" (all), "organizations", "consumers" (personal ones), \
            or the GUID or domain of one directory.
            """
        },
        .providerSecret("client_secret_credential", .optional(example: .text("microsoft-secret"))) {
            "Client secret; this or private_key_credential."
        },
        .providerSecret("private_key_credential", .optional(example: .text("microsoft-key.pem"))) {
            """
            The certificate's private key: RSA in PKCS#8 PEM, or the URI of a key in hardware; \
            needs certificate_sha256.
            """
        },
        .provider(
            "certificate_sha256",
            .text(.sha256),
            .optional(
                example: .text(
                    "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
                )
            )
        ) {
            "Fingerprint of the certificate, as openssl x509 -fingerprint -sha256 prints it."
        },
        .provider("graph_tenants", .texts(.guid, 0...64), .defaultsTo(.texts([]))) {
            "Directories whose administrators consented to deleting grants with Microsoft Graph."
        },
        .provider("revoke_sign_in_sessions", .boolean, .defaultsTo(.boolean(false))) {
            "Also end all sessions of the user in graph_tenants, in every application."
        },
        .provider("base_url", .text(.url), .defaultsTo(.text(loginHost))) {
            "Sign-in host and issuer of id tokens; change it for a national cloud."
        },
        .provider("graph_url", .text(.url), .defaultsTo(.text(graphHost))) {
            "Host of Microsoft Graph; change it for a national cloud."
        },
    ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        problems.requireSingleClient(section)
        tenant = section.requiredText("tenant")
        proof = Self.proof(section, &problems)
        graphTenants = section.texts("graph_tenants")
        revokesSessions = section.flag("revoke_sign_in_sessions")
        baseURL = section.baseURL("base_url") ?? ""
        graphURL = section.baseURL("graph_url") ?? ""
    }

    /// The tenant decides which page is the user's, Graph whether anything can be revoked at all.
    package var traits: ProviderTraits {
        let isPersonal = MicrosoftTenant(tenant) ?? .consumers == .consumers
        return ProviderTraits(
            // Graph needs the user and not the token: a dead token must not keep it from trying.
            canCheckRefreshToken: false,
            refreshInterval: .seconds(86_400),
            livenessLifetime: .zero,
            revokesWholeGrant: true,
            refusesUnknownTokens: true,
            hasNoRevocationAPI: graphTenants.isEmpty || isPersonal,
            extraKinds: [.idToken, .subject],
            // "Refresh tokens": 90 days, and each use brings a new one. Using one does not end it,
            // so nothing is in doubt after an answer that was lost.
            tokenClock: TokenClock(.seconds(90 * 86_400)),
            userActionURL: isPersonal
                ? "https://account.live.com/consent/Manage" : "https://myapps.microsoft.com",
            userActionText:
                "Personal account: open https://account.live.com/consent/Manage, choose the app "
                + "and remove its permissions. Work or school account: open "
                + "https://myapps.microsoft.com, find the app and choose Manage your application, "
                + "Revoke permissions."
        )
    }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        let proof: MicrosoftClient.Proof =
            switch proof {
            case .secret(let credential):
                .secret(try setup.secret(credential))
            case .certificate(let credential, let sha256):
                .certificate(
                    thumbprint: Hexadecimal.decode(sha256.utf8) ?? [],
                    signer: try setup.signer(credential, .ps256)
                )
            }
        return try MicrosoftProvider(
            self,
            http: setup.http,
            client: MicrosoftClient(clientID: setup.clientID.lowercased(), proof: proof),
            in: setup.environment
        )
    }

    /// A secret, or a key with its certificate; never both.
    private static func proof(
        _ section: SettingsSection,
        _ problems: inout SectionProblems
    ) -> Proof {
        let secret = section.text("client_secret_credential")
        let key = section.text("private_key_credential")
        let sha256 = section.text("certificate_sha256")?.filter { $0 != ":" }.lowercased()
        switch (secret, key, sha256) {
        case (let secret?, nil, nil):
            return .secret(credential: secret)
        case (nil, let key?, let sha256?):
            return .certificate(keyCredential: key, sha256: sha256)
        case (nil, nil, nil):
            problems.report(
                .missingKey,
                "client_secret_credential",
                "give it, or private_key_credential and certificate_sha256"
            )
        case (.some, _, _):
            problems.report(
                .contradiction,
                "client_secret_credential",
                "give either it, or private_key_credential and certificate_sha256"
            )
        case (nil, .some, nil), (nil, nil, .some):
            problems.report(
                .contradiction,
                key == nil ? "certificate_sha256" : "private_key_credential",
                "private_key_credential and certificate_sha256 belong together"
            )
        }
        return .secret(credential: "")
    }
}

extension TextRule {
    /// An identifier of a directory, or a word for several.
    static let tenant = TextRule(
        "tenant",
        "common, organizations, consumers, a GUID or a domain"
    ) { MicrosoftTenant($0) != nil && ($0 == $0.lowercased() || guid.accepts($0)) }

    /// 128 bits in the form of RFC 9562.
    static let guid = TextRule("GUID", "8-4-4-4-12 characters 0-9, a-f or A-F") {
        MicrosoftID.isGUID($0.lowercased())
    }

    static let sha256 = TextRule(
        "SHA-256",
        "64 characters 0-9, a-f or A-F; colons are left out of account"
    ) { text in
        let digits = text.utf8.filter { $0 != 0x3a }
        return digits.count == 64 && digits.allSatisfy(isHexadecimal)
    }
}
