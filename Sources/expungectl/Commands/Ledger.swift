import ArgumentParser
import Control
import ControlClient
import Ledger
import Lifecycle

struct Ledger: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show, verify or export the ledger, or accept an older state.",
        subcommands: [Status.self, Verify.self, Export.self, AcceptRollback.self],
        defaultSubcommand: Status.self
    )

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the ledger's key, size and last checkpoint."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try await global.show(.ledger, LedgerReport.text)
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare every entry with every checkpoint.",
            discussion: """
                Asks the service. With --entries, --checkpoints and --key it compares an export \
                with a checkpoint file, without the service. Take the export first, then the \
                copy of the file, so that a signature covers each entry.
                """
        )

        /// More than a ledger of a million deletions has.
        private static let byteCountMax = 1 << 32

        @Option(help: "A file that 'expungectl ledger export' wrote.", completion: .file())
        var entries: String?
        @Option(help: "A checkpoint file.", completion: .file())
        var checkpoints: String?
        @Option(help: "The public key, as 'expungectl ledger' shows it.")
        var key: String?
        @Flag(help: "The checkpoint file is older than the export; later entries are not judged.")
        var earlier = false
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            let given = [entries, checkpoints, key].count { $0 != nil }
            guard given == 0 || given == 3 else {
                throw ValidationError("--entries, --checkpoints and --key go together")
            }
            guard !earlier || given == 3 else {
                throw ValidationError("--earlier goes with --entries, --checkpoints and --key")
            }
            guard key.map({ NoteKey($0) != nil }) ?? true else {
                throw ValidationError("--key is no verifier key")
            }
        }

        func run() async throws {
            let ledger = try await Progress(global).during("comparing every entry") {
                if let compared = try offline() { return compared }
                return try await global.call(.verifyLedger)
            }
            try global.print(ledger, LedgerReport.text(ledger))
            guard ledger.state.known == .sound else { throw CommandStatus.damaged }
        }

        private func offline() throws -> WireLedger? {
            guard let entries, let checkpoints, let key = key.flatMap({ NoteKey($0) }) else {
                return nil
            }
            let audit = LedgerAudit.compare(
                entries: try InputFile.bytes(entries, countMax: Self.byteCountMax),
                notes: try InputFile.bytes(checkpoints, countMax: Self.byteCountMax),
                key: key,
                isEarlier: earlier
            )
            var ledger = WireLedger(
                key: key.description,
                state: audit.findingCount == 0 ? .sound : .damaged,
                entries: audit.frontier.size
            )
            ledger.covered = audit.covered?.size ?? 0
            ledger.checkpointAt = audit.covered?.time
            ledger.checkpoints = audit.checkpointCount
            ledger.findings = audit.findings.map {
                WireLedgerFinding(kind: $0.kind.rawValue, position: $0.position)
            }
            ledger.findingCount = audit.findingCount
            return ledger
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print every entry as it was hashed, one per line.",
            discussion: "The output is the same with --json: each entry is a line of JSON."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try await global.withClient { client in
                var index: Int? = 0
                while let from = index {
                    let page = try await client.call(.ledgerEntries(from: from))
                    if !page.entries.isEmpty {
                        Console.write(page.entries.joined(separator: "\n"))
                    }
                    index = page.next
                }
            }
        }
    }

    struct AcceptRollback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Continue with a state that is older than its checkpoints, or was changed."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try await global.show(.acceptRollback, LedgerReport.text)
        }
    }
}

enum LedgerReport {
    static func text(_ ledger: WireLedger) -> String {
        var facts = Table("state", ledger.state.description)
        facts.add("key", ledger.key)
        facts.add("entries", "\(ledger.entries)")
        facts.add("covered", "\(ledger.covered)")
        if let time = ledger.checkpointAt { facts.add("checkpoint", time.rfc3339) }
        if let count = ledger.checkpoints { facts.add("checkpoints", "\(count)") }
        guard ledger.findingCount > 0 else { return facts.text }
        facts.add("findings", "\(ledger.findingCount)")
        var findings = Table("FINDING", "AT")
        for finding in ledger.findings { findings.add(finding.kind, "\(finding.position)") }
        return facts.text + "\n" + findings.text
    }
}
