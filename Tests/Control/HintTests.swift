import Encoding
import FoundationEssentials
import Testing

extension ControlSuite {
    /// Commands that hints, journal entries, manual pages and examples name.
    @Suite struct HintTests {
        /// What follows the program's name where a text is about the program.
        private static let prose: Set = ["contains", "for", "from", "of", "swift", "-"]

        @Test func `each command that a text names exists and takes its arguments`() async throws {
            let dump = try await ProgramRun.run(["--experimental-dump-help"])
            let program = try #require(JSONValue(Array(dump.out.utf8))?["command"])
            var named: Set<[String]> = []
            for folder in ["Sources", "Config", "docs/man", "systemd"] {
                for path in try Self.files(below: folder) {
                    let isCode = path.hasSuffix(".swift")
                    let text = Self.unwrapped(try Repository.read(path), isCode: isCode)
                    named.formUnion(Self.commands(in: text))
                }
            }
            #expect(named.count > 30)
            for words in named {
                #expect(Self.fault(of: words, in: program) == nil, "\(words)")
            }
        }

        @Test(
            arguments: [
                (["explode"], "has no 'explode'"), (["stores", "chek", "X"], "has no 'chek'"),
                (["show", "X", "Y"], "takes 1"), (["list", "--stat", "X"], "has no '--stat'"),
                (["abandon", "X"], "wants '--reason'"), (["stores", "check", "X"], nil),
                (["abandon", "X", "--reason", "X"], nil), (["replay", "--since", "X"], nil),
            ] as [([String], String?)]
        )
        func `a command that is written wrongly is found`(
            words: [String],
            fault: String?
        ) async throws {
            let dump = try await ProgramRun.run(["--experimental-dump-help"])
            let program = try #require(JSONValue(Array(dump.out.utf8))?["command"])
            #expect(Self.fault(of: words, in: program) == fault)
        }

        private static func files(below folder: String) throws -> [String] {
            let root = Repository.root + "/" + folder
            var files: [String] = []
            for name in try FileManager.default.contentsOfDirectory(atPath: root).sorted() {
                let path = folder + "/" + name
                let facts = try FileManager.default.attributesOfItem(atPath: root + "/" + name)
                if facts[.type] as? FileAttributeType == .typeDirectory {
                    files += try Self.files(below: path)
                } else if name.contains(".") {
                    files.append(path)
                }
            }
            return files
        }

        /// Without the ends of lines and what is filled in.
        private static func unwrapped(_ text: String, isCode: Bool) -> String {
            guard isCode else {
                return text.replacing("\\-", with: "-")
                    .replacing(/@EXPUNGED_[A-Z_]+@/, with: "X")
                    .replacing(/\s*\n[#.B]*\s*/, with: " ")
            }
            return text.replacing(/\\\n\s*/, with: "").replacing(/"\s*\+\s*"/, with: "")
                .replacing(#/\\\((?:[^()]|\([^()]*\))*\)/#, with: "X")
        }

        /// The words of each command behind the program's name, up to the end of what is typed.
        private static func commands(in text: String) -> [[String]] {
            text.matches(of: /expungectl((?: +[A-Za-z_-]+)+)/).compactMap { match in
                var words: [String] = []
                for word in match.1.split(separator: " ").map(String.init) {
                    let isPlaceholder = word.allSatisfy { $0.isUppercase || "_-".contains($0) }
                    let isValue = words.last?.hasPrefix("--") ?? false
                    let isName = words.count < 2 && word.allSatisfy { $0.isLowercase || $0 == "-" }
                    guard isPlaceholder || isValue || isName || word.hasPrefix("--") else { break }
                    words.append(word)
                }
                guard let first = words.first, first != first.uppercased(), !prose.contains(first)
                else { return nil }
                return words
            }
        }

        /// What is wrong with a command; `nil` for a right one, and for a name without arguments.
        private static func fault(of words: [String], in program: JSONValue) -> String? {
            var (command, rest) = (program, words[...])
            while let inner = command["subcommands"]?.array {
                if let next = inner.first(where: { $0["commandName"]?.string == rest.first }) {
                    rest.removeFirst()
                    command = next
                } else if rest.first?.hasPrefix("--") ?? true, let usual = inner.first {
                    command = usual
                } else {
                    return rest.first.map { "has no '\($0)'" }
                }
            }
            // A sentence may go on behind the name of a command.
            guard let first = rest.first, first.hasPrefix("--") || first == first.uppercased(),
                first != "--version"
            else { return nil }
            return fault(of: rest, for: command["arguments"]?.array ?? [])
        }

        private static func fault(
            of words: ArraySlice<String>,
            for arguments: [JSONValue]
        ) -> String? {
            var rest = words
            var options: Set<String> = []
            var count = 0
            while let word = rest.popFirst() {
                guard word.hasPrefix("--") else {
                    count += 1
                    continue
                }
                let name = String(word.dropFirst(2))
                guard let option = arguments.first(where: { self.name(of: $0) == name }) else {
                    return "has no '\(word)'"
                }
                options.insert(name)
                if option["kind"]?.string == "option" { _ = rest.popFirst() }
            }
            let places = arguments.filter { $0["kind"]?.string == "positional" }
            let least = places.count { $0["isOptional"]?.bool != true }
            let isRepeating = places.contains { $0["isRepeating"]?.bool == true }
            guard count >= least, isRepeating || count <= places.count else {
                return "takes \(places.count)"
            }
            let missing = arguments.first {
                $0["kind"]?.string == "option" && $0["isOptional"]?.bool != true
                    && !options.contains(name(of: $0))
            }
            return missing.map { "wants '--\(name(of: $0))'" }
        }

        private static func name(of argument: JSONValue) -> String {
            argument["preferredName"]?["name"]?.string ?? ""
        }
    }
}
