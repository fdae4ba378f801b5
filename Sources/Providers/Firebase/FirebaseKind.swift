package import Engine
package import HTTP
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

    /// Makes the directory, with a client of its own.
    ///
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
