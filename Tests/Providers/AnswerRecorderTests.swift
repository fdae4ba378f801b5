import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

/// A vendor's answer is recorded, redacted, and only of what was asked about the user's token.
@Suite("Answers for people")
struct AnswerRecorderTests {
    private static func answer(
        to purpose: AnswerRecorder.Purpose = .token,
        _ react: @escaping @Sendable (String) -> RawServer.Reaction,
        _ body: @escaping @Sendable (OAuth2Provider) async -> Void
    ) async throws -> VendorAnswer? {
        let recorder = AnswerRecorder(purpose)
        try await RawServer.with(react: react) { server in
            let settings = OAuth2Harness.at(server, .standard, check: .refresh)
            try await OAuth2Harness.with(settings) { provider in
                await AnswerRecorder.$current.withValue(recorder) { await body(provider) }
            }
        }
        return recorder.lastAnswer
    }

    @Test(
        "status, code and words, whatever the form",
        arguments: [
            (
                .json(400, #"{"error":"invalid_request","error_description":"Bad token form"}"#),
                VendorAnswer(
                    Refusal(status: 400, error: "invalid_request"),
                    words: "Bad token form"
                )
            ),
            (
                .json(
                    400,
                    #"{"error":{"message":"No such user","code":10,"error_subcode":1363041}}"#
                ),
                VendorAnswer(Refusal(status: 400, error: "10/1363041"), words: "No such user")
            ),
            (
                .json(422, #"{"message":"Not 'alice' again"}"#),
                VendorAnswer(Refusal(status: 422), words: "Not … again")
            ),
            (
                .json(403, #"{"message":"Forbidden"}"#),
                VendorAnswer(Refusal(status: 403), words: "Forbidden")
            ),
            (.http(503), VendorAnswer(Refusal(status: 503))),
            (.http(429), VendorAnswer(Refusal(status: 429))),
            (Golden.html(502), VendorAnswer(Refusal(status: 502))),
            (Golden.html(200), VendorAnswer(Refusal(status: 200))),
        ] as [(RawServer.Reaction, VendorAnswer)]
    )
    func forms(_ form: RawServer.Reaction, _ answer: VendorAnswer) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in form }
        let recorded = try await Self.answer(react) {
            _ = await $0.revoke(OAuth2Harness.credential(.refreshToken))
        }
        #expect(recorded == answer)
    }

    @Test("a made-up token takes no place of the user's")
    func probes() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains(RefusalJudge.madeUp.exposeText())
                ? .json(400, #"{"error":"invalid_grant","error_description":"Of the probe"}"#)
                : .json(422, #"{"error":"odd","error_description":"Of the user"}"#)
        }
        let recorded = try await Self.answer(react) {
            _ = await $0.revoke(OAuth2Harness.credential(.refreshToken))
            _ = await $0.diagnose()
        }
        #expect(recorded == VendorAnswer(Refusal(status: 422, error: "odd"), words: "Of the user"))
    }

    @Test("a key set that is missing is no answer about a token")
    func keys() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            .json(404, #"{"error":"odd"}"#)
        }
        let recorded = try await Self.answer(react) { provider in
            guard case .found(let endpoint) = await provider.endpoints.find(.revocation) else {
                Issue.record("there is no endpoint")
                return
            }
            _ = await provider.http.keySet(at: endpoint)
        }
        #expect(recorded == nil)
    }

    @Test("the answer to a code is kept without words")
    func code() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            .json(400, #"{"error":"odd","error_description":"Not today"}"#)
        }
        let recorded = try await Self.answer(to: .code, react) {
            _ = await $0.exchange(OAuth2Harness.credential(.authorizationCode))
        }
        #expect(recorded == VendorAnswer(Refusal(status: 400, error: "odd")))
    }

    @Test("a check says what was answered")
    func check() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            .json(401, #"{"error":"invalid_client","error_description":"Client is locked"}"#)
        }
        try await RawServer.with(react: react) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, .standard)) { provider in
                let found = await provider.examine()?.finding
                #expect(found?.contains("in its words: Client is locked") == true)
            }
        }
    }
}
