import Control
import Encoding
import Lifecycle
import Testing

extension ControlSuite {
    /// How the program refuses, and what its help says.
    @Suite struct CommandLineTests {
        private static let id = Samples.requestID.description

        @Test(arguments: [
            (
                ControlProblem.Code.requestNotFound, Int32(3),
                "find requests with: expungectl list" as String?
            ),
            (.tooLate, 4, "see what was done with: expungectl show ID"),
            (.intakePaused, 1, "start it with: expungectl intake resume"),
            (.sameOperator, 4, "another person must approve it, from a login of their own"),
            // The text says all: what has the wrong state may be the guard, and not a request.
            (.wrongState, 4, nil), (.filterRefused, 1, nil),
        ])
        func `a problem becomes an error, a hint and a code`(
            problem: ControlProblem.Code,
            code: Int32,
            hint: String?
        ) async throws {
            let backend = FakeBackend(expecting: [.cancelRequest], problem: .init(problem))
            try await TestServer.run(backend) { server in
                let outcome = try await ProgramRun.run(
                    ["cancel", Self.id],
                    socket: server.controlPath
                )
                let text =
                    "error: \(problem.title) (\(problem.rawValue))\n"
                    + (hint.map { "hint: \($0)\n" } ?? "")
                #expect(outcome == ProgramRun.Outcome(code: code, out: "", err: text))
            }
        }

        @Test func `no daemon is its own code`() async throws {
            let outcome = try await ProgramRun.run(["status"])
            #expect(outcome.code == 5 && outcome.out.isEmpty)
            #expect(
                outcome.err == """
                    error: cannot reach the daemon at '/nowhere/control.sock' (unreachable)
                    hint: is expunged running? see: systemctl status expunged; expungectl doctor

                    """
            )
        }

        @Test(arguments: [
            ["explode"], ["show"], ["show", "42"], ["hold"], ["plan"], ["approve", id],
            ["list", "--limit", "0"],
            ["delete-account", "a", "--option", "token=1"],
            ["abandon", Samples.requestID.description],
            ["delete-account", "a\nb"], ["providers", "pause", "../x"],
        ])
        func `wrong usage is told without asking the daemon`(_ arguments: [String]) async throws {
            let outcome = try await ProgramRun.run(arguments)
            #expect(outcome.code == 64 && outcome.out.isEmpty)
            #expect(outcome.err.hasPrefix("error: "), "\(outcome.err)")
        }

