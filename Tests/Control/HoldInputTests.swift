import Control
import Lifecycle
import Testing

extension ControlSuite {
    @Suite struct HoldInputTests {
        @Test func `a body is read as it was written`() throws {
            let odd = RowFilter(
                table: "my table",
                conditions: [
                    RowFilter.Condition(column: "status", values: ["a=b", "", "it's"]),
                    RowFilter.Condition(column: "x", values: ["1"]),
                ]
            )
            for rows in [nil, Samples.heldRows, odd] {
                let input = HoldInput(store: StoreName("app-db"), rows: rows, reason: "case 7")
                #expect(try HoldInput(body: input.body) == input)
            }
            #expect(try OverrideInput(body: OverrideInput(count: 7).body).count == 7)
            #expect(try OverrideInput(body: []).count == nil)
        }

        @Test(arguments: [
            #"{}"#, #"{"store":"a b"}"#, #"{"store":"a","where":["x=1"]}"#,
            #"{"store":"a","table":"t"}"#, #"{"store":"a","table":"t","where":["x"]}"#,
            #"{"store":"a","table":"t","where":["=1"]}"#,
            #"{"store":"a","table":"t","where":["x=\u0007"]}"#,
            #"{"store":"a","table":"t","where":"x=1"}"#,
            #"{"store":"a","table":"t","where":[1]}"#,
        ])
        func `a hold that says too little or too much is refused`(_ body: String) {
            #expect(throws: ControlProblem.self) { _ = try HoldInput(body: Array(body.utf8)) }
        }

        @Test(arguments: ["0", "-1", "10000001", "\"7\"", "1.5"])
        func `an override is for a number of deletions`(_ count: String) {
            let body = Array("{\"count\":\(count)}".utf8)
            #expect(throws: ControlProblem.self) { _ = try OverrideInput(body: body) }
        }
    }
}
