import FoundationEssentials

/// A file that a test's program writes.
enum TemporaryFile {
    static func make() -> String {
        FileManager.default.temporaryDirectory.path + "/expunged-" + UUID().uuidString
    }

    /// Leftovers of a failed test do no harm.
    static func remove(_ path: String) {
        for name in [path, path + ".env"] where FileManager.default.fileExists(atPath: name) {
            do {
                try FileManager.default.removeItem(atPath: name)
            } catch {
                continue
            }
        }
    }
}
