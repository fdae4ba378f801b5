import ArgumentParser
import CLinux
import ControlClient
import Lifecycle

/// The operator's client of the control API.
@main
struct Expungectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expungectl",
        abstract: "Submit account deletions to expunged and follow them.",
        discussion: """
            --json and --socket may stand before the command, or after it. A request's id may be \
            shortened to its first characters, at least 4.


            """ + CommandStatus.documentation,
        version: "expungectl 0.1.0",
        groupedSubcommands: [
            CommandGroup(
                name: "Requests:",
                subcommands: [
                    DeleteAccount.self, RevokeTokens.self, ListRequests.self, Show.self,
                    Plan.self, Approve.self, Cancel.self, Retry.self, Hold.self, Release.self,
                    Abandon.self, Reauthorize.self, Receipt.self, Wait.self, Events.self,
                ]
            ),
            CommandGroup(
                name: "Users:",
                subcommands: [Identities.self, StoreCredential.self, Forget.self]
            ),
            CommandGroup(
                name: "Provider notifications:",
                subcommands: [Notification.self, NotificationStatus.self]
            ),
            CommandGroup(
                name: "Service:",
                subcommands: [
                    Status.self, Watch.self, Report.self, Doctor.self, Config.self,
                    SupportBundle.self, Providers.self, Stores.self, Holds.self, Hosts.self,
                    Intake.self, Guard.self,
                    Messages.self, Vault.self, Ledger.self, Replay.self, Reload.self, Metrics.self,
                ]
            ),
        ]
    )

    /// Runs one command; every way to end has its documented code.
    static func main() async {
        // It holds codes and tokens for a moment. CLinux also keeps Dispatch from complaining to
        // syslog as an ordinary user: journald puts the command line, with the user id, beside it.
        _ = clinux_forbid_core_dumps()
        var arguments = CommandLine.arguments.dropFirst()
        clinux_hide_arguments()
        let leading = GlobalOptions.Leading(from: &arguments)
        let words = Array(arguments)
        await GlobalOptions.$leading.withValue(leading) { await run(words) }
    }

    private static func run(_ words: [String]) async {
        do {
            var command = try await asyncParseAsRoot(words)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as CommandStatus {
            guard GlobalOptions.leading.isJSON else { return Console.exit(error) }
            Console.fail(CommandFailure(message: error.reason, code: error))
        } catch let error as ControlClientError {
            Console.fail(error.failure)
        } catch let failure as CommandFailure {
            Console.fail(failure)
        } catch {
            end(parsing: error, words)
        }
    }

    /// Help and completion scripts go to stdout and succeed; everything else is wrong usage.
    private static func end(parsing error: any Error, _ words: [String]) {
        let isUsage = exitCode(for: error) != .success
        if isUsage || words.first == "help", let suggestion = Suggestion(words) {
            return Console.fail(suggestion.failure)
        }
        let full = fullMessage(for: error)
        guard isUsage else {
            Console.write(full)
            return Console.exit(.success)
        }
        // Programs get it without the usage.
        let message = GlobalOptions.leading.isJSON ? Self.message(for: error) : full
        let text = message.hasPrefix("Error: ") ? String(message.dropFirst(7)) : message
        Console.fail(CommandFailure(message: text, code: .usage))
    }
}

/// A word in the place of a command that is none, and the command that it may mean.
struct Suggestion {
    let word: String
    /// The words before it.
    let path: String
    let command: String?

    /// `nil` when every command on the line exists.
    init?(_ words: [String]) {
        var command: any ParsableCommand.Type = Expungectl.self
        var path = [Expungectl._commandName]
        for word in words where word != "--json" {
            let names = command.configuration.subcommands.map { $0._commandName }
            if word == "help" { continue }
            guard !names.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let index = names.firstIndex(of: word) else {
                self.word = Table.harmless(word)
                self.path = path.joined(separator: " ")
                self.command = Self.nearest(word, names)
                return
            }
            command = command.configuration.subcommands[index]
            path.append(word)
        }
        return nil
    }

    var failure: CommandFailure {
        CommandFailure(
            message: "'\(word)' is no command of \(path)",
            hint: command.map { "did you mean '\($0)'?" } ?? "see: \(path) --help",
            code: .usage
        )
    }

    /// The one with few typing errors, or that begins so.
    private static func nearest(_ word: String, _ names: [String]) -> String? {
        let word = word.lowercased().replacing("_", with: "-")
        return NearestName.find(word, in: names)
            ?? (word.count > 1 ? names.first { $0.hasPrefix(word) } : nil)
    }
}
