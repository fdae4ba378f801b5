import Engine
import HTTP
import Lifecycle
package import Settings

/// A folder on this machine in which users' files are found by name.
package struct FilesKind: DrillCopying {
    package static let name = "files"
    package static let summary = "a folder of users' files"
    package static let traits = StoreTraits(isDatedByRestoration: true)

    package static let settings: [Setting] = Setting.keys(
        .store,
        (
            "root", .text(.path), .required(example: .text("/srv/app/uploads")),
            "Folder of the users' files (docs/stores/files.md)."
        ),
        (
            "paths", .texts(.userPath, 1...64),
            .required(example: .texts(["files/{user_id}", "avatars/{user_id}.png"])),
            """
            Paths of a user's files below root: names, {user_id}, and wildcards as in */{user_id}.
            """
        )
    )

    /// Absolute.
    package private(set) var root: String
    /// Not empty.
    let paths: [PathPattern]

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("a store of files has no tables; give root and paths")
        root = section.requiredText("root")
        paths = problems.read(section.texts("paths"), "paths") { path throws(MalformedTemplate) in
            try PathPattern(path)
        }
    }

    package var cutoff: StoreCutoff { .everything }

    package func open(_ environment: StoreEnvironment) throws -> FilesStore {
        FilesStore(environment.name, root: root, paths: paths)
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.root = try TextRule.path.check(place)
        return copy
    }

    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        guard let other = other as? Self else { return false }
        return root == other.root || FilePlace(root).isWithin(other.root)
            || FilePlace(other.root).isWithin(root)
    }
}

extension TextRule {
    /// Where a user's files are below a root; ``PathPattern`` checks the same, and more.
    static let userPath = TextRule(
        "path with {user_id}",
        "a path below the root with {user_id} once, no wildcard beside it, and no '.', '..' or"
            + " empty names"
    ) { text in
        let names = text.split(separator: "/", omittingEmptySubsequences: false)
        let users = names.filter { $0.contains("{user_id}") }
        return names.count <= 16 && isPrintable(text) && users.count == 1
            && namesUserOnce(String(users[0])) && !users[0].contains { "*?[\\".contains($0) }
            && names.allSatisfy { !["", ".", ".."].contains($0) && $0.utf8.count <= 255 }
    }
}
