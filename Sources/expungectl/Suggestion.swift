import ArgumentParser
import Lifecycle

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
