internal import CLinux
internal import Glibc
internal import Lifecycle

/// Counts what is left of one user, by another way than ``TreeWalk`` took to remove it.
///
/// |  | removes | counts |
/// |---|---|---|
/// | gets there | name by name, from one open folder to the next | all names in one openat2(2) |
/// | reads folders | by getdents64(2), in chunks | by readdir(3), entry by entry |
/// | what an entry is | statx(2) | what readdir(3) says |
/// | comes back up | opens from above, by names | by `..`, if that is the same folder |
///
/// So an entry that one of them does not see, or takes for something else, is met by the other.
/// What they share is small: the names that a ``PathPattern`` gives, the flags that keep both
/// inside of the root and on its file system, and which time of a file the cutoff is compared with.
///
/// A path without wildcards costs one call where nothing is left, however many neighbours it has.
/// Memory is bounded by the depth, and ends the count at ``countMax``.
struct RemainingFiles {
    /// A folder that is being read.
    private struct Level {
        let device: UInt64
        let inode: UInt64
        /// `nil` while a deeper folder is read, below ``openMax``.
        var open: (directory: OpenDirectory, reader: FolderReader)?
        /// Where reading goes on.
        var place = 0
        var isEmpty = true
    }

    /// "At least so many" is enough to go back to purging.
    static let countMax = 10_000
    /// Folders of the way down that stay open, two descriptors each; deeper ones are opened again.
    static let openMax = 64

    private let user: UserID
    private let cutoff: WallTime
    /// Files that are not newer than the cutoff, and empty folders; ``countMax`` may be many more.
    private(set) var count = 0

    private var isEnough: Bool { count >= Self.countMax }

    init(of user: UserID, cutoff: WallTime) {
        self.user = user
        self.cutoff = cutoff
    }

    /// Adds what is left where a path leads.
    ///
    /// - Throws: ``OpenDirectory/Failure``; the count says nothing then.
    mutating func add(_ path: PathPattern, in root: OpenDirectory) throws(OpenDirectory.Failure) {
        try add(path.steps[...], behind: [], in: root)
    }

    // MARK: The way there

    /// Joins names up to the next wildcard, or to the end.
    private mutating func add(
        _ steps: ArraySlice<PathPattern.Step>,
        behind first: [FileName],
        in folder: OpenDirectory
    ) throws(OpenDirectory.Failure) {
        var names = first
        for (index, step) in zip(steps.indices, steps) {
            switch step {
            case .name(let name): names.append(FileName(name))
            case .user(let prefix, let suffix):
                guard let name = PathPattern.fileName(of: user, prefix: prefix, suffix: suffix)
                else { return }
                names.append(FileName(name))
            case .wildcard(let wildcard):
                let rest = steps[(index + 1)...]
                return try add(wildcard, rest, in: names, of: folder)
            }
        }
        try add(at: .path(names), in: folder)
    }

    private mutating func add(
        _ wildcard: String,
        _ rest: ArraySlice<PathPattern.Step>,
        in names: [FileName],
        of folder: OpenDirectory
    ) throws(OpenDirectory.Failure) {
        var matched = folder
        if !names.isEmpty {
            do throws(OpenDirectory.Failure) {
                matched = try folder.directory(at: .path(names))
            } catch {
                guard error.isAbsent else { throw error }
                return
            }
        }
        let reader = try matched.reader()
        while !isEnough, let entry = try reader.next() {
            guard let text = entry.name.text, PathPattern.matches(text, wildcard: wildcard) else {
                continue
            }
            // A link that a wildcard meets is no folder.
            if !rest.isEmpty, try !isDirectory(entry, in: matched) { continue }
            try add(rest, behind: [entry.name], in: matched)
        }
    }

    private func isDirectory(
        _ entry: FolderReader.Entry,
        in folder: OpenDirectory
    ) throws(OpenDirectory.Failure) -> Bool {
        if let isDirectory = entry.isDirectory { return isDirectory }
        return try folder.facts(of: entry.name)?.isDirectory == true
    }

    // MARK: What is there

    private mutating func add(
        at path: FileName,
        in folder: OpenDirectory
    ) throws(OpenDirectory.Failure) {
        guard let facts = try folder.facts(at: path) else { return }
        guard facts.isDirectory else {
            if !facts.isNewer(than: cutoff) { count += 1 }
            return
        }
        var levels: [Level] = []
        do throws(OpenDirectory.Failure) {
            levels.append(try level(of: try folder.directory(at: path)))
        } catch {
            guard error.isAbsent else { throw error }
            return
        }
        while !isEnough, !levels.isEmpty { try step(&levels) }
    }

    /// Deals with the next entry of the deepest folder.
    private mutating func step(_ levels: inout [Level]) throws(OpenDirectory.Failure) {
        let deepest = levels.count - 1
        guard let (folder, reader) = levels[deepest].open else { return }
        guard let entry = try reader.next() else {
            if levels[deepest].isEmpty { count += 1 }
            return try leave(folder, &levels)
        }
        levels[deepest].isEmpty = false
        levels[deepest].place = entry.nextPlace
        guard try isDirectory(entry, in: folder) else {
            guard let facts = try folder.facts(of: entry.name) else { return }
            try facts.refuseMount()
            if !facts.isNewer(than: cutoff) { count += 1 }
            return
        }
        let below: Level
        do throws(OpenDirectory.Failure) {
            below = try level(of: try folder.directory(at: entry.name))
        } catch {
            guard error.isAbsent else { throw error }
            return
        }
        if deepest >= Self.openMax { levels[deepest].open = nil }
        levels.append(below)
    }

    private func level(of folder: OpenDirectory) throws(OpenDirectory.Failure) -> Level {
        guard let facts = try folder.facts(of: FileName(".")) else {
            throw OpenDirectory.Failure(errorNumber: ENOENT)
        }
        let reader = try folder.reader()
        return Level(device: facts.device, inode: facts.inode, open: (folder, reader))
    }

    /// Goes back to the folder above, where reading goes on behind the one that was left.
    private func leave(
        _ folder: OpenDirectory,
        _ levels: inout [Level]
    ) throws(OpenDirectory.Failure) {
        levels.removeLast()
        guard let deepest = levels.indices.last, levels[deepest].open == nil else { return }
        let above = try level(of: try folder.above())
        let place = levels[deepest].place
        // Somebody moved the folder that was left: what is above it now is another one.
        guard above.device == levels[deepest].device, above.inode == levels[deepest].inode else {
            throw OpenDirectory.Failure(errorNumber: ESTALE)
        }
        above.open?.reader.go(to: place)
        levels[deepest].open = above.open
    }
}
