import Engine
package import HTTP
import Lifecycle
package import Settings

/// A Realtime Database of Firebase.
package struct RealtimeDatabaseKind: DrillCopying {
    package static let name = "realtime-database"
    package static let traits = StoreTraits(residualPhrases: [.olderDataUnderNewDate])

    package static let settings: [Setting] = place + GoogleAccess.settings(.store)

    private static let place = Setting.keys(
        .store,
        (
            "url", .text(.origin),
            .required(example: .text("https://example-project-default-rtdb.firebaseio.com")),
            "Address of the database, as the console shows it."
        ),
        (
            "paths", .texts(.userObject, 1...64), .required(example: .texts(["users/{user_id}"])),
            "Paths of a user's data, such as users/{user_id}."
        ),
        (
            "created_at_child", .text(.identifier), .optional(example: .text("created")),
            """
            Child of each path with its creation time in Unix milliseconds. Not set: the \
            receipt says cutoff: none.
            """
        )
    )

    /// Without a path.
    package private(set) var url: String
    /// Not empty.
    let paths: [UserPath]
    /// `nil`: no cutoff, which the receipt says.
    package let createdAtChild: String?
    package let access: GoogleAccess

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("a Realtime Database has no tables; give paths")
        url = section.requiredText("url")
        paths = problems.read(section.texts("paths"), "paths") { path throws(MalformedTemplate) in
            try UserPath(path, in: .realtimeDatabase)
        }
        createdAtChild = section.text("created_at_child")
        access = GoogleAccess(section, &problems)
    }

    package var cutoff: StoreCutoff {
        createdAtChild != nil
            ? .everything
            : .none(
                "no created_at_child",
                remedy: "name the child in which the application dates the data"
            )
    }

    package func open(_ environment: StoreEnvironment) async throws -> RealtimeDatabaseStore {
        let namespace = access.isEmulator ? instance : nil
        return try await access.open(environment) { session in
            RealtimeDatabaseStore(
                name: environment.name,
                paths: paths,
                createdAtChild: createdAtChild,
                session: session,
                tree: try RealtimeTree(access.baseURL ?? url, namespace: namespace, session)
            )
        }
    }

    /// A Realtime Database is a host of its own; a copy stays below Google's domain.
    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        guard let domain else {
            throw .impossible("its url is not https://NAME.firebaseio.com or the like")
        }
        guard access.baseURL == nil || access.isEmulator else {
            throw .impossible(
                "what is at its base_url may be one database, whatever name it gets"
            )
        }
        guard HostLabel.accepts(place), place == place.lowercased() else {
            throw .malformed(
                "the name of another database of the same project, \(HostLabel.requirement)"
            )
        }
        var copy = self
        copy.url = "https://\(place).\(domain)"
        return copy
    }

    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        (other as? Self)?.instance == instance
    }
}

/// The host of a Realtime Database: its name, which no other database has, and the domain
/// (firebase.google.com/docs/reference/rest/database/database-management).
extension RealtimeDatabaseKind {
    /// What the database is called; in lower case, as hosts have none.
    package var instance: String { labels.first ?? "" }

    /// `firebaseio.com` or `REGION.firebasedatabase.app`; `nil` for a host that is not Google's.
    var domain: String? {
        let parents = labels.dropFirst()
        guard EndpointURL(url)?.isEncrypted == true, EndpointURL(url)?.port == nil,
            parents == ["firebaseio", "com"]
                || parents.count == 3 && parents.suffix(2) == ["firebasedatabase", "app"]
        else { return nil }
        return parents.joined(separator: ".")
    }

    private var labels: [String] {
        (EndpointURL(url)?.host ?? "").lowercased().split(separator: ".").map(String.init)
    }
}

extension ResidualPhrase {
    static let olderDataUnderNewDate = ResidualPhrase(
        "older_data_under_new_date",
        "older data at '%', if there is any: the application dated it after the request"
    )
}
