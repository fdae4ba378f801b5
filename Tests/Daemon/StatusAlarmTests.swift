import Control
import FoundationEssentials
import Testing

@testable import Daemon

@Suite("The alarms of a status") struct StatusAlarmTests {
    @Test("the guide explains each alarm, and no other")
    func table() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let page = try Data(contentsOf: URL(filePath: root + "/docs/guides/monitoring.md"))
        let rows = String(decoding: page, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0 != "| alarm | what it means, and what to do |" }.dropFirst(2)
            .prefix { $0.hasPrefix("| `") }
        let cells = rows.map { $0.dropFirst().prefix { $0 != "|" } }
        let names = cells.flatMap { $0.matches(of: /`([a-z_]+)`/).map { String($0.1) } }
        // A cause alone ends no alarm, and neither does a link to it.
        let orders: Set<Substring> = [
            "Check", "Close", "Correct", "Delete", "Drop", "Free", "Grant", "Install", "Provide",
            "Put", "Repair", "Restore", "See", "see",
        ]
        for row in rows where !row.contains("`expungectl ") {
            let sentences = row.replacing("[", with: "").split { "|.:;".contains($0) }
            let first = sentences.compactMap { $0.split(separator: " ").first }
            #expect(!orders.isDisjoint(with: first), "no way to end it: \(row)")
        }
        #expect(Set(names) == Set(StatusAlarm.allCases.map(\.code)))
        #expect(names.count == StatusAlarm.allCases.count)
    }

    @Test("the status page has a sentence for each alarm")
    func page() {
        #expect(Set(PageText.alarms.keys) == Set(StatusAlarm.allCases.map(\.code)))
    }
}
