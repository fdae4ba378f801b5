import Lifecycle
import Testing

/// What comes after an attempt to deliver a message.
struct MessageAttemptTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var failure: MessageFailure?
        var attempts = 0
        /// What the receiver asked for, in seconds.
        var asked: Int64?
        /// Seconds since the message was queued; it is tried for an hour.
        var age: Int64 = 0
        /// Seconds from now to the next attempt.
        var next: Int64?
        var isGivenUp = false

        var testDescription: String {
            "\(failure.map { $0.rawValue } ?? "delivered") after \(attempts) at \(age)"
        }
    }

    static let cases: [Case] = [
        Case(),
        Case(attempts: 9, age: 9000),
        Case(failure: .unreachable, next: 5),
        Case(failure: .unreachable, attempts: 1, next: 10),
        Case(failure: .lost, attempts: 40, next: 14_400),
        Case(failure: .refused, asked: 3, next: 5),
        Case(failure: .refused, asked: 90, next: 90),
        Case(failure: .misconfigured, age: 3599, next: 5),
        Case(failure: .misconfigured, age: 3600, isGivenUp: true),
        Case(failure: .rejected, isGivenUp: true),
        Case(failure: .addressLost, isGivenUp: true),
    ]

    @Test("a failure that is not final has another attempt while there is time", arguments: cases)
    func next(_ example: Case) throws {
        let asked = example.asked.map { Duration.seconds($0) }
        let attempt = MessageAttempt(
            of: try #require(MessageID("msg_1_0123456789abcdef")),
            attempts: example.attempts,
            begunAt: Sample.start - .seconds(example.age),
            SendResult(failure: example.failure, retryAfter: asked),
            retryFor: .seconds(3600),
            at: Sample.start
        )
        #expect(attempt.nextAt == example.next.map { Sample.start + .seconds($0) })
        #expect(attempt.isDelivered == (example.failure == nil))
        #expect(attempt.isGivenUp == example.isGivenUp)
        #expect(attempt.failure == example.failure?.rawValue)
    }

    @Test func `a message that did not reach each recipient is delivered, and says so`() throws {
        var result = SendResult.delivered
        result.refusedRecipients = [1]
        let attempt = MessageAttempt(
            of: try #require(MessageID("msg_1_0123456789abcdef")),
            attempts: 0,
            begunAt: Sample.start,
            result,
            retryFor: .seconds(3600),
            at: Sample.start
        )
        #expect(attempt.isDelivered)
        #expect(attempt.failure == "recipients_refused")
    }
}
