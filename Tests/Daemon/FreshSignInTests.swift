import Control
import Engine
import Lifecycle
import Testing
import Vault

@testable import Daemon

/// `require_fresh_sign_in`: a stolen session must not delete.
@Suite("Deletions need a fresh sign-in") struct FreshSignInTests {
    private static let rule = #"require_fresh_sign_in = "15m""#

    private static func refusal(
        _ setup: SignInBench,
        _ token: Secret? = nil,
        key: String? = nil
    ) async throws -> String? {
        try await SignInBench.refusal { try await setup.submit(signIn: token, key: key) }
    }

    @Test("without one a deletion is refused, and a revocation is not")
    func required() async throws {
        try await SignInBench.with(requests: Self.rule) { setup in
            try await setup.signUp()
            #expect(try await Self.refusal(setup) == "fresh_sign_in_required")
            try await setup.submit(.revokeTokens)
        }
    }

    @Test("without the rule nobody is asked")
    func off() async throws {
        try await SignInBench.with { setup in
            try await setup.signUp()
            #expect(try await Self.refusal(setup) == nil)
        }
    }

    @Test("with one it is accepted, and the same token is good for nothing more")
    func accompanied() async throws {
        try await SignInBench.with(requests: Self.rule) { setup in
            try await setup.signUp()
            let token = try setup.idToken()
            let id = try await setup.submit(signIn: token, key: "k")
            // The answer was lost, and the application asks again.
            #expect(try await setup.submit(signIn: token, key: "k") == id)
            #expect(try await Self.refusal(setup, token, key: "other") == "id_token_used_before")
            #expect(try await Self.refusal(setup, token) == "id_token_used_before")
        }
    }

    @Test(
        "a token that is old, another's, or broken does not help",
        arguments: [
            (["iat": "1799999000", "exp": "1800003590"], "fresh_sign_in_required"),
            // A new token of a session of last week.
            (["auth_time": "1799400000"], "fresh_sign_in_required"),
            (["sub": #""sub-2""#], "subject_mismatch"),
            (["nonce": #""x""#], "id_token_nonce_mismatch"),
            (["exp": "1799999900"], "id_token_expired"),
        ] as [([String: String?], String)]
    )
    func refused(changed: [String: String?], refusal: String) async throws {
        try await SignInBench.with(requests: Self.rule) { setup in
            try await setup.signUp()
            #expect(try await Self.refusal(setup, try setup.idToken(changed)) == refusal)
        }
    }

    @Test("a subject that nobody knew before proves nothing: the thief has an account, too")
    func unknownSubject() async throws {
        try await SignInBench.with(requests: Self.rule) { setup in
            try await setup.signUp(knowsSubject: false)
            let token = try setup.idToken(["sub": #""thief""#])
            #expect(try await Self.refusal(setup, token) == "subject_unknown")
            #expect(try await Self.refusal(setup) == "fresh_sign_in_required")
        }
    }

    @Test("a reauthorization counts, for as long as the rule says")
    func reauthorized() async throws {
        try await SignInBench.with(requests: Self.rule) { setup in
            try await setup.signUp()
            let open = try await setup.submit(.revokeTokens)
            _ = try await setup.backend.reauthorize(
                open,
                with: setup.reauthorization(try setup.idToken()),
                caller: SignInBench.application
            )
            #expect(try await Self.refusal(setup) == nil)
        }
        try await SignInBench.with(requests: #"require_fresh_sign_in = "1m""#) { setup in
            try await setup.signUp()
            let open = try await setup.submit(.revokeTokens)
            _ = try await setup.backend.reauthorize(
                open,
                with: setup.reauthorization(try setup.idToken(["iat": "1799999939"])),
                caller: SignInBench.application
            )
            #expect(try await Self.refusal(setup) == "fresh_sign_in_required")
        }
    }

    @Test("an operator is not asked")
    func operators() async throws {
        try await SignInBench.with(requests: Self.rule) { setup in
            try await setup.signUp()
            try await setup.submit(caller: Caller(role: .operator, uid: 0))
        }
    }

    @Test("through the spool: an id token with its nonce, then the deletion")
    func spool() async throws {
        try await SignInBench.with(requests: Self.rule) { setup in
            try await setup.signUp()
            #expect(
                try await spooled(setup, nil) == .rejected(.freshSignInRequired)
            )
            let stale = try setup.idToken(["iat": "1799990000"])
            #expect(try await spooled(setup, stale, row: 2) == .rejected(.freshSignInRequired))
            guard case .accepted = try await spooled(setup, try setup.idToken(), row: 3) else {
                Issue.record("a fresh sign-in was not taken")
                return
            }
        }
    }

    @Test("through the spool: while the keys cannot be read the deletion waits, then it is taken")
    func keysAway() async throws {
        try await SignInBench.with(requests: Self.rule) { setup in
            try await setup.signUp()
            let token = try setup.idToken()
            setup.outage.set(true)
            #expect(try await spooled(setup, token) == .postponed)
            // The request that comes in a later read waits as well, and others do not.
            #expect(try await spooled(setup, nil, row: 2) == .postponed)
            setup.outage.set(false)
            setup.clock.advance(.seconds(6))
            guard case .accepted = try await spooled(setup, token) else {
                Issue.record("a sign-in whose keys came back was not taken")
                return
            }
        }
    }

    private func spooled(
        _ setup: SignInBench,
        _ token: Secret?,
        row: Int64 = 1
    ) async throws -> SpoolRequestReceipt? {
        let user = try #require(UserID("alice"))
        let hash = setup.bench.hasher.hash("alice", domain: .user)
        func place(_ name: String) -> SpoolRow {
            SpoolRow(
                spoolID: "s",
                rowID: row,
                fingerprint: setup.bench.hasher.hash("\(name)\(row)", domain: .spoolRow)
            )
        }
        var credentials: [CredentialOffer] = []
        if let token {
            var credential = CredentialOffer(
                user: user,
                userHash: hash,
                provider: SignInBench.name,
                credential: SubmittedCredential(kind: .idToken, secret: token),
                createdAt: Bench.start,
                spoolRow: place("c")
            )
            credential.credential.rawNonce = Secret("raw")
            credentials = [credential]
        }
        let submission = Engine.Submission(
            kind: .deleteAccount,
            user: user,
            userHash: hash,
            createdAt: Bench.start,
            origin: .spool(place("r"))
        )
        let receipts = try await setup.backend.parts.intake.take(
            SpoolBatch(credentials: credentials, requests: [submission], refused: [])
        )
        return receipts.requests.first
    }
}
