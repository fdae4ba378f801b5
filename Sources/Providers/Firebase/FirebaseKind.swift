package import Engine
package import HTTP
package import Lifecycle
package import Settings

/// Firebase Authentication or Identity Platform as a directory.
package struct FirebaseKind: DirectoryKind {
    package static let name = "firebase"
    package static let summary = "Firebase Authentication or Identity Platform"
    package static let guide = "docs/stores/firebase-auth.md"
    package static let settings: [Setting] = GoogleAccess.accounts(.directory)

    private let project: String
    private let tenant: String?
    private let access: GoogleAccess

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        project = section.requiredText("project")
        tenant = section.text("tenant")
        access = GoogleAccess(section, &problems)
    }

    /// - Throws: What keeps it from being set up, in one line.
    package func open(
        _ directory: DirectoryConfiguration,
        in environment: AdapterEnvironment
    ) async throws -> any IdentityDirectory {
        let place = IdentityToolkit.Place(
            baseURL: access.baseURL,
            project: project,
            tenant: tenant
        )
        return try await access.open(
            for: .directory(directory.name),
            scopes: [IdentityToolkit.scope],
            in: environment,
            adjust: { $0.answerMax = IdentityToolkit.answerMax },
            { client, settings in
                FirebaseDirectory(
                    name: directory.name,
                    accounts: try IdentityToolkit(place, client: client, settings: settings),
                    providers: directory.providers
                )
            }
        )
    }
}

/// Firebase Authentication or Identity Platform as the directory of the users' accounts.
///
/// Each entry of `providerUserInfo` is a link. A password (and the sign-in by e-mail link, which
/// Firebase lists under the same word), a phone number and an account without any entry (an
/// anonymous one, or one with a custom token) are links without a token.
package struct FirebaseDirectory: IdentityDirectory {
    package let name: ProviderName
    let accounts: IdentityToolkit
    /// Firebase's word for each provider that is configured here.
    let providers: [String: ProviderName]

    package func links(of user: UserID) async -> DirectoryAnswer {
        switch await accounts.find(user) {
        case .failure(let failure): .failure(failure)
        case .none: .links([])
        case .account(let account): .links(links(of: account))
        }
    }

    package func diagnose() async -> EffectFailure? { await accounts.diagnose() }

    package func shutdown() async { await accounts.shutdown() }

    private func links(of account: FirebaseAccount) -> [DirectoryLink] {
        guard !account.links.isEmpty else {
            return [DirectoryLink(provider: ProviderName("anonymous"), isLocal: true)]
        }
        return account.links.map { link in
            guard !Self.localWords.contains(link.providerID) else {
                return DirectoryLink(provider: ProviderName(link.providerID), isLocal: true)
            }
            let provider = providers[link.providerID] ?? ProviderName(link.providerID)
            return DirectoryLink(provider: provider, isLocal: false, subject: link.rawID)
        }
    }

    /// `emailLink` is a sign-in method and never a provider id, but costs nothing here.
    private static let localWords: Set<String> = [
        "password", "phone", "emailLink", "anonymous", "custom",
    ]
}
