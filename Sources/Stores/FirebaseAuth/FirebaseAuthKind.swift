import Engine
package import HTTP
import Lifecycle
package import Settings

/// The accounts of Firebase Authentication or Identity Platform.
package struct FirebaseAuthKind: DrillCopying {
    package static let name = "firebase-auth"
    package static let summary = "the accounts of Firebase Authentication, purged last"
    package static let traits = StoreTraits(
        goesLast: true,
        isDatedByRestoration: true,
        residualPhrases: [.idTokens]
    )

    package static let settings: [Setting] = GoogleAccess.accounts(.store)

    package let project: String
    package private(set) var tenant: String?
    package let access: GoogleAccess

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("a store of accounts has no tables")
        project = section.requiredText("project")
        tenant = section.text("tenant")
        access = GoogleAccess(section, &problems)
    }

    package var cutoff: StoreCutoff { .everything }

    package func open(_ environment: StoreEnvironment) async throws -> FirebaseAuthStore {
        let place = IdentityToolkit.Place(
            baseURL: access.baseURL,
            project: project,
            tenant: tenant,
            isEmulator: access.isEmulator
        )
        return try await access.open(
            for: environment.owner,
            scopes: [IdentityToolkit.scope],
            in: environment.adapters,
            adjust: { $0.answerMax = IdentityToolkit.answerMax },
            { client, settings in
                FirebaseAuthStore(
                    name: environment.name,
                    accounts: try IdentityToolkit(place, client: client, settings: settings),
                    clock: environment.clock
                )
            }
        )
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        guard HostLabel.accepts(place) else {
            throw .malformed(
                "the id of another tenant of the same project, \(HostLabel.requirement)"
            )
        }
        var copy = self
        copy.tenant = place
        return copy
    }

    /// A project has a number, too, by which it may be called, so the tenant decides.
    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        guard let other = other as? Self else { return false }
        return tenant?.lowercased() == other.tenant?.lowercased()
    }
}

extension ResidualPhrase {
    static let idTokens = ResidualPhrase(
        "id_tokens",
        "id tokens of Firebase that were handed out before"
    )
}
