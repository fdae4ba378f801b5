import Lifecycle

/// What no rule leads to at one place, told without a user's id.
struct StrayTally {
    /// Different names that are kept apart; the others are counted.
    private static let keptMax = 1000

    private struct Name {
        var count = 0
        let usersMin: Int
    }

    /// Those of folders end with a slash.
    private var names: [String: Name] = [:]
    private var folderCount = 0
    private var fileCount = 0

    /// Adds an entry.
    ///
    /// - Parameters:
    ///   - name: Without the id of whose it is, a folder's with a slash at the end; `nil` for what
    ///     may name a user, which is only counted.
    ///   - isFolder: Whether it is one.
    ///   - usersMin: At how many users it is to be found before it is told; what only one has may
    ///     be a name of their own.
    mutating func note(_ name: String?, isFolder: Bool, usersMin: Int = 1) {
        guard let name, names[name] != nil || names.count < Self.keptMax else {
            if isFolder { folderCount += 1 } else { fileCount += 1 }
            return
        }
        names[name, default: Name(usersMin: usersMin)].count += 1
    }

    /// What there is to tell.
    ///
    /// - Parameters:
    ///   - place: Where they are.
    ///   - unit: What the store calls files.
    ///   - reason: What is said of each.
    /// - Returns: One finding for each name that can be told, and one each for the folders and
    ///   files of others; so many names that they are probably those of users are only counted.
    func findings(in place: String, unit: String, _ reason: String) -> [CoverageFinding] {
        let told = names.filter { $0.value.count >= $0.value.usersMin }.keys.sorted()
        var findings: [CoverageFinding] = []
        for isFolder in [true, false] {
            let own = told.filter { $0.hasSuffix("/") == isFolder }
            let listed = own.count > PathCoverage.namesMax ? [] : own
            findings += listed.map {
                CoverageFinding(name: place + $0, reason: reason, isCovered: false)
            }
            let rest = names.filter {
                $0.key.hasSuffix("/") == isFolder && !listed.contains($0.key)
            }
            let count = rest.values.reduce(isFolder ? folderCount : fileCount) { $0 + $1.count }
            guard count > 0 else { continue }
            findings.append(
                CoverageFinding(
                    name: place + (isFolder ? "*/" : "*"),
                    reason: "\(count) \(isFolder ? "folders" : unit), \(reason)",
                    isCovered: false
                )
            )
        }
        return findings
    }
}
