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
            try each(of: directory) { (entry) throws(OpenDirectory.Failure) in
                guard let text = entry.name.text,
                    let user = Self.user(in: text, prefix: prefix, suffix: suffix), isWanted(user)
                else { return }
                users.insert(user)
            }
        case .wildcard(let wildcard):
            try each(of: directory) { (entry) throws(OpenDirectory.Failure) in
                guard let text = entry.name.text, PathPattern.matches(text, wildcard: wildcard),
                    try directory.facts(of: entry.name)?.isDirectory == true
                else { return }
                try descend(entry.name, steps.dropFirst(), in: directory, &users)
            }
        }
    }

    private func each(
        of directory: OpenDirectory,
        _ body: (DirectoryEntry) throws(OpenDirectory.Failure) -> Void
    ) throws(OpenDirectory.Failure) {
        var place: Int64 = 0
        while true {
            let entries = try directory.entries(from: place)
            guard let last = entries.last else { return }
            place = last.nextPlace
            for entry in entries { try body(entry) }
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
        guard PathPattern.isUser(name, prefix: prefix, suffix: suffix) else { return nil }
        let text = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        guard let id = String(text), let user = UserID(id),
            PathPattern.fileName(of: user, prefix: prefix, suffix: suffix) == name
        else { return nil }
        return user
    }
}
