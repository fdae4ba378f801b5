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
