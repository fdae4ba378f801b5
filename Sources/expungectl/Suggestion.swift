import ArgumentParser

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
        for word in words {
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

    /// The one with the fewest typing errors, at most one per three letters, or that begins so.
    private static func nearest(_ word: String, _ names: [String]) -> String? {
        let word = word.lowercased().replacing("_", with: "-")
        let best = names.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
        if let (name, distance) = best, distance <= max(1, min(word.count, name.count) / 3) {
            return name
        }
        return word.count > 1 ? names.first { $0.hasPrefix(word) } : nil
    }

    /// Inserted, missing, wrong and swapped letters (optimal string alignment).
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        var before: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let isSame = left[row] == right[column]
                var least = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1)
                least = min(least, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    least = min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            (before, last) = (last, current)
        }
        return last[right.count]
    }
}
