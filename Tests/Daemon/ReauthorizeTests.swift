import Control
import Lifecycle
import Testing

@testable import Daemon

/// `reauthorize` at every family with id tokens, from its section of the configuration on.
@Suite("A fresh sign-in at every provider with id tokens") struct ReauthorizeTests {
    /// A rule that a token breaks.
    private struct Breach {
        let changed: SignInFamily.Claims
        let refusal: String
    }

    private static func breaches(_ family: SignInFamily) -> [Breach] {
        // Plain where it is hashed, and the other way round.
        let other = family.hashesNonce ? "raw" : SignInFamily.hashedNonce
        let nonce = Breach(changed: ["nonce": "\"\(other)\""], refusal: "id_token_nonce_mismatch")
        return (family.takesAnyNonce ? [] : [nonce]) + [
            Breach(
                changed: ["iss": #""https://issuer.example.com""#],
                refusal: "id_token_wrong_issuer"
            ),
            Breach(changed: ["iss": nil], refusal: "id_token_wrong_issuer"),
            Breach(changed: ["aud": #""app-2""#], refusal: "id_token_wrong_audience"),
            Breach(changed: ["aud": #"["app-2"]"#], refusal: "id_token_wrong_audience"),
            Breach(changed: ["exp": "1799999900"], refusal: "id_token_expired"),
            Breach(changed: ["exp": nil], refusal: "malformed_id_token"),
            Breach(changed: ["iat": "1800000900"], refusal: "id_token_issued_in_future"),
            Breach(changed: ["nonce": #""another""#], refusal: "id_token_nonce_mismatch"),
            Breach(changed: ["nonce": nil], refusal: "id_token_nonce_mismatch"),
            Breach(changed: family.nobody, refusal: "id_token_missing_subject"),
            Breach(changed: family.stranger, refusal: "subject_mismatch"),
        ]
    }

    @Test(
        "refuses a token by the first rule that it breaks, takes a good one, and that once",
        arguments: SignInFamily.all
    )
    func rules(family: SignInFamily) async throws {
        try await SignInBench.with(family: family) { setup in
            try await setup.signUp()
            let id = try await setup.submit()
            for breach in Self.breaches(family) {
                let token = try setup.idToken(breach.changed)
                let refusal = try await setup.reauthorize(id, token)
                #expect(refusal == breach.refusal, "\(breach.changed)")
            }
            for isOtherType in [false, true] {
                let forger = try setup.forger(ofOtherType: isOtherType)
                let forged = try setup.idToken(by: forger)
                #expect(try await setup.reauthorize(id, forged) == "id_token_bad_signature")
            }

            let good = try setup.idToken()
            #expect(try await setup.reauthorize(id, good) == nil)
            #expect(try await setup.reauthorize(id, good) == "id_token_used_before")
        }
    }

    @Test(
        "an unknown key id fetches the keys again, at most once a minute, and harms no other",
        arguments: SignInFamily.all
    )
    func unknownKeys(family: SignInFamily) async throws {
        try await SignInBench.with(family: family) { setup in
            try await setup.signUp()
            let id = try await setup.submit()
            let stranger = try setup.stranger()
            func fetchCount(_ tries: Int) async throws -> Int {
                let before = setup.server.keyFetchCount
                for _ in 0..<tries {
                    let token = try setup.idToken(by: stranger)
                    #expect(try await setup.reauthorize(id, token) == "id_token_unknown_key")
                }
                return setup.server.keyFetchCount - before
            }
            #expect(try await fetchCount(20) == 1)
            setup.clock.advance(.seconds(61))
            #expect(try await fetchCount(20) == 1)
            #expect(try await setup.reauthorize(id, try setup.idToken()) == nil)
        }
    }

    @Test(
        "keys that cannot be read say so, and the sign-in is not used up",
        arguments: SignInFamily.all
    )
    func noKeys(family: SignInFamily) async throws {
        try await SignInBench.with(family: family) { setup in
            try await setup.signUp()
            let id = try await setup.submit()
            let token = try setup.idToken()
            setup.outage.set(true)
            #expect(try await setup.reauthorize(id, token) == "unavailable")
            setup.outage.set(false)
            setup.clock.advance(.seconds(6))
            #expect(try await setup.reauthorize(id, token) == nil)
        }
    }

    @Test("a code alone is enough where no id tokens are issued, and nowhere else")
    func codes() async throws {
        let cases: [(SignInFamily, String?)] = [(.plain, nil), (.google, "is missing")]
        for (family, refusal) in cases {
            try await SignInBench.with(family: family) { setup in
                try await setup.signUp(knowsSubject: false)
                let id = try await setup.submit()
                var input = ReauthorizeInput(provider: SignInBench.name)
                input.code = Secret("code-of-today")
                let (backend, order) = (setup.backend, input)
                let found = try await SignInBench.refusal {
                    _ = try await backend.reauthorize(
                        id,
                        with: order,
                        caller: SignInBench.application
                    )
                }
                #expect(found == refusal, "\(family)")
            }
        }
    }
}

extension LocalServer {
    /// How often the keys were asked for.
    fileprivate var keyFetchCount: Int {
        calls.count { call in
            ["keys", "certs", "jwks"].contains { call.path.contains($0) }
        }
    }
}
