import CLinux
internal import Lifecycle

/// Removes what lies below one entry, iteratively and relative to open folders, or counts what
/// would go.
///
/// Memory is bounded by the depth, not by the number of entries: the names of the way down, and the
/// read-ahead of the deepest folders. At most ``openMax`` folders are open; a tree that is deeper
/// is entered again from above when the walk comes back up, by names, with openat2(2), never by
/// `..`, which may lead elsewhere after a rename.
struct TreeWalk {
    /// What happens to entries that are not newer than the cutoff.
    enum Purpose {
        case remove
        /// Counts what ``remove`` would remove.
        case plan
    }

    /// What a walk found.
    struct Counter {
        /// Entries removed, or counted.
        var entryCount = 0
        /// Entries newer than the cutoff, which stay.
        var newerCount = 0
        /// Entries in hidden folders, which a wildcard passes over.
        var hiddenCount = 0
        /// Hidden folders that may not be entered.
        var closedCount = 0
    }

    private struct Level {
        let name: FileName
        /// `nil` while deeper folders need the descriptors.
        var directory: OpenDirectory?
        /// Where reading goes on.
        var place: Int64 = 0
        /// Read and not looked at yet, the next one last.
        var pending: [DirectoryEntry] = []
        var newerCount = 0
        var entryCount = 0
        /// Times the folder was not empty although all of it had been removed.
        var rewinds = 0
    }

    /// Open folders at a time; the limit of a process is 1024 unless raised.
    static let openMax = 128
    /// Longest path in one call; the kernel's limit is 4096 with the NUL.
    private static let pathBytesMax = 4000
    /// Passes over a folder in which something keeps appearing before we come back later.
    static let rewindsMax = 16

    /// Is not removed itself and holds the entry that is.
    private let parent: OpenDirectory
    private let cutoff: WallTime
    private let purpose: Purpose
    private var levels: [Level] = []
    /// Every level below this one is closed.
    private var firstOpen = 0
    /// A mistake that tests plant here: entries that are not seen.
    private let passesOver: ((FileName) -> Bool)?
    private(set) var counter = Counter()
    /// The first entry that we may not read or remove; what is beside it goes all the same.
    private var refusal: OpenDirectory.Failure?

    init(
        in parent: OpenDirectory,
        cutoff: WallTime,
        purpose: Purpose,
        passesOver: ((FileName) -> Bool)? = nil
    ) {
        self.parent = parent
        self.passesOver = passesOver
        self.cutoff = cutoff
        self.purpose = purpose
    }

    /// Walks one entry and all below it.
    ///
    /// - Throws: ``OpenDirectory/Failure``; what was removed stays removed, and a later walk goes
    ///   on.
    mutating func walk(_ name: FileName) throws(OpenDirectory.Failure) {
        try visit(name, in: parent)
        while let deepest = levels.indices.last {
            let directory = try opened(deepest)
            if levels[deepest].pending.isEmpty {
                let entries = try directory.entries(from: levels[deepest].place)
                levels[deepest].pending = entries.reversed()
            }
            guard let entry = levels[deepest].pending.popLast() else {
                try leave(deepest)
                continue
            }
            levels[deepest].place = entry.nextPlace
            try visit(entry.name, in: directory)
        }
        if let refusal { throw refusal }
    }

    /// Leaves an entry that we may not read or remove, and with it the folders that it is in.
    private mutating func passOver(
        _ failure: OpenDirectory.Failure
    ) throws(OpenDirectory.Failure) {
        guard failure.isRefusal else { throw failure }
        refusal = refusal ?? failure
        note(newer: 1)
    }

    /// Deals with an entry that is no folder; goes into one that is.
    private mutating func visit(
        _ name: FileName,
        in directory: OpenDirectory
    ) throws(OpenDirectory.Failure) {
        if let passesOver, passesOver(name) { return }
        guard let facts = try directory.facts(of: name) else { return }
        if facts.isDirectory { return try enter(name, in: directory) }
        try facts.refuseMount()
        if facts.isNewer(than: cutoff) {
            note(newer: 1)
        } else if purpose != .remove {
            note(entries: 1)
        } else {
            do throws(OpenDirectory.Failure) {
                if try directory.remove(name, isDirectory: false) { note(entries: 1) }
            } catch {
                try passOver(error)
            }
        }
    }

    private mutating func enter(
        _ name: FileName,
        in directory: OpenDirectory
    ) throws(OpenDirectory.Failure) {
        let opened: OpenDirectory
        do throws(OpenDirectory.Failure) {
            opened = try directory.directory(at: name)
        } catch {
            return try passOver(error)
        }
        levels.append(Level(name: name, directory: opened))
        if levels.count - firstOpen > Self.openMax {
            levels[firstOpen].directory = nil
            levels[firstOpen].pending = []
            firstOpen += 1
        }
    }

    /// All of a folder has been looked at: removes it, unless something in it stays.
    private mutating func leave(_ deepest: Int) throws(OpenDirectory.Failure) {
        let level = levels[deepest]
        if purpose == .remove, level.newerCount == 0 {
            let above = deepest == 0 ? parent : try opened(deepest - 1)
            do throws(OpenDirectory.Failure) {
                if try above.remove(level.name, isDirectory: true) {
                    levels[deepest].entryCount += 1
                }
            } catch {
                guard error.isNotEmpty else { return try leave(failing: error) }
                guard level.rewinds < Self.rewindsMax else { throw error }
                levels[deepest].rewinds += 1
                levels[deepest].place = 0
                return
            }
        } else if purpose == .plan, level.newerCount == 0 {
            levels[deepest].entryCount += 1
        }
        close()
    }

    /// Leaves a folder where it is.
    private mutating func leave(
        failing failure: OpenDirectory.Failure
    ) throws(OpenDirectory.Failure) {
        try passOver(failure)
        close()
    }

    /// Goes on in the folder above.
    private mutating func close() {
        let left = levels.removeLast()
        firstOpen = min(firstOpen, max(0, levels.count - 1))
        note(entries: left.entryCount, newer: left.newerCount)
    }

    private mutating func note(entries: Int = 0, newer: Int = 0) {
        if let deepest = levels.indices.last {
            levels[deepest].entryCount += entries
            levels[deepest].newerCount += newer
        } else {
            counter.entryCount += entries
            counter.newerCount += newer
        }
    }

    /// The folder of a level, opened again with some of those above it when it was closed.
    private mutating func opened(_ index: Int) throws(OpenDirectory.Failure) -> OpenDirectory {
        if let directory = levels[index].directory { return directory }
        firstOpen = max(0, index - Self.openMax / 2)
        var directory = parent
        var names: [FileName] = []
        var byteCount = 0
        for position in 0...index {
            let name = levels[position].name
            names.append(name)
            byteCount += name.bytes.count
            let isKept = position >= firstOpen
            guard isKept || byteCount > Self.pathBytesMax - 256 else { continue }
            directory = try directory.directory(at: .path(names))
            (names, byteCount) = ([], 0)
            if isKept { levels[position].directory = directory }
        }
        return directory
    }
}
