import Control
import Encoding
import FoundationEssentials
import Glibc
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
            "README.txt", "check.json", "journal.txt", "ledger.json", "machine.txt",
            "metrics.txt", "providers.json", "settings.toml", "status.json", "stores.json",
        ]

        /// Events that may quote the configuration, a path, or what a store answered.
        private static let quotes: Set<JournalEvent> = [
            .configurationRefused, .serviceFailed, .caution, .vaultSealed, .checkpointFailed,
            .purgeBlocked, .componentUnfit,
        ]

        private static let operations: Set<Operation> = [
            .showSettings, .status, .listProviders, .listStores, .showLedger, .metrics,
        ]

        /// What journalctl(1) prints, which only root and a group may read.
        private static let journal = "2026-11-23T03:00:00+0000 expunged[1]: Started."

        /// What `expunged --check --json` prints, with texts of the configuration and of a store.
        private static let checked = """
            {"ok": false, "configuration": "[intake]\\npaused = 'ann@example.com'\\n", "findings": [
              {"severity": "error", "place": "/home/letters/a.toml:12: store.app-db.table[0]",
               "reason": "table 'posts.editor' does not exist", "remedy": "see 'editor'"},
              {"severity": "error", "place": "a.toml:3", "code": "unknown_key",
               "reason": "cannot use dedline (unknown_key): no such key", "remedy": "remove it"},
              {"severity": "warning", "place": "a.toml:9: store.app-db: posts.editor",
               "reason": "it looks like user data", "remedy": "give it a rule"},
              {"severity": "error", "place": "/home/letters", "reason": "no", "remedy": "no"},
              {"severity": "warning", "place": "clock", "reason": "ahead", "remedy": "set it"}]}
            """

        /// The texts by file name of the archive that a run writes, which goes; the journal and
        /// the check are arranged ones.
        private static func bundle(
            _ socket: String,
            journal: String = Self.journal,
            isTooSlow: Bool = false,
            code: Int32
        ) async throws -> [String: String] {
            let files = FileManager.default
            let place = "/tmp/expunged-bundle-\(UUID())"
            defer { #expect(throws: Never.self) { try files.removeItem(atPath: place) } }
            let programs = place + "/programs"
            try files.createDirectory(atPath: programs, withIntermediateDirectories: true)
            let version = "[ \"$1\" = --version ] && exec echo expunged 0.1.0"
            var scripts = [
                "journalctl": "cat <<'END'\n\(journal)\nEND",
                "expunged": "\(version)\ncat <<'END'\n\(checked)\nEND",
            ]
            // Ends as timeout(1) does after the time.
            if isTooSlow { scripts["timeout"] = "shift; \"$@\"; exit 124" }
            for (name, script) in scripts {
                let program = "\(programs)/\(name)"
                try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: program))
                #expect(unsafe chmod(program, 0o755) == 0)
            }
            let archive = place + "/bundle.tar"
            let outcome = try await ProgramRun.run(
                ["support-bundle", archive],
                socket: socket,
                programs: programs + ":",
                path: ":/usr/bin:/bin"
            )
            #expect(outcome.code == code, "\(outcome.err)")
            let isWithoutJournal = outcome.err.contains("error: the bundle lacks ")
            #expect(isWithoutJournal == (code == 77), "\(outcome.err)")
            #expect(FileBytes.output(of: "exec 2>&1; stat -c %a \(archive)", atMost: 99) == "600\n")
            let unpacked = FileBytes.output(
                of: "exec 2>&1; cd \(place) && tar -xvf \(archive)",
                atMost: 1 << 16
            )
            var texts: [String: String] = [:]
            for line in unpacked.split(separator: "\n") {
                let data = try Data(contentsOf: URL(filePath: "\(place)/\(line)"))
                let name = try #require(line.split(separator: "/").last)
                #expect(line == "expunged-support/\(name)")
                texts["\(name)"] = String(decoding: data, as: UTF8.self)
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
            let found = try #require(JSONValue(Array(texts["check.json"]?.utf8 ?? "".utf8)))
            let expected: [JSONValue] = [
                ["severity": "error", "line": 12, "key": "store.app-db.table[0]"],
                ["severity": "error", "code": "unknown_key", "line": 3],
                ["severity": "warning", "line": 9, "key": "store.app-db"],
                ["severity": "error"], ["severity": "warning", "place": "clock"],
            ]
            #expect(found.array == expected)
        }

        @Test func `the journal of a bundle has no entry with the text of something else`() {
            let command = BundleFile.journal.command
            for event in JournalEvent.allCases {
                let isQuote = Self.quotes.contains(event)
                #expect(command.contains("=\(event.messageID) ") != isQuote, "\(event)")
            }
        }

        @Test func `a day without entries is no failure`() async throws {
            let backend = FakeBackend(expecting: Self.operations)
            let texts = try await TestServer.run(backend) { server in
                try await Self.bundle(server.controlPath, journal: "-- No entries --", code: 0)
            }
            #expect(texts["README.txt"]?.contains("the bundle lacks") == false)
        }

        @Test(arguments: [true, false])
        func `a journal that is cut short is no whole bundle`(isTooSlow: Bool) async throws {
            let backend = FakeBackend(expecting: Self.operations)
            let count = BundleFile.entriesMax + (isTooSlow ? 0 : 1)
            let journal = Array(repeating: "2026-11-23T03:00:00+0000 e", count: count)
            let texts = try await TestServer.run(backend) { server in
                try await Self.bundle(
                    server.controlPath,
                    journal: journal.joined(separator: "\n"),
                    isTooSlow: isTooSlow,
                    code: 77
                )
            }
            let readme = texts["README.txt"] ?? ""
            #expect(readme.contains("the bundle lacks a part of the journal: it was too long or"))
            #expect(texts["journal.txt"]?.contains(BundleFile.timeoutMark) == isTooSlow)
        }

        @Test(arguments: [
            "No journal files were found.\n-- No entries --",
            "No journal files were opened due to insufficient permissions.",
            "Hint: You are currently not seeing messages from other users.\n-- No entries --",
            "sh: 1: journalctl: not found",
        ])
        func `without a journal that can be read a bundle says so`(printed: String) async throws {
            let backend = FakeBackend(expecting: Self.operations)
            let texts = try await TestServer.run(backend) { server in
                try await Self.bundle(server.controlPath, journal: printed, code: 77)
            }
            #expect(Set(texts.keys) == Self.files)
            #expect(texts["journal.txt"]?.contains(printed) == true)
            let readme = texts["README.txt"] ?? ""
            #expect(readme.contains("the bundle lacks the journal: you may not read it, or there"))
        }

        @Test func `without the service a bundle says what is missing`() async throws {
            let texts = try await Self.bundle("/nowhere/control.sock", code: 5)
            let own = ["README.txt", "check.json", "journal.txt", "machine.txt", "settings.toml"]
            #expect(texts.keys.sorted() == own)
            #expect(texts["settings.toml"]?.hasPrefix("[intake]\npaused = '(address)'\n") == true)
            #expect(texts["README.txt"]?.contains("settings.toml: what the file says; ") == true)
            #expect(texts["machine.txt"]?.hasPrefix("expungectl 0.1.0\nexpunged 0.1.0\n") == true)
            #expect(texts["check.json"]?.contains("store.app-db.table[0]") == true)
            #expect(texts["README.txt"]?.contains("status.json is missing: cannot reach") == true)
        }

        @Test(arguments: ["", "expunged: killed", "[1]", #"{"findings": "dedline"}"#])
        func `of a check that prints something else nothing is written`(printed: String) {
            #expect(SupportBundle.places(printed) == "")
        }

        @Test func `a file that exists is left alone`() async throws {
            let outcome = try await ProgramRun.run(["support-bundle", "/"])
            #expect(outcome.code == 1)
            #expect(outcome.err.hasPrefix("error: cannot write '/' (unwritable): file exists\n"))
        }
    }
}