        @Test func `an empty secret is refused before anything is sent`() async throws {
            let words = ["store-credential", "alice", "apple", "--kind", "refresh_token"]
            let outcome = try await ProgramRun.run(words)
            #expect(outcome.code == 1)
            #expect(
                outcome.err == "error: cannot read input at '-' (empty): put the secret into it\n"
            )
        }

        @Test(
            arguments: [
                (["--json", "stauts"], 64, "'stauts' is no command of expungectl"),
                (["help", "stauts", "--json"], 64, "'stauts' is no command of expungectl"),
                (["help", "--json", "stauts"], 64, "'stauts' is no command of expungectl"),
                (["list", "--limit", "0", "--json"], 64, "--limit must be 1 to 1000"),
                (["report", "--csv", "--json"], 64, "choose one of --html, --csv and --json"),
                (["hold", "--json"], 64, "name either a request, a --user or a --store"),
                (
                    ["status", "--json"], 5,
                    "cannot reach the daemon at '/nowhere/control.sock' (unreachable)"
                ),
                (
                    ["store-credential", "a", "apple", "--kind", "refresh_token", "--json"], 1,
                    "cannot read input at '-' (empty): put the secret into it"
                ),
            ] as [([String], Int32, String)]
        )
        func `with --json an error is one line of JSON`(
            words: [String],
            code: Int32,
            message: String
        ) async throws {
            let outcome = try await ProgramRun.run(words)
            #expect(outcome.code == code && outcome.out.isEmpty)
            let error = try #require(JSONValue(Array(outcome.err.utf8)), "\(outcome.err)")
            #expect(error["error"]?.string == message)
            #expect(error["exit_status"]?.number == Double(code))
        }

        @Test func `with --json an exit status of its own has a line of JSON, too`() async throws {
            try await TestServer.run(FakeBackend(expecting: [.verifyLedger])) { server in
                let words = ["ledger", "verify", "--json"]
                let outcome = try await ProgramRun.run(words, socket: server.controlPath)
                let error = try #require(JSONValue(Array(outcome.err.utf8)), "\(outcome.err)")
                #expect(outcome.code == 13 && error["exit_status"]?.number == 13)
                #expect(error["error"]?.string == "the ledger does not match its checkpoints")
            }
        }

        @Test func `with --json a refusal has its code and hint`() async throws {
            let backend = FakeBackend(expecting: [.cancelRequest], problem: .init(.tooLate))
            try await TestServer.run(backend) { server in
                let words = ["cancel", Self.id, "--json"]
                let outcome = try await ProgramRun.run(words, socket: server.controlPath)
                let error = try #require(JSONValue(Array(outcome.err.utf8)), "\(outcome.err)")
                #expect(outcome.code == 4 && error["code"]?.string == "too_late")
                #expect(error["hint"]?.string == "see what was done with: expungectl show ID")
            }
        }

        @Test func `expungectl(1) has each command with all its options`() async throws {
            let dump = try await ProgramRun.run(["--experimental-dump-help"])
            let table = try #require(JSONValue(Array(dump.out.utf8))?["command"])
            let expected = Synopsis.lines(of: table, ["expungectl"])
            #expect(expected.count > 40)
            let parts = try Repository.read("docs/man/expungectl.1")
                .replacing("\\-", with: "-").split(separator: "\n.SH ", maxSplits: 3)
            #expect(parts[2].hasPrefix("SYNOPSIS\n"))
            let printed = parts[2].split(separator: "\nexpungectl ").dropFirst().map { text in
                let words = text.split { " \n".contains($0) }.filter { $0 != ".fi" }
                return "expungectl " + words.joined(separator: " ")
            }
            let (known, found) = (Set(expected), Set(printed))
            #expect(known.subtracting(found) == [], "missing in the page")
            #expect(
                found.subtracting(known) == ["expungectl [--json] [--socket PATH] COMMAND"],
                "not in the program"
            )
            let names = Set(expected.flatMap(Synopsis.options))
            #expect(names.count > 30)
            for name in names { #expect(parts[3].contains(name), "\(name) has no explanation") }
        }

        @Test func `expungectl(1) lists the commands and exit codes of --help`() async throws {
            let help = try await ProgramRun.run(["--help"])
            #expect(help.code == 0)
            let page = try Repository.read("docs/man/expungectl.1")
                .replacing("\\-", with: "-").split(separator: "\n")
            let sections = help.out.split(separator: "SUBCOMMANDS:").dropFirst()
            let commands = sections.flatMap { section in
                section.split(separator: "\n")
                    .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
                    .compactMap { $0.split(separator: " ").first }
            }.filter { $0 != "See" }
            #expect(commands.count > 20)
            for command in commands { #expect(page.contains(".B \(command)"), "\(command)") }
            let codes = help.out.split(separator: "\n")
                .compactMap { line -> (Substring, String)? in
                    let words = line.split(separator: " ")
                    guard let first = words.first, Int(first) != nil else { return nil }
                    return (first, words.dropFirst().joined(separator: " "))
                }
            #expect(codes.count == 13)
            for (code, text) in codes {
                let index = try #require(page.firstIndex(of: ".B \(code)"))
                #expect(page[index + 1] == text)
            }
        }

        @Test(arguments: [
            ("bash", "expungectl.bash"), ("zsh", "_expungectl"), ("fish", "expungectl.fish"),
        ])
        func `the completions under version control are the generated ones`(
            shell: String,
            file: String
        ) async throws {
            let outcome = try await ProgramRun.run(["--generate-completion-script", shell])
            #expect(outcome.code == 0)
            try Repository.expect("completions/\(file)", is: outcome.out)
        }
    }
}
