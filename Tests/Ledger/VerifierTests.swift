import FoundationEssentials
import Ledger
import Subprocess
import Testing

@Suite("The independent verifier")
struct VerifierTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") {
        $0 + "/" + $1
    }

    /// `tamper.py` changes bits, entries and notes, and counts what the verifier lets through.
    @Test("docs/verify-ledger.py finds every change of a ledger of a thousand records")
    func tampering() async throws {
        let ledger = try SignedLedger()
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "expunged-verifier-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer {
            do {
                try FileManager.default.removeItem(at: directory)
            } catch {
                Issue.record("cannot remove a test's directory")
            }
        }
        let path = directory.path(percentEncoded: false)
        try Data(SignedLedger.text(ledger.leaves)).write(to: URL(filePath: path + "/entries"))
        try Data(ledger.notes.flatMap { $0 }).write(to: URL(filePath: path + "/checkpoints"))
        let result = try await run(
            .name("python3"),
            arguments: [
                Self.root + "/Tests/Shared/tamper.py", Self.root + "/docs/verify-ledger.py",
                ledger.key.description, path + "/entries", path + "/checkpoints",
            ],
            output: .string(limit: 65_536),
            error: .string(limit: 65_536)
        )
        #expect(result.standardError == "")
        #expect(result.standardOutput.hasSuffix(" 0 missed\n"))
        #expect(result.terminationStatus.isSuccess)
    }
}
