import Control
import Encoding
import FoundationEssentials
import Lifecycle
import Testing

@testable import expungectl

extension ControlSuite {
    @Suite struct SupportBundleTests {
        /// What stands in the samples of the fake backend and must not leave the machine.
        private static let canaries = [
            "ann@example.com", "dedline", "'editor'", "posts.editor", "posts/*", "letters",
            "answered as its configuration",
        ]

        private static let files: Set = [
            "README.txt", "journal.txt", "ledger.json", "machine.txt", "metrics.txt",
            "providers.json", "settings.toml", "status.json", "targets.json",
        ]

        /// Events whose free text is a name of the configuration, a code, a count or a time.
        private static let harmless: Set<JournalEvent> = [
            .watchdogNotFed, .storageFailed, .vaultOpened, .codeExpired, .keyRotationStarted,
            .keyRotationFinished, .ledgerCheckpoint, .replayStarted, .dataReturned,
            .requestRejected, .requestParked, .deadlineNear, .deadlinePassed, .outageEnded,
            .queueQuarantined, .queueUnwritable, .queueIrregular, .queueBack, .recipientsRefused,
            .clockStepped,
        ]

        private static let operations: Set<Operation> = [
            .showSettings, .status, .listProviders, .listTargets, .showLedger, .metrics,
        ]

        /// The texts by file name of the bundle that a run writes to a directory, which goes.
        private static func bundle(_ socket: String, code: Int32) async throws -> [String: String] {
            let files = FileManager.default
            let place = "/tmp/expunged-bundle-\(UUID())"
            defer { #expect(throws: Never.self) { try files.removeItem(atPath: place) } }
            let outcome = try await ProgramRun.run(["support-bundle", place], socket: socket)
            #expect(outcome.code == code, "\(outcome.err)")
            var texts: [String: String] = [:]
            for name in try files.contentsOfDirectory(atPath: place) {
                let data = try Data(contentsOf: URL(filePath: "\(place)/\(name)"))
                texts[name] = String(decoding: data, as: UTF8.self)
            }
            return texts
        }

        @Test func `a bundle has every file, and nothing that is planted`() async throws {
            let backend = FakeBackend(expecting: Self.operations)
            let texts = try await TestServer.run(backend) { server in
                try await Self.bundle(server.controlPath, code: 0)
            }
            #expect(Set(texts.keys) == Self.files)
            for (name, text) in texts {
                #expect(Self.canaries.filter { text.contains($0) } == [], "\(name)")
            }
            #expect(texts["settings.toml"]?.contains("from = \"(address)\"") == true)
            #expect(texts["status.json"]?.contains("configuration_refused") == true)
            for name in Self.files.subtracting(["README.txt"]) {
                #expect(texts["README.txt"]?.contains("\n\(name): ") == true, "\(name)")
            }
            #expect(backend.calls.map(\.facts).contains("shareable"))
        }

        @Test func `the journal of a bundle has no entry with the text of something else`() {
            let command = BundleFile.journal.command
            for event in JournalEvent.allCases {
                let template = event.template
                let isFree = template.contains("{error}") || template.contains("{detail}")
                let isQuote = isFree && !Self.harmless.contains(event) || event == .vaultSealed
                #expect(command.contains("=\(event.messageID) ") != isQuote, "\(event)")
            }
        }

        @Test func `without the service a bundle says what is missing`() async throws {
            let texts = try await Self.bundle("/nowhere/control.sock", code: 5)
            #expect(texts.keys.contains("machine.txt") && !texts.keys.contains("status.json"))
            #expect(texts["README.txt"]?.contains("status.json is missing: cannot reach") == true)
        }

        @Test func `a directory that exists is left alone`() async throws {
            let outcome = try await ProgramRun.run(["support-bundle", "/"])
            #expect(outcome.code == 1)
            #expect(outcome.err.hasPrefix("error: cannot write '/' (unwritable): file exists\n"))
        }
    }
}
