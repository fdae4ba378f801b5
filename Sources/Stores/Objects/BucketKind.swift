import HTTP
import Lifecycle
import Settings

/// A bucket of objects, whose users are found by prefixes and whole keys.
protocol BucketKind: DrillCopying {
    var bucket: String { get }
    /// Not empty.
    var templates: [KeyTemplate] { get }
}

extension BucketKind {
    /// Which objects are a user's.
    static var objectSettings: [Setting] {
        Setting.keys(
            .store,
            (
                "prefixes", .texts(.userObject, 0...64), .defaultsTo(.texts([])),
                "Prefixes of the names of a user's objects, such as users/{user_id}/."
            ),
            (
                "objects", .texts(.userObject, 0...64), .defaultsTo(.texts([])),
                "Complete names of a user's objects, such as avatars/{user_id}.png."
            )
        )
    }

    package var cutoff: StoreCutoff { .everything }

    /// One bucket may be reached by the interfaces of several kinds.
    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        (other as? any BucketKind)?.bucket == bucket
    }

    /// Reads what every bucket has.
    static func templates(
        _ section: SettingsSection,
        _ problems: inout SectionProblems
    ) -> [KeyTemplate] {
        problems.refuseTables("a bucket has no tables; give prefixes or objects")
        let (prefixes, objects) = (section.texts("prefixes"), section.texts("objects"))
        if prefixes.isEmpty && objects.isEmpty {
            problems.report(
                .missingKey,
                "prefixes",
                "a bucket needs prefixes or objects, such as prefixes = [\"users/{user_id}/\"]"
            )
        }
        return problems.read(prefixes, "prefixes") { text throws(MalformedTemplate) in
            try KeyTemplate(text, isPrefix: true)
        }
            + problems.read(objects, "objects") { text throws(MalformedTemplate) in
                try KeyTemplate(text, isPrefix: false)
            }
    }
}
