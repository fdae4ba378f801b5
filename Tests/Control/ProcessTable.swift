import FoundationEssentials
import Glibc

/// What everybody can read of the processes of this machine (proc(5)).
enum ProcessTable {
    /// The command lines of a process's children, blanks between the arguments.
    static func commandLines(ofChildrenOf parent: pid_t) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .filter { $0.allSatisfy(\.isNumber) }
            .filter { read("/proc/\($0)/status").contains("\nPPid:\t\(parent)\n") }
            .map { read("/proc/\($0)/cmdline").replacing("\0", with: " ") }
    }

    /// Empty when the process has ended meanwhile.
    private static func read(_ path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
