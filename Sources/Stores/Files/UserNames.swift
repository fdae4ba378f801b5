internal import Engine
internal import Lifecycle

/// Finds whose files there are, by the names that stand where a path has the user id.
struct UserNames {
    let paths: [PathPattern]
    let isWanted: (UserID) -> Bool

    /// - Returns: Each wanted user once.
    func found(in root: OpenDirectory) throws(OpenDirectory.Failure) -> Set<UserID> {
        var users: Set<UserID> = []
        for path in paths { try find(path.steps[...], in: root, &users) }
        return users
    }

    private func find(
        _ steps: ArraySlice<PathPattern.Step>,
        in directory: OpenDirectory,
        _ users: inout Set<UserID>
    ) throws(OpenDirectory.Failure) {
        guard let step = steps.first else { return }
        switch step {
        case .name(let name):
            try descend(FileName(name), steps.dropFirst(), in: directory, &users)
        case .user(let prefix, let suffix):
            try directory.forEachEntry { (entry) throws(OpenDirectory.Failure) in
                guard let text = entry.name.text,
                    let user = Self.user(in: text, prefix: prefix, suffix: suffix), isWanted(user)
                else { return }
                users.insert(user)
            }
        case .wildcard(let wildcard):
            try directory.forEachEntry { (entry) throws(OpenDirectory.Failure) in
                guard let text = entry.name.text, PathPattern.matches(text, wildcard: wildcard),
                    try directory.facts(of: entry.name)?.isDirectory == true
                else { return }
                try descend(entry.name, steps.dropFirst(), in: directory, &users)
            }
        }
    }

    private func descend(
        _ name: FileName,
        _ steps: ArraySlice<PathPattern.Step>,
        in directory: OpenDirectory,
        _ users: inout Set<UserID>
    ) throws(OpenDirectory.Failure) {
        let below: OpenDirectory
        do throws(OpenDirectory.Failure) {
            below = try directory.directory(at: name)
        } catch {
            guard error.isAbsent else { throw error }
            return
        }
        try find(steps, in: below, &users)
    }

    /// The user whose file it is; only one that the purge would find by the same name.
    private static func user(in name: String, prefix: String, suffix: String) -> UserID? {
        name.enclosed(by: prefix, suffix).flatMap { UserID($0) }.flatMap {
            PathPattern.fileName(of: $0, prefix: prefix, suffix: suffix) == name ? $0 : nil
        }
    }
}
