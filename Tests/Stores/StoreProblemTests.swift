import Engine
import Lifecycle
import Testing

@testable import Stores

struct StoreProblemTests {
    @Test func `a problem names the section of its rule, and takes no remedy from names`()
        async throws
    {
        let app = try AppDatabase("CREATE TABLE t(u TEXT); CREATE TABLE o(u TEXT)")
        let rules = [
            TableRule(table: "t", column: "u", action: .delete),
            TableRule(table: "x; run: y", column: "u", action: .delete),
            TableRule(table: "o", column: "absent", action: .delete),
        ]
        let found = await app.store(rules[0], rules[1], rules[2]).inspect(withOutages: true)
        #expect(
            found.problems == [
                StoreProblem("table 'x; run: y' does not exist", in: "table[1]"),
                StoreProblem("table 'o' has no column 'absent'", in: "table[2]"),
            ]
        )
    }

    @Test func `a remedy follows the text of its problem`() {
        let problem = StoreProblem("no right", in: "table[0]", remedy: "GRANT SELECT ON t TO r;")
        #expect(problem.description == "no right; run: GRANT SELECT ON t TO r;")
        #expect(StoreProblem("no file").description == "no file")
    }
}
