import Lifecycle

/// What no rule leads to at one place, told without a user's id.
struct UnmappedCounter {
    /// Different names that are kept apart; the others are counted.
    private static let keptMax = 1000

    private struct Name {
        var count = 0
        /// Whose it was first; `nil` for what is told even if only one has it.
        let owner: String?
        /// Whether it has the id of somebody else.
        let hasOther: Bool
        var isShared = false

        var isTold: Bool { !hasOther && (owner == nil || isShared) }
    }

    /// Those of folders end with a slash.
    private var names: [String: Name] = [:]
    private var folderCount = 0
    private var fileCount = 0

    /// Adds an entry, whose name has no id of its owner.
    ///
    /// No name, or one with another's id, is only counted. So is a name that a single owner has.
    mutating func note(
        _ name: String?,
        isFolder: Bool,
        of owner: String? = nil,
        isUser: (String) -> Bool = { _ in false }
    ) {
        guard let name, names[name] != nil || names.count < Self.keptMax else {
            if isFolder { folderCount += 1 } else { fileCount += 1 }
            return
        }
        var noted =
            names[name] ?? Name(owner: owner, hasOther: UserMask.hasOther(name, isUser: isUser))
        noted.count += 1
        noted.isShared = noted.isShared || noted.owner != owner
        names[name] = noted
    }

    /// Adds an entry beside users' names that is none of theirs as the rules have them.
    ///
    /// It is named if it has, behind one of `prefixes`, the id of a user who is there.
    mutating func note(
        _ name: String,
        isFolder: Bool,
        besideUsersBehind prefixes: [String],
        isUser: (String) -> Bool
    ) {
        for prefix in prefixes {
            guard let rest = UserMask.rest(of: name, behind: prefix, isUser: isUser) else {
                continue
            }
            return note(
                prefix + UserMask.placeholder + rest,
                isFolder: isFolder,
                of: UserMask.isPlain(rest) ? nil : name,
                isUser: isUser
            )
        }
        note(nil, isFolder: isFolder)
    }

    /// One finding for each name that may be printed, and one each for the folders and files of
    /// others; so many names that they are probably those of users are only counted.
    func findings(in place: String, unit: String, _ reason: String) -> [CoverageFinding] {
        let told = names.filter(\.value.isTold).keys.sorted()
        var findings: [CoverageFinding] = []
        for isFolder in [true, false] {
            let own = told.filter { $0.hasSuffix("/") == isFolder }
            let listed = own.count > UnmappedNames.namesMax ? [] : own
            findings += listed.map { CoverageFinding.open(place + $0, reason) }
            let rest = names.filter {
                $0.key.hasSuffix("/") == isFolder && !listed.contains($0.key)
            }
            let count = rest.values.reduce(isFolder ? folderCount : fileCount) { $0 + $1.count }
            guard count > 0 else { continue }
            let text = "\(count) \(isFolder ? "folders" : unit), \(reason)"
            findings.append(.open(place + (isFolder ? "*/" : "*"), text))
        }
        return findings
    }
}

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
