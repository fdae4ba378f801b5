import Encoding

/// How to write each command, by what `expungectl --experimental-dump-help` prints.
enum Synopsis {
    /// What every command takes, and the page says once.
    private static let common = ["help", "json", "socket", "version"]

    /// One line for each command that does something; `path` ends with the name of this one.
    static func lines(of command: JSONValue, _ path: [String]) -> [String] {
        guard let inner = command["subcommands"]?.array else {
            let words = (command["arguments"]?.array ?? []).compactMap(item)
            return [(path + words).joined(separator: " ")]
        }
        return inner.flatMap { child -> [String] in
            guard let name = child["commandName"]?.string, name != "help" else { return [] }
            return lines(of: child, path + [name])
        }
    }

    /// The options in a line, such as `--limit`.
    static func options(in line: String) -> [String] {
        line.split { "[] .".contains($0) }.filter { $0.hasPrefix("--") }.map(String.init)
    }

    private static func item(_ argument: JSONValue) -> String? {
        let name = argument["preferredName"]?["name"]?.string ?? ""
        guard !common.contains(name) else { return nil }
        let value = argument["valueName"]?.string?.uppercased() ?? ""
        let text =
            switch argument["kind"]?.string ?? "" {
            case "positional": value
            case "flag": "--" + name
            default: "--" + name + " " + value
            }
        let item = argument["isOptional"]?.bool == true ? "[\(text)]" : text
        return argument["isRepeating"]?.bool == true ? item + "..." : item
    }
}
