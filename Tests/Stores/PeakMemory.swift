import FoundationEssentials
import TestSupport

/// By how much this process's most resident memory grew since this was made (proc(5), clear_refs).
struct PeakMemory {
    private let before: Int

    /// None where no bar is held: what earlier tests left in the process would count.
    static func whereHeld() throws -> PeakMemory? { try Bars.areHeld ? PeakMemory() : nil }

    init() throws {
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        before = try Self.peakKibibytes()
    }

    func grownMebibytes() throws -> Int { (try Self.peakKibibytes() - before) / 1024 }

    private static func peakKibibytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        guard let kibibytes, let count = Int(kibibytes) else { throw Missing() }
        return count
    }
}
