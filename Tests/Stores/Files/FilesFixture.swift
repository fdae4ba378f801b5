import Engine
import Foundation
import Glibc
import Lifecycle
import Testing

@testable import Stores

/// A real folder with a sentinel, gone with the fixture.
final class FilesFixture {
    let base: String
    var root: String { base + "/data/uploads" }

    init() throws {
        base = NSTemporaryDirectory() + "expunged-files-\(UUID().uuidString)"
        try make("data/uploads/.expunged-root", "uploads\n")
    }

    deinit {
        // A tree of any depth: the tool of the system, since Foundation recurses.
        let remover = Process()
        remover.executableURL = URL(fileURLWithPath: "/bin/rm")
        remover.arguments = ["-rf", "--", base]
        do {
            try remover.runToEnd()
        } catch {
            Swift.print("cannot remove \(base), ignoring")
        }
    }

    /// Writes a file below the base, with its folders.
    func make(_ path: String, _ text: String = "x") throws {
        let url = URL(fileURLWithPath: base + "/" + path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: url)
    }

    /// Lets nobody remove what is in a folder, root neither.
    func protect(_ path: String) throws { try change(path, "+i", "0555") }

    func unprotect(_ path: String) throws { try change(path, "-i", "0755") }

    /// Keeps everybody who follows no mounts out of a folder; without root by its mode.
    func close(_ path: String) throws {
        guard geteuid() == 0 else { return try run("/bin/chmod", "0000", base + "/" + path) }
        try run("/bin/mount", "-t", "tmpfs", "none", base + "/" + path)
    }

    func reopen(_ path: String) throws {
        guard geteuid() == 0 else { return try run("/bin/chmod", "0755", base + "/" + path) }
        try run("/bin/umount", base + "/" + path)
    }

    private func change(_ path: String, _ attribute: String, _ mode: String) throws {
        let isRoot = geteuid() == 0
        let tool = isRoot ? "/usr/bin/chattr" : "/bin/chmod"
        try run(tool, isRoot ? attribute : mode, base + "/" + path)
    }

    private func run(_ path: String, _ arguments: String...) throws {
        let tool = Process()
        tool.executableURL = URL(fileURLWithPath: path)
        tool.arguments = arguments
        try tool.runToEnd()
        guard tool.terminationStatus == 0 else { throw CocoaError(.fileWriteNoPermission) }
    }

    func link(_ path: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: base + "/" + path,
            withDestinationPath: destination
        )
    }

    func exists(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(base + "/" + path, &facts) == 0
    }

    func store(
        _ paths: String...,
        root: String? = nil,
        name: String = "uploads"
    ) throws
        -> FilesStore
    {
        FilesStore(
            StoreName(name),
            root: root ?? self.root,
            paths: try paths.map { try PathPattern($0) }
        )
    }

    /// The time of the file system, which the cutoff is compared with.
    static func now() -> WallTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(
            unixMilliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        )
    }

    /// Purges one user, with a cutoff an hour ahead unless given.
    static func order(_ user: String, cutoff: WallTime? = nil) throws -> PurgeOrder {
        var entropy = SystemRandomNumberGenerator()
        let now = now()
        return PurgeOrder(
            request: RequestID(TimeOrderedID(at: now, entropy: &entropy)),
            user: try #require(UserID(user)),
            cutoff: cutoff ?? now + .seconds(3600)
        )
    }
}
