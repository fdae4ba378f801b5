internal import Lifecycle

/// Looks for entries of the root, and of the folders that the paths name, that no path leads to.
///
/// It goes down the literal names of the paths only; what lies behind a wildcard or a user id
/// belongs to the path.
struct PathCoverage {
    /// Folders of one folder that are named; more of them are probably named after users.
    static let namesMax = 20
    /// Entries of one folder that are looked at, some seconds on a cold disk.
    private static let entriesMax = 1_000_000

    private typealias Path = ArraySlice<PathPattern.Step>

    /// What no path leads to in one folder.
    private struct Strays {
        var folders: [String] = []
        var folderCount = 0
        var fileCount = 0
    }

    private let paths: [Path]
    private let entriesMax: Int

    /// - Parameters:
    ///   - paths: The configured ones.
    ///   - entriesMax: How many entries of one folder are looked at.
    init(_ paths: [PathPattern], entriesMax: Int = Self.entriesMax) {
        self.paths = paths.map { $0.steps[...] }
        self.entriesMax = entriesMax
    }

    /// What lies beside the paths, and the folders that lead to them, sorted by name.
    ///
    /// - Throws: ``OpenDirectory/Failure`` when a folder cannot be read.
    func findings(
        in root: OpenDirectory
    ) throws(OpenDirectory.Failure) -> [CoverageFinding] {
        var found: [CoverageFinding] = []
        try look(into: root, at: "", paths, &found)
        return found.sorted { $0.name < $1.name }
    }

    private func look(
        into directory: OpenDirectory,
        at path: String,
        _ paths: [Path],
        _ found: inout [CoverageFinding]
    ) throws(OpenDirectory.Failure) {
        var strays = Strays()
        var place: Int64 = 0
        var entryCount = 0
        while true {
            let entries = try directory.entries(from: place)
            guard let last = entries.last else { break }
            guard entryCount < entriesMax else {
                found.append(
                    CoverageFinding(
                        name: path.isEmpty ? "./" : path,
                        reason: "\(entryCount) entries were looked at, the others not",
                        isCovered: true,
                        isSample: true
                    )
                )
                break
            }
            place = last.nextPlace
            entryCount += entries.count
            for entry in entries where !path.isEmpty || entry.name.text != FilesTargetPlan.sentinel
            {
                let leading = paths.filter { Self.leads($0, to: entry.name.text) }
                if leading.isEmpty {
                    try note(entry.name, in: directory, &strays)
                } else {
                    try follow(leading, entry.name, in: directory, at: path, &found)
                }
            }
        }
        report(strays, at: path, &found)
    }

    private static func leads(_ path: Path, to name: String?) -> Bool {
        guard let name, let step = path.first else { return false }
        return step.fits(name)
    }

    /// Goes on in a folder that paths name and only lead through.
    private func follow(
        _ leading: [Path],
        _ name: FileName,
        in directory: OpenDirectory,
        at path: String,
        _ found: inout [CoverageFinding]
    ) throws(OpenDirectory.Failure) {
        var below: [Path] = []
        for steps in leading {
            guard case .name = steps.first, steps.count > 1 else { return }
            below.append(steps.dropFirst())
        }
        guard let text = name.text, try directory.facts(of: name)?.isDirectory == true else {
            return
        }
        let here = path + text + "/"
        found.append(
            CoverageFinding(name: here, reason: "leads to a configured path", isCovered: true)
        )
        try look(into: try directory.directory(at: name), at: here, below, &found)
    }

    private func note(
        _ name: FileName,
        in directory: OpenDirectory,
        _ strays: inout Strays
    ) throws(OpenDirectory.Failure) {
        guard try directory.facts(of: name)?.isDirectory == true else {
            strays.fileCount += 1
            return
        }
        strays.folderCount += 1
        if strays.folders.count < Self.namesMax { strays.folders.append(name.text ?? "?") }
    }

    private func report(_ strays: Strays, at path: String, _ found: inout [CoverageFinding]) {
        let reason = "no configured path leads there"
        if strays.folderCount > Self.namesMax {
            found.append(
                CoverageFinding(
                    name: path + "*/",
                    reason: "\(strays.folderCount) folders, \(reason)",
                    isCovered: false
                )
            )
        } else {
            found += strays.folders.map {
                CoverageFinding(name: path + $0 + "/", reason: reason, isCovered: false)
            }
        }
        guard strays.fileCount > 0 else { return }
        found.append(
            CoverageFinding(
                name: path + "*",
                reason: "\(strays.fileCount) files, \(reason)",
                isCovered: false
            )
        )
    }
}
