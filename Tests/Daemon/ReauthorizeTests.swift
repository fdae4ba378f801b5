import Control
import Lifecycle
import Testing

@testable import Daemon

/// A fresh sign-in at a provider that signs with RS256 and takes the nonce as it is.
@Suite("Reauthorization at Google") struct ReauthorizeTests {
    @Test("a fresh id token of the same user is taken, once")
    func replay() async throws {
        try await SignInBench.with { setup in
            try await setup.signUp()
            let id = try await setup.submit()
            let input = setup.reauthorization(try setup.idToken())
            let caller = SignInBench.application
            #expect(
                try await SignInBench.refusal {
                    _ = try await setup.backend.reauthorize(id, with: input, caller: caller)
                } == nil
            )
            #expect(
                try await SignInBench.refusal {
                    _ = try await setup.backend.reauthorize(id, with: input, caller: caller)
                } == "id_token_used_before"
            )
        }
    }

    @Test(
        "a token that breaks a rule is refused by its name",
        arguments: [
            (["iss": #""https://accounts.evil.example""#], "id_token_wrong_issuer"),
            (["aud": #""456.apps.googleusercontent.com""#], "id_token_wrong_audience"),
            (["exp": "1799999900"], "id_token_expired"),
            (["iat": "1800000900"], "id_token_issued_in_future"),
            (["nonce": #""another""#], "id_token_nonce_mismatch"),
            (["nonce": nil], "id_token_nonce_mismatch"),
            // SHA-256 of the raw nonce, as Apple would have it.
            (
                [
                    "nonce":
                        #""d7439bee24773bcbfa2d0a97947ee36227b10d1022b1a55847e928965bb6bfde""#
                ], "id_token_nonce_mismatch"
            ), (["sub": #""sub-2""#], "subject_mismatch"),
            (["sub": nil], "id_token_missing_subject"),
        ] as [([String: String?], String)]
    )
    func rules(changed: [String: String?], refusal: String) async throws {
        try await SignInBench.with { setup in
            try await setup.signUp()
            let id = try await setup.submit()
            let input = setup.reauthorization(try setup.idToken(changed))
            let caller = SignInBench.application
            #expect(
                try await SignInBench.refusal {
                    _ = try await setup.backend.reauthorize(id, with: input, caller: caller)
                } == refusal
            )
        }
    }

    @Test("a signature of another key under the same id is refused")
    func signature() async throws {
        try await SignInBench.with { setup in
            try await setup.signUp()
            let id = try await setup.submit()
            let forged = setup.reauthorization(try setup.idToken(by: try TestIssuer()))
            #expect(
                try await SignInBench.refusal {
                    _ = try await setup.backend.reauthorize(
                        id,
                        with: forged,
                        caller: SignInBench.application
                    )
                } == "id_token_bad_signature"
            )
        }
    }

    @Test("unknown key ids fetch the keys again, but at most once a minute")
    func unknownKeys() async throws {
        try await SignInBench.with { setup in
            try await setup.signUp()
            let id = try await setup.submit()
            let stranger = try TestIssuer(keyID: "key-2")
            func tryStranger() async throws -> String? {
                let input = setup.reauthorization(try setup.idToken(by: stranger))
                return try await SignInBench.refusal {
                    _ = try await setup.backend.reauthorize(
                        id,
                        with: input,
                        caller: SignInBench.application
                    )
                }
            }
            for _ in 0..<20 { #expect(try await tryStranger() == "id_token_unknown_key") }
            #expect(setup.server.calls.count <= 2)
            let before = setup.server.calls.count
            setup.clock.advance(.seconds(61))
            for _ in 0..<20 { #expect(try await tryStranger() == "id_token_unknown_key") }
            #expect(setup.server.calls.count == before + 1)
        }
    }

    @Test("where the nonce is hashed, the raw one is refused and the hash is taken")
    func hashedNonce() async throws {
        try await SignInBench.with(nonce: "sha256") { setup in
            try await setup.signUp()
            let id = try await setup.submit()
            let caller = SignInBench.application
            let raw = setup.reauthorization(try setup.idToken())
            #expect(
                try await SignInBench.refusal {
                    _ = try await setup.backend.reauthorize(id, with: raw, caller: caller)
                } == "id_token_nonce_mismatch"
            )
            let hash = "d7439bee24773bcbfa2d0a97947ee36227b10d1022b1a55847e928965bb6bfde"
            let hashed = setup.reauthorization(try setup.idToken(["nonce": #""\#(hash)""#]))
            #expect(
                try await SignInBench.refusal {
                    _ = try await setup.backend.reauthorize(id, with: hashed, caller: caller)
                } == nil
            )
        }
    }
}
