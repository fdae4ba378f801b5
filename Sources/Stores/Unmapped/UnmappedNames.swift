import Lifecycle

/// What no rule leads to, for the coverage of a store without a schema.
enum UnmappedNames {
    /// Folders of one folder that are named; more of them are probably named after users.
    static let namesMax = 20
    /// Pages of one folder of a bucket that are looked at, of 1,000 names each.
    static let pagesMax = 10

    /// A name without that of the folder that it is in.
    static func relative(_ name: String, to folder: String) -> String {
        String(decoding: name.utf8.dropFirst(folder.utf8.count), as: UTF8.self)
    }

    /// The folders to look into: the top, and those on the way to what a rule leads to.
    ///
    /// Not the last of them: what is in there is named after users.
    static func parents(of roots: [String]) -> [String] {
        var parents: Set<String> = [""]
        for root in roots {
            let folders = root.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            for count in 1..<max(1, folders.count) {
                parents.insert(folders.prefix(count).joined(separator: "/") + "/")
            }
        }
        return parents.sorted()
    }

    /// Whether rules lead to what has this name, or there by it.
    static func isCovered(_ name: String, by roots: [String]) -> Bool {
        roots.contains { $0.hasPrefix(name) || name.hasPrefix($0) }
    }

    /// Whether none does, and ``UserFolders`` does not look at it either, as it does at objects
    /// that are beside users' names.
    static func isUnmapped(_ name: String, in parent: String, _ templates: [KeyTemplate]) -> Bool {
        let isElsewhere = name == parent + "*" && templates.contains { $0.folder == parent }
        return !isElsewhere && !isCovered(name, by: templates.map(\.root))
    }

    /// Behind which name a listing goes on that came to what is named after users; `nil` elsewhere.
    ///
    /// So a folder with a million of them costs as many pages as it has others.
    static func end(of name: String?, by roots: [String]) -> String? {
        guard let name else { return nil }
        return roots.first { name.hasPrefix($0) && !$0.isEmpty }.map { $0 + "\u{10FFFF}" }
    }

    static func configured(_ rules: [String]) -> [CoverageFinding] {
        rules.map { CoverageFinding(.covered, $0, "configured") }
    }

    /// Folders to which no rule leads; so many that they are probably named after users are only
    /// counted.
    static func unmapped(_ folders: [String]) -> [CoverageFinding] {
        guard folders.count <= namesMax else {
            let reason = "\(folders.count) folders or more, no rule leads there"
            return [.open("*", reason)]
        }
        return folders.map { .open($0, "no rule leads there") }
    }
}
