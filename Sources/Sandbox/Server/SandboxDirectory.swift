import FoundationEssentials
import Glibc

/// The directory through which a sandbox and its users find each other.
struct SandboxDirectory: Sendable {
    let path: String
    let isTemporary: Bool

    init(_ given: String?) throws(SandboxError) {
        isTemporary = given == nil
        path =
            given
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("expunged-sandbox-\(UUID().uuidString)").path
        do {
            // The service, as another user, reads ca.pem in it; the key has a mode of its own.
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755]
            )
        } catch {
            throw SandboxError(.file, cannot: "make directory", at: path, cause: "\(error)")
        }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Replaces a file as a whole, so that a reader never finds half of it.
    func write(_ text: String, to name: String, mode: mode_t) throws(SandboxError) {
        let fresh = file(".\(name).new")
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
        let descriptor = unsafe open(fresh, flags, 0o600)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        // fchmod: the umask may have taken bits away.
        guard descriptor >= 0, fchmod(descriptor, mode) == 0,
            unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count,
            unsafe rename(fresh, file(name)) == 0
        else { throw SandboxError(.file, cannot: "write file", at: file(name)) }
    }

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
