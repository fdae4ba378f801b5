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
        // A link, a command or an order; a cause alone ends no alarm.
        let orders = [
            "](", "`expungectl ", "| Check ", "| Close ", ". Delete ", ". Drop ", ". Free ",
            ". Grant ",
        ]
        for row in rows where !orders.contains(where: { row.contains($0) }) {
            Issue.record("no way to end it: \(row)")
        }
        #expect(Set(names) == Set(StatusAlarm.allCases.map(\.code)))
        #expect(names.count == StatusAlarm.allCases.count)
    }

    @Test("the status page has a sentence for each alarm")
    func page() {
        #expect(Set(PageText.alarms.keys) == Set(StatusAlarm.allCases.map(\.code)))
    }
}
