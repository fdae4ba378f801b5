import Glibc
internal import Lifecycle

/// Looks for entries of the root, and of the folders that the paths lead through, that no path
/// leads to.
///
/// It goes down the literal names of the paths. Where a path has a user id or a wildcard and goes
/// on behind it, there may be millions of folders: it looks into some of them, and tells so.
struct PathCoverage {
    /// Entries of one folder that are looked at, some seconds on a cold disk.
    private static let entriesMax = 1_000_000
    /// The same of a folder that is one of many.
    private static let sampledEntriesMax = 10_000
    /// Entries beside users' of which it is asked whose they are, in one folder.
    private static let siblingsMax = 10_000

    private typealias Path = ArraySlice<PathPattern.Step>

    /// A folder that paths lead through.
    private struct Place {
        let directory: OpenDirectory
        /// The way there, as a finding shows it: with a slash at the end, users' names as the
        /// paths have them.
        var shown = ""
        /// From here on.
        let paths: [Path]
        /// Whether it is one of some that were chosen.
        var isSampled = false
        /// The ids that the way there may have.
        var users: [String] = []
        /// The folders above that have names of users.
        var homesAbove: [Home] = []

        /// What stands before and behind the user id in names here.
        var userSteps: [(prefix: String, suffix: String)] {
            paths.compactMap { path in
                guard case .user(let prefix, let suffix) = path.first else { return nil }
                return (prefix, suffix)
            }
        }

        /// The folders here and above that have names of users.
        var homes: [Home] {
            let steps = userSteps
            return homesAbove + (steps.isEmpty ? [] : [Home(directory: directory, steps: steps)])
        }

        /// Whether somebody of this id is here or above.
        func has(_ user: String) -> Bool { homes.contains { $0.has(user) } }
    }

    /// A folder that has names of users, and what stands before and behind their ids there.
    private struct Home {
        let directory: OpenDirectory
        let steps: [(prefix: String, suffix: String)]

        func has(_ user: String) -> Bool {
            steps.contains { directory.has(FileName($0.prefix + user + $0.suffix)) }
        }
    }

    private let paths: [Path]
    private let entriesMax: Int
    private var found: [CoverageFinding] = []
    /// By the place as it is shown.
    private var unmapped: [String: UnmappedCounter] = [:]
    private var samples: [String: String] = [:]
    private var sampledCount = 0
    private var siblingCount = 0

    init(_ paths: [PathPattern], entriesMax: Int = Self.entriesMax) {
        self.paths = paths.map { $0.steps[...] }
        self.entriesMax = entriesMax
    }

    /// What lies beside the paths, and the folders that lead to them, sorted by name.
    func findings(in root: OpenDirectory) throws(OpenDirectory.Failure) -> [CoverageFinding] {
        var walk = self
        try walk.look(into: Place(directory: root, paths: paths))
        let unmapped = walk.unmapped.flatMap { place, counter in
            counter.findings(in: place, unit: "files", "no configured path leads there")
        }
        let samples = CoverageFinding.samples(walk.samples)
        return (walk.found + unmapped + samples).sorted { $0.name < $1.name }
    }

    private mutating func look(into place: Place) throws(OpenDirectory.Failure) {
        let entriesMax = place.isSampled ? min(entriesMax, Self.sampledEntriesMax) : entriesMax
        var some: [String: SpreadSample<FileName>] = [:]
        var position: Int64 = 0
        var entryCount = 0
        siblingCount = 0
        while true {
            let entries = try place.directory.entries(from: position)
            guard let last = entries.last else { break }
            guard entryCount < entriesMax else {
                let name = place.shown.isEmpty ? "./" : place.shown
                samples[name] = "\(entryCount) entries were looked at, the others not"
                break
            }
            position = last.nextPlace
            entryCount += entries.count
            for entry in entries
            where !place.shown.isEmpty || entry.name.text != FilesStore.sentinel {
                let leading = Self.leading(place.paths, to: entry.name)
                if leading.isEmpty {
                    try note(entry.name, in: place)
                } else if leading.contains(where: { $0.count == 1 }) {
                    continue
                } else if leading.contains(where: { $0.first?.isLiteral == true }) {
                    try follow(entry.name, in: place, leading)
                } else {
                    let shown = Self.shown(leading)
                    some[shown, default: SpreadSample(max: UnmappedTree.sampleMax)].add(entry.name)
                }
            }
        }
        for (shown, sample) in some.sorted(by: { $0.key < $1.key }) {
            try look(intoSome: sample, in: place, as: shown)
        }
    }

    private static func leading(_ paths: [Path], to name: FileName) -> [Path] {
        guard let text = name.text else { return [] }
        return paths.filter { $0.first?.fits(text) == true }
    }

    /// A name that wildcards and user ids stand for; it may be a user's, if any path says so.
    private static func shown(_ leading: [Path]) -> String {
        let steps = leading.compactMap(\.first)
        return (steps.first(where: \.isUser) ?? steps.first)?.text ?? "*"
    }

