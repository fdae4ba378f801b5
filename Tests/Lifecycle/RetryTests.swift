import Lifecycle
import Testing

/// What every kind of work that is tried again keeps.
struct RetryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout Retry) -> Void
        /// Milliseconds after the start.
        let nextAt: Int64?
        let failures: Int
    }

    /// After two failures, with the next try a second after the start.
    static let cases: [Case] = [
        Case(
            testDescription: "later",
            change: { $0.postpone(until: at(9)) },
            nextAt: 9,
            failures: 2
        ),
        Case(
            testDescription: "earlier",
            change: { $0.postpone(until: at(-9)) },
            nextAt: -9,
            failures: 2
        ),
        Case(testDescription: "now", change: { $0.retryNow() }, nextAt: nil, failures: 0),
        Case(
            testDescription: "now, then later",
            change: {
                $0.retryNow()
                $0.postpone(until: at(9))
            },
            nextAt: 9,
            failures: 0
        ),
    ]

    @Test("only a retry forgets failures, and nothing forgets the reason", arguments: cases)
    func changed(_ example: Case) {
        var retry = Retry(failures: 2)
        (retry.nextAt, retry.lastFailure) = (Self.at(1000), "unreachable")
        example.change(&retry)
        #expect(retry.nextAt == example.nextAt.map(Self.at))
        #expect(retry.failures == example.failures)
        #expect(retry.lastFailure == "unreachable")
    }

    @Test("work waits until its time has come", arguments: [(-1, true), (0, false), (1, false)])
    func waits(_ after: Int64, _ isWaiting: Bool) {
        var retry = Retry()
        #expect(retry.wait(at: Self.at(0)) == nil)
        retry.postpone(until: Self.at(500))
        #expect(retry.wait(at: Self.at(500 + after)) == (isWaiting ? Self.at(500) : nil))
    }

    private static func at(_ milliseconds: Int64) -> WallTime {
        Sample.start + .milliseconds(milliseconds)
    }
}
