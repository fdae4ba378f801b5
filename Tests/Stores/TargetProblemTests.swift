import Engine
import Lifecycle
import Testing

@testable import Stores

struct TargetProblemTests {
    @Test func `a problem names the section of its rule, and takes no remedy from names`()
        async throws
    {
        let app = try AppDatabase("CREATE TABLE t(u TEXT); CREATE TABLE o(u TEXT)")
        let rules = [
            TableRule(table: "t", column: "u", action: .delete),
            TableRule(table: "x; run: y", column: "u", action: .delete),
            TableRule(table: "o", column: "absent", action: .delete),
        ]
        let found = await app.target(rules[0], rules[1], rules[2]).inspect(withOutages: true)
        #expect(
            found.problems == [
                TargetProblem("table 'x; run: y' does not exist", in: "table[1]"),
                TargetProblem("table 'o' has no column 'absent'", in: "table[2]"),
            ]
        )
    }

    @Test func `a remedy follows the text of its problem`() {
        let problem = TargetProblem("no right", in: "table[0]", remedy: "GRANT SELECT ON t TO r;")
        #expect(problem.description == "no right; run: GRANT SELECT ON t TO r;")
        #expect(TargetProblem("no file").description == "no file")
    }
}