    /// Goes on in a folder that a path names and only leads through.
    private mutating func follow(
        _ name: FileName,
        in place: Place,
        _ leading: [Path]
    ) throws(OpenDirectory.Failure) {
        guard let text = name.text, try place.directory.facts(of: name)?.isDirectory == true else {
            return
        }
        let shown = place.shown + text + "/"
        if !place.isSampled {
            found.append(
                CoverageFinding(.covered, shown, "leads to a configured path")
            )
        }
        try look(
            into: Place(
                directory: try place.directory.directory(at: name),
                shown: shown,
                paths: leading.map { $0.dropFirst() },
                isSampled: place.isSampled,
                users: place.users,
                homesAbove: place.homes
            )
        )
    }

    /// Goes on in some of the folders that a user id or a wildcard stands for.
    private mutating func look(
        intoSome sample: SpreadSample<FileName>,
        in place: Place,
        as shown: String
    ) throws(OpenDirectory.Failure) {
        let names = sample.elements
        if names.count < sample.count {
            samples[place.shown + shown] = "\(names.count) of \(sample.count) were looked into"
        }
        for name in names {
            guard sampledCount < UnmappedTree.placesMax else {
                samples["*"] = "\(UnmappedTree.placesMax) folders were looked into, there are more"
                return
            }
            sampledCount += 1
            do throws(OpenDirectory.Failure) {
                try look(intoOne: name, in: place, as: shown)
            } catch {
                // It is gone, or something else is mounted there, which the diagnosis tells.
                guard error.isAbsent || error.errorNumber == EXDEV else { throw error }
            }
        }
    }

    private mutating func look(
        intoOne name: FileName,
        in place: Place,
        as shown: String
    ) throws(OpenDirectory.Failure) {
        guard try place.directory.facts(of: name)?.isDirectory == true else {
            return unmapped[place.shown, default: UnmappedCounter()].note(nil, isFolder: false)
        }
        let leading = Self.leading(place.paths, to: name)
        let text = name.text ?? ""
        let users = leading.compactMap { path -> String? in
            guard case .user(let prefix, let suffix) = path.first else { return nil }
            return String(text.dropFirst(prefix.count).dropLast(suffix.count))
        }
        try look(
            into: Place(
                directory: try place.directory.directory(at: name),
                shown: place.shown + shown + "/",
                paths: leading.map { $0.dropFirst() },
                isSampled: true,
                users: place.users + users,
                homesAbove: place.homes
            )
        )
    }

    // MARK: Unmapped data

    private mutating func note(
        _ name: FileName,
        in place: Place
    ) throws(OpenDirectory.Failure) {
        let isFolder = try place.directory.facts(of: name)?.isDirectory == true
        let slash = isFolder ? "/" : ""
        var (shown, owner) = (String?.none, String?.none)
        let users = place.userSteps
        if let (sibling, isPlain) = sibling(name, in: place) {
            (shown, owner) = (sibling + slash, isPlain ? nil : name.text)
        } else if users.contains(where: { name.text?.hasPrefix($0.prefix) ?? true }) {
            // It may be named after somebody who is not there any more.
            shown = nil
        } else if isFolder || !place.users.isEmpty {
            shown = name.text.map { place.users.reduce($0, UserMask.masked) + slash }
            owner = place.users.isEmpty ? nil : place.users.joined(separator: "/")
        }
        unmapped[place.shown, default: UnmappedCounter()].note(
            shown,
            isFolder: isFolder,
            of: owner,
            isUser: place.has
        )
    }

    /// How a name beside those of users is built that has the id of one of them.
    private mutating func sibling(
        _ name: FileName,
        in place: Place
    ) -> (text: String, isPlain: Bool)? {
        guard let text = name.text, siblingCount < Self.siblingsMax else { return nil }
        siblingCount += 1
        for (prefix, suffix) in place.userSteps {
            let rest = UserMask.rest(of: text, behind: prefix) { id in
                let own = FileName(prefix + id + suffix)
                return own != name && place.directory.has(own)
            }
            guard let rest else { continue }
            return (prefix + UserMask.placeholder + rest, UserMask.isPlain(rest))
        }
        return nil
    }
}

extension OpenDirectory {
    /// Whether there is such an entry, as far as it can be told.
    fileprivate func has(_ name: FileName) -> Bool {
        do throws(Failure) {
            return try facts(of: name) != nil
        } catch {
            return false
        }
    }
}

extension PathPattern.Step {
    fileprivate var isLiteral: Bool { if case .name = self { true } else { false } }

    /// As a finding shows it.
    fileprivate var text: String {
        switch self {
        case .name(let text), .wildcard(let text): text
        case .user(let prefix, let suffix): prefix + UserMask.placeholder + suffix
        }
    }
}
