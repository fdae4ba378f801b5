import FoundationEssentials
import Glibc
import Testing

@testable import Daemon

/// What the marks say that processes before this one left.
struct CrashMarkerTests {
    struct Case: Sendable {
        let marks: [UInt8]
        var isRestored = false
        let end: CrashMarker.End
    }

    static let cases = [
        Case(marks: [], end: .killed),
        Case(marks: [UInt8(SIGSEGV)], end: .crash),
        Case(marks: [UInt8(SIGSEGV), UInt8(SIGBUS)], end: .busError),
        Case(marks: Array("out of memory\n".utf8), end: .crash),
        Case(marks: [CrashMarker.restored], isRestored: true, end: .restored),
        Case(marks: [CrashMarker.restored, UInt8(SIGABRT)], isRestored: true, end: .crash),
        Case(marks: [CrashMarker.restored, UInt8(SIGBUS)], isRestored: true, end: .busError),
    ]

    @Test("a crash of the first start hides no restore", arguments: cases)
    func reads(_ example: Case) throws {
        let path = FileManager.default.temporaryDirectory.path + "/marker-\(UUID().uuidString)"
        try Data(example.marks).write(to: URL(filePath: path))
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer {
            close(descriptor)
            _ = unsafe unlink(path)
        }
        let found = CrashMarker.read(descriptor)
        #expect(found.isRestored == example.isRestored && found.lastEnd == example.end)
    }
}
