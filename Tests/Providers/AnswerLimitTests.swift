import HTTP
import Lifecycle
import Testing

@testable import Providers

/// What may come besides the body of an answer.
@Suite("How much of an answer is read")
struct AnswerLimitTests {
    /// What comes before the end of an answer that says success, and what becomes of the call.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let answer: RevokeAnswer

        var testDescription: String { name }
    }

    private static let hint = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    private static let success = "HTTP/1.1 200 OK\r\n"
    private static let end = "Content-Length: 0\r\n\r\n"

    private static func fields(_ byteCount: Int) -> String {
        String(repeating: "X-Field: 0123456789\r\n", count: byteCount / 21)
    }

    static let cases = [
        Case(
            name: "8 informational answers",
            text: String(repeating: hint, count: 8) + success + end,
            answer: .success
        ),
        Case(
            name: "9 informational answers",
            text: String(repeating: hint, count: 9) + success + end,
            answer: .failure(.unusable)
        ),
        Case(
            name: "5 KB of header fields",
            text: success + fields(5_000) + end,
            answer: .success
        ),
        // More than one read takes, so that the rest comes after the bound is passed.
        Case(
            name: "a chunk extension of 300 KB",
            text: success + "Transfer-Encoding: chunked\r\n\r\n0;x="
                + String(repeating: "y", count: 300_000) + "\r\n\r\n",
            answer: .failure(.unusable)
        ),
    ]

    @Test("what is besides the body has a bound", arguments: cases)
    func limit(_ one: Case) async throws {
        try await RawServer.with(answering: .bytes(Array(one.text.utf8))) { server in
            try await AppleHarness.with(server) { provider in
                let answer = await provider.revoke(AppleHarness.credential(.refreshToken))
                #expect(answer == one.answer)
            }
        }
    }
}
