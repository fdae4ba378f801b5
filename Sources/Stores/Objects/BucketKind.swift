import HTTP
import Lifecycle
import Settings

/// A bucket of objects, whose users are found by prefixes and whole keys.
protocol BucketKind: DrillCopying {
    var bucket: String { get }
    /// Each with `{user_id}` once; with the whole keys not empty.
    var prefixes: [String] { get }
    var objects: [String] { get }
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

    /// - Throws: ``MalformedTemplate`` for one that could reach another user.
    func templates() throws -> [KeyTemplate] {
        try prefixes.map { try KeyTemplate($0, isPrefix: true) }
            + objects.map { try KeyTemplate($0, isPrefix: false) }
    }

    /// Reports what every bucket needs.
    func check(_ problems: inout SectionProblems) {
        problems.refuseTables("a bucket has no tables; give prefixes or objects")
        if prefixes.isEmpty && objects.isEmpty {
            problems.report(
                .missingKey,
                "prefixes",
                "a bucket needs prefixes or objects, such as prefixes = [\"users/{user_id}/\"]"
            )
        }
    }
}
