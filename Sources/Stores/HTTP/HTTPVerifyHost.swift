import Lifecycle
import Settings

/// The section `[store.verify_host]`: a host that shows what another one erases.
struct HTTPVerifyHost: Hashable, Sendable {
    /// Without a slash at the end.
    let baseURL: String
    /// The secret of ``auth``, which goes nowhere else; `nil` for a scheme without one.
    let keyCredential: String?
    let auth: HTTPAuth

    static let settings: [Setting] =
        [
            Setting(
                .verifyHost,
                "base_url",
                .text(.url),
                .required(example: .text("https://show.example.com")),
                "Address in front of every path of [[store.verify]]."
            ),
            Setting(
                .verifyHost,
                "key_credential",
                .text(.credential),
                .optional(example: .text("show-key")),
                "Credential with the secret for this host, on one line."
            ).outsidePlans(),
        ]
        + HTTPKind.authSettings.map { setting in
            Setting(
                .verifyHost,
                setting.name,
                setting.type,
                setting.presence,
                "As in [store.auth]."
            ).outsidePlans()
        }

    /// Reads the section; `nil` where there is none.
    init?(
        _ section: SettingsSection,
        isPlainAllowed: Bool,
        _ problems: inout SectionProblems
    ) {
        guard let own = section.children.first(where: { $0.scope == .verifyHost }) else {
            return nil
        }
        let url = own.requiredText("base_url")
        baseURL = url.hasSuffix("/") ? String(url.dropLast()) : url
        keyCredential = own.text("key_credential")
        auth = HTTPAuth(own, values: section.map("values"), &problems)
        if !isPlainAllowed, !baseURL.hasPrefix("https://"), !baseURL.isEmpty {
            problems.report(
                .malformed,
                "base_url",
                in: own.place,
                "secrets travel over https only"
            )
        }
        if auth.needsSecret == (keyCredential == nil) {
            problems.report(
                auth.needsSecret ? .missingKey : .contradiction,
                "key_credential",
                in: own.place,
                auth.needsSecret
                    ? "scheme \"\(auth.scheme.rawValue)\" needs the credential with its secret"
                    : "scheme \"none\" has no secret"
            )
        }
    }
}
