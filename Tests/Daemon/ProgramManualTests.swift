import FoundationEssentials
import Testing

@testable import Daemon

@Suite("expunged(8)") struct ProgramManualTests {
    private let page: [Substring]

    init() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let bytes = try Data(contentsOf: URL(filePath: root + "/docs/man/expunged.8"))
        page = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    @Test("lists every exit status, and no other; the help has the same")
    func statuses() throws {
        let section = page.drop { $0 != ".Sh EXIT STATUS" }.dropFirst()
            .prefix { !$0.hasPrefix(".Sh ") }
        let listed = section.filter { $0.hasPrefix(".It ") }.compactMap { Int32($0.dropFirst(4)) }
        #expect(listed == ExitStatus.allCases.map(\.rawValue))
        let help = try #require(DaemonOptions.help.split(separator: "Exit status: ").last)
        let words = help.split { !$0.isNumber }.compactMap { Int32($0) }
        #expect(words == ExitStatus.allCases.map(\.rawValue))
    }

    @Test("lists every option of the help, and no other")
    func options() {
        let inHelp = Set(DaemonOptions.help.matches(of: /--[a-z][a-z-]*/).map { String($0.0) })
        let listed = Set(
            page.filter { $0.hasPrefix(".It Fl ") }.flatMap { line in
                line.split(separator: " ").filter { $0.hasPrefix("-") }.map { "-" + String($0) }
            }
        )
        // An option of `state migrate`, which stands with it.
        #expect(inHelp.subtracting(["--from"]) == listed.union(["--help"]))
        #expect(page.contains { $0.contains("Fl -from") } && inHelp.count > 10)
    }
}
