import FoundationEssentials
import Glibc

/// The directory through which a sandbox and its users find each other.
struct SandboxDirectory: Sendable {
    let path: String
    /// Whether the directory was made for this run and goes away with it.
    let isTemporary: Bool

    init(_ given: String?) throws(SandboxError) {
        isTemporary = given == nil
        path =
            given
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("expunged-sandbox-\(UUID().uuidString)").path
        do {
            // Private: the provider key is in it.
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw SandboxError(.file, cannot: "make directory", at: path, cause: "\(error)")
        }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Replaces a file as a whole, so that a reader never finds half of it.
    func write(_ text: String, to name: String) throws(SandboxError) {
        let fresh = file(".\(name).new")
        let isMade = FileManager.default.createFile(
            atPath: fresh,
            contents: Data(text.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        guard isMade, unsafe rename(fresh, file(name)) == 0 else {
            throw SandboxError(.file, cannot: "write file", at: file(name))
        }
    }

    /// The text of a file; `nil` when there is none.
    func read(_ name: String) throws(SandboxError) -> String? {
        guard FileManager.default.fileExists(atPath: file(name)) else { return nil }
        do {
            return try String(contentsOf: URL(fileURLWithPath: file(name)), encoding: .utf8)
        } catch {
            throw SandboxError(.file, cannot: "read file", at: file(name), cause: "\(error)")
        }
    }

    /// Takes `endpoint` away, or the whole directory when it was made for this run.
    func retire() throws(SandboxError) {
        let victim = isTemporary ? path : file("endpoint")
        do {
            try FileManager.default.removeItem(atPath: victim)
        } catch {
            throw SandboxError(.file, cannot: "remove", at: victim, cause: "\(error)")
        }
    }
}
