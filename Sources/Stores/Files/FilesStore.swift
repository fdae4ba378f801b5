internal import CLinux
package import Engine
internal import Glibc
package import Lifecycle

/// Folders of the application, in which a user's files are found by name.
///
/// Everything happens relative to open folders and never follows a link or crosses a mount, so that
/// a process that changes the tree at the same time cannot lead a removal out of the root. An
/// interrupted purge goes on where the tree is when it is asked again.
package actor FilesStore: UserListing, CoverageSearching {
    /// The file that must lie in the root, with the store's name as its first line.
    ///
    /// An empty mount point, a disk of another machine or a mistyped path has none: a purge there
    /// would find nothing, and call that erased.
    static let sentinel = ".expunged-root"

    package nonisolated let name: StoreName
    /// Absolute; no symbolic link on the way to it.
    private let root: String
    /// Not empty.
    private let paths: [PathPattern]
    private let queue: BlockingQueue
    private let passesOver: (@Sendable (FileName) -> Bool)?

    /// The queue on which everything here runs.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe queue.asUnownedSerialExecutor()
    }

    /// A purge does not see the entries of which `passesOver` says so.
    init(
        _ name: StoreName,
        root: String,
        paths: [PathPattern],
        passesOver: (@Sendable (FileName) -> Bool)? = nil
    ) {
        (self.name, self.root, self.paths) = (name, root, paths)
        self.passesOver = passesOver
        queue = BlockingQueue(label: "expunged.files.\(name)")
    }

    // MARK: PurgeStore

    /// Removes the files and folders of each user.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        var answers: [PurgeAnswer] = []
        for order in orders {
            guard !order.isStopped else {
                answers.append(.stopped)
                continue
            }
            do throws(FilesError) {
                let entries = try counters(order, .remove).flatMap(Self.entries)
                answers.append(.done(PurgeCounts(entries: entries)))
            } catch {
                answers.append(.failure(error.failure))
            }
        }
        return answers
    }

    /// Counts what is left, by another way than the purge took: ``RemainingFiles``.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        var answers: [VerifyAnswer] = []
        for order in orders {
            do throws(FilesError) {
                let left = try remaining(of: order)
                answers.append(left == 0 ? .clean : .remaining(left))
            } catch {
                answers.append(.failure(error.failure))
            }
        }
        return answers
    }

    /// Counts the files and folders of one user, and names what the receipt will say is left.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        do throws(FilesError) {
            return .items(
                try counters(order, .plan).flatMap(Self.entries).map { PlanItem(deletion: $0) }
            )
        } catch {
            return .failure(error.failure)
        }
    }

    /// Reads the names where a path has the user id.
    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        do throws(FilesError) {
            let root = try openRoot()
            return try wrapped { () throws(OpenDirectory.Failure) in
                .found(Array(try UserNames(paths: paths, isWanted: isWanted).found(in: root)))
            }
        } catch {
            return .failure(error.failure)
        }
    }

    /// Looks for folders and files beside the configured paths.
    package func coverage() async -> CoverageAnswer {
        do throws(FilesError) {
            let root = try openRoot()
            return try wrapped { () throws(OpenDirectory.Failure) in
                .findings(try PathCoverage(paths).findings(in: root))
            }
        } catch {
            return .failure(error.failure)
        }
    }

    /// Whether the root is one, is ours to purge, and can be written, and nothing is mounted where
    /// a path leads.
    ///
    /// A mount is an outage: one in a user's folder comes and goes, and fails that user alone.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        let problems = rootProblems()
        let isComplete = !problems.isEmpty || !withOutages
        return StoreFindings(problems: isComplete ? problems : mountProblems())
    }

    package func shutdown() async {}

    private func mountProblems() -> [String] {
        let mountCount = MountPoints().below(root).count { names in
            paths.contains { $0.leads(through: names) }
        }
        guard mountCount > 0 else { return [] }
        let places = mountCount == 1 ? "1 place" : "\(mountCount) places"
        return [
            "something is mounted at \(places) below '\(root)' where a path leads, and is not"
                + " ours to empty: unmount it (findmnt)"
        ]
    }

    private func rootProblems() -> [String] {
        do throws(FilesError) {
            _ = try openRoot()
        } catch {
            return [advice(error)]
        }
        guard unsafe access(root, R_OK | W_OK | X_OK) == 0 else {
            return ["the service may not write '\(root)' (ReadWritePaths=, group)"]
        }
        return []
    }

    private func advice(_ error: FilesError) -> String {
        switch error.kind {
        case .dangerousRoot: "'\(root)' is no folder to purge from; name one further down"
        case .unfitRoot: "'\(root)' is missing, no folder, or behind a symbolic link"
        case .missingSentinel:
            "'\(root)/\(Self.sentinel)' must be a file with the line '\(name)'"
        default: error.description
        }
    }

    // MARK: Walking

    private func remaining(of order: PurgeOrder) throws(FilesError) -> Int {
        let root = try openRoot()
        var left = RemainingFiles(of: order.user, cutoff: order.cutoff)
        for path in paths {
            try wrapped(path) { () throws(OpenDirectory.Failure) in try left.add(path, in: root) }
        }
        return left.count
    }

    private static func entries(_ path: String, _ counter: TreeWalk.Counter) -> [PurgeCounts.Entry]
    {
        let count = counter.entryCount
        var entries = [PurgeCounts.Entry(name: path, action: .rule(.delete), rowCount: count)]
        entries[0].newerCount = counter.newerCount
        let left: [(ReceiptSentence, Int)] = [
            (.hiddenFolder, counter.hiddenCount), (.closedFolders, counter.closedCount),
        ]
        for (reason, count) in left where count > 0 {
            entries.append(.init(name: path, action: .passedOver(reason), rowCount: count))
        }
        return entries
    }

    private func counters(
        _ order: PurgeOrder,
        _ purpose: TreeWalk.Purpose
    ) throws(FilesError) -> [(path: String, counter: TreeWalk.Counter)] {
        let root = try openRoot()
        var counters: [(path: String, counter: TreeWalk.Counter)] = []
        var refusal: FilesError?
        for pattern in paths {
            do throws(FilesError) {
                let counter = try counter(pattern, order, purpose, in: root)
                counters.append((path: pattern.description, counter: counter))
            } catch {
                // What the other paths lead to goes all the same.
                guard error.kind == .deniedInside else { throw error }
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
        return counters
    }

    private func counter(
        _ pattern: PathPattern,
        _ order: PurgeOrder,
        _ purpose: TreeWalk.Purpose,
        in root: OpenDirectory
    ) throws(FilesError) -> TreeWalk.Counter {
        var counter = TreeWalk.Counter()
        try wrapped(pattern) { () throws(OpenDirectory.Failure) in
            try Self.find(pattern.steps[...], of: order.user, in: root) {
                directory,
                name,
                isHidden throws(OpenDirectory.Failure) in
                var walk = TreeWalk(
                    in: directory,
                    cutoff: order.cutoff,
                    purpose: isHidden ? .plan : purpose,
                    passesOver: passesOver
                )
                do throws(OpenDirectory.Failure) {
                    try walk.walk(name)
                } catch {
                    if isHidden, error.isClosed {
                        counter.hiddenCount += walk.counter.entryCount
                        counter.closedCount += 1
                        return
                    }
                    // Nobody's entry can be removed there.
                    let isOfAll = pattern.steps.last?.isUser == true && !directory.isWritable
                    throw error.isRefusal && isOfAll ? error.onTheWay : error
                }
                if isHidden {
                    counter.hiddenCount += walk.counter.entryCount
                } else {
                    counter.entryCount += walk.counter.entryCount
                    counter.newerCount += walk.counter.newerCount
                }
            }
        }
        return counter
    }

    private static func find(
        _ steps: ArraySlice<PathPattern.Step>,
        of user: UserID,
        in directory: OpenDirectory,
        isHidden: Bool = false,
        _ body: (OpenDirectory, FileName, _ isHidden: Bool) throws(OpenDirectory.Failure) -> Void
    ) throws(OpenDirectory.Failure) {
        guard let step = steps.first else { return }
        let rest = steps.dropFirst()
        switch step {
        case .name(let name):
            try go(into: FileName(name), rest, of: user, in: directory, isHidden: isHidden, body)
        case .user(let prefix, let suffix):
            guard let name = PathPattern.fileName(of: user, prefix: prefix, suffix: suffix) else {
                return
            }
            try go(into: FileName(name), rest, of: user, in: directory, isHidden: isHidden, body)
        case .wildcard(let wildcard):
            try directory.forEachEntry { (entry) throws(OpenDirectory.Failure) in
                let name = entry.name
                guard let text = name.text else { return }
                let isPassedOver = PathPattern.isHidden(text, from: wildcard)
                guard isPassedOver || PathPattern.matches(text, wildcard: wildcard) else { return }
                // A link that a wildcard meets is no folder; one that the pattern names is refused.
                let facts = try directory.facts(of: name)
                guard rest.isEmpty || facts?.isDirectory == true else { return }
                let isHidden = isHidden || isPassedOver
                do throws(OpenDirectory.Failure) {
                    try go(into: name, rest, of: user, in: directory, isHidden: isHidden, body)
                } catch {
                    // No path of ours leads through it: that it is closed stops nobody.
                    guard isPassedOver, error.isClosed else { throw error }
                    try body(directory, name, isHidden)
                }
            }
        }
    }

    private static func go(
        into name: FileName,
        _ rest: ArraySlice<PathPattern.Step>,
        of user: UserID,
        in directory: OpenDirectory,
        isHidden: Bool,
        _ body: (OpenDirectory, FileName, _ isHidden: Bool) throws(OpenDirectory.Failure) -> Void
    ) throws(OpenDirectory.Failure) {
        if rest.isEmpty { return try body(directory, name, isHidden) }
        let below: OpenDirectory
        do throws(OpenDirectory.Failure) {
            below = try directory.directory(at: name)
        } catch {
            guard error.isAbsent else {
                throw rest.contains { $0.isUser } ? error.onTheWay : error
            }
            return
        }
        try find(rest, of: user, in: below, isHidden: isHidden, body)
    }

    // MARK: Root

    private func openRoot() throws(FilesError) -> OpenDirectory {
        guard !Self.isDangerous(self.root) else { throw FilesError(.dangerousRoot, store: name) }
        let root: OpenDirectory
        do throws(OpenDirectory.Failure) {
            root = try OpenDirectory(root: self.root)
        } catch {
            throw failure(error, .unfitRoot)
        }
        let text: [UInt8]
        do throws(OpenDirectory.Failure) {
            text = try root.text(of: FileName(Self.sentinel), sizeMax: 256)
        } catch {
            throw failure(error, .missingSentinel)
        }
        let line = text.prefix { $0 != UInt8(ascii: "\n") }
        guard String(decoding: line, as: UTF8.self) == name.rawValue else {
            throw FilesError(.missingSentinel, store: name)
        }
        return root
    }

    /// A disk that fails, or a server of files that is busy, is no root that is wrong: that is
    /// tried again.
    private func failure(_ failure: OpenDirectory.Failure, _ kind: FilesError.Kind) -> FilesError {
        let error = FilesError(failure, store: name)
        let passing = [ESTALE, EAGAIN, EINTR]
        guard error.kind != .storage, !passing.contains(failure.errorNumber) else { return error }
        return FilesError(kind, store: name, errorNumber: failure.errorNumber)
    }

    /// Top folders of a system (hier(7)) and what belongs to it; a root is one level below or more.
    static func isDangerous(_ root: String) -> Bool {
        let names = root.split(separator: "/")
        let system: Set<Substring> = [
            "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys",
            "usr",
        ]
        guard root.hasPrefix("/"), names.count >= 2, !names.contains(".."), !names.contains(".")
        else { return true }
        if let top = names.first, system.contains(top) { return true }
        return names.prefix(2) == ["var", "lib"] && (names.count == 2 || names[2] == "expunged")
    }

    private func wrapped<Result>(
        _ pattern: PathPattern? = nil,
        _ body: () throws(OpenDirectory.Failure) -> Result
    ) throws(FilesError) -> Result {
        do throws(OpenDirectory.Failure) {
            return try body()
        } catch {
            // Without a pattern it is about no user's files.
            let isOfAll = pattern == nil && error.isRefusal
            var error = FilesError(isOfAll ? error.onTheWay : error, store: name)
            error.pattern = pattern?.description
            throw error
        }
    }
}
