import Control
import Lifecycle
import Testing

@testable import expungectl

extension ControlSuite {
    @Suite struct ReplayFileTests {
        private static let since = "2026-11-20T03:00:00Z"

        @Test("a line means all stores, or with a name that one, and with a time its restoration")
        func lines() throws {
            let file = try ReplayFile(
                Array(
                    """
                    # what was restored
                    \(Self.since)

                    \(Self.since)\tapp-db
                      2026-11-20T04:00:00Z uploads 2026-11-21T08:00:00Z \r
                    """.utf8
                )
            )
            let since = try #require(WallTime(rfc3339: Self.since))
            var last = ReplayTerms(
                since: try #require(WallTime(rfc3339: "2026-11-20T04:00:00Z")),
                store: StoreName("uploads")
            )
            last.restoredAt = WallTime(rfc3339: "2026-11-21T08:00:00Z")
            #expect(
                file.orders == [
                    ReplayTerms(since: since),
                    ReplayTerms(since: since, store: StoreName("app-db")),
                    last,
                ]
            )
        }

        @Test(
            "what is no time, no name or too much is an error that names the line",
            arguments: [
                "yesterday", "\(since) app/db", "\(since) app-db soon",
                "\(since) app-db \(since) more", "app-db \(since)",
            ]
        )
        func wrongLine(_ line: String) {
            do {
                _ = try ReplayFile(Array("\(Self.since)\n\(line)\n".utf8))
                Issue.record("took the line")
            } catch {
                #expect("\(error)".contains("line 2 of the file"))
            }
        }

        @Test("a file without a time replays nothing and says so", arguments: ["", "\n# none\n"])
        func empty(_ text: String) {
            #expect(throws: (any Error).self) { try ReplayFile(Array(text.utf8)) }
        }
    }
}
