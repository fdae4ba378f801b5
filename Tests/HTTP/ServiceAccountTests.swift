import Lifecycle
import Sandbox
import TestSupport
import Testing

@testable import HTTP

@Suite("service accounts")
struct ServiceAccountTests {
    @Test(
        "a key file that is none is refused without a word of what is in it",
        arguments: [
            "", "{}", #"{"type":"authorized_user","client_email":"e","private_key_id":"i"}"#,
            #"{"type":"service_account","client_email":"canary","private_key_id":"i"}"#,
        ]
    )
    func malformedKey(text: String) {
        let error = #expect(throws: SetupError.self) {
            try ServiceAccountKey(file: Secret(text), of: .store(StoreName("t")))
        }
        #expect(
            error?.description == "cannot set up store at 't' (malformed_service_account): the"
                + " credential is no JSON key file of a service account"
        )
    }

    @Test("many callers at once share one fetch, and the token is kept until it is nearly over")
    func caching() async throws {
        try await CloudBench.with { bench in
            let source = try bench.source()
            let tokens = await withTaskGroup(of: String.self) { group in
                for _ in 0..<32 { group.addTask { Self.text(await source.token()) } }
                return await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1 && tokens.first?.hasPrefix("ya29.") == true)
            #expect(bench.fetchCount == 1)
            bench.clock.move(by: .seconds(3_200))
            #expect(Self.text(await source.token()) == tokens.first)
            bench.clock.move(by: .seconds(120))
            #expect(Self.text(await source.token()) != tokens.first)
            #expect(bench.fetchCount == 2)
        }
    }

    @Test("a token that is nearly over is used while the token service is down, and not after")
    func outage() async throws {
        try await CloudBench.with { bench in
            let source = try bench.source()
            let first = Self.text(await source.token())
            bench.sandbox.inject(.serverError, at: .token, count: 2)
            bench.clock.move(by: .seconds(3_400))
            #expect(Self.text(await source.token()) == first)
            bench.clock.move(by: .seconds(300))
            #expect(Self.text(await source.token()) == "unusable_answer")
            bench.clock.move(by: .seconds(10))
            #expect(Self.text(await source.token()).hasPrefix("ya29."))
        }
    }

    @Test("a clock that is far off is a configuration error, not an outage")
    func clock() async throws {
        try await CloudBench.with { bench in
            let source = try bench.source()
            bench.sandbox.setClockOffset(.seconds(-3_600))
            #expect(Self.text(await source.token()) == "misconfigured")
        }
    }

    @Test("a token that is refused before its time is replaced, once a minute at most")
    func rejection() async throws {
        try await CloudBench.with { bench in
            let accounts = try bench.accounts()
            let user = try #require(UserID("u1"))
            bench.sandbox.add(CloudAccount("u1"))
            #expect(Self.isAccount(await accounts.find(user)))
            bench.sandbox.forgetServiceTokens()
            bench.clock.move(by: .seconds(61))
            #expect(!Self.isAccount(await accounts.find(user)))
            #expect(Self.isAccount(await accounts.find(user)))
            #expect(bench.fetchCount == 2)
        }
    }

    @Test("an emulator gets its own word and nobody is asked for a token")
    func emulator() async {
        let source = ServiceAccountTokenSource(emulatorWith: { ShiftedClock().now() })
        #expect(Self.text(await source.token()) == "owner")
    }

    private static func text(_ answer: ServiceAccountTokenSource.Answer) -> String {
        switch answer {
        case .token(let secret): secret.exposeText()
        case .failure(let failure): failure.code
        }
    }

    private static func isAccount(_ found: IdentityToolkit.Found) -> Bool {
        if case .account = found { true } else { false }
    }
}
