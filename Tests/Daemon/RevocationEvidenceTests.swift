import Lifecycle
import Testing

@testable import Daemon

/// A receipt says of a revocation what happened, and nothing that nobody saw.
struct RevocationEvidenceTests {
    private static let liveAt = WallTime(unixMilliseconds: 1_763_712_000_000)

    private func text(
        _ verdict: Verdict,
        _ credentials: [(CredentialStep, CredentialKind, Bool)],
        refusedCount: Int = 0
    ) -> String {
        let works = credentials.enumerated().map { index, credential in
            CredentialWork(
                id: CredentialID(rowID: Int64(index + 1)),
                kind: credential.1,
                step: credential.0,
                lastLiveAt: credential.2 ? Self.liveAt : nil
            )
        }
        var snapshot = IdentitySnapshot(
            identity: IdentityID(TimeOrderedID(high: 1, low: 1)),
            provider: ProviderName("sso"),
            clientID: "app",
            isShared: false,
            credentials: works
        )
        snapshot.refusedCount = refusedCount
        return RevocationEvidence(revocation: Revocation(snapshot), verdict: verdict).text
    }

    @Test func `a link is called unconfirmed for what is not known of its account`() {
        var snapshot = IdentitySnapshot(
            identity: IdentityID(TimeOrderedID(high: 1, low: 1)),
            provider: ProviderName("sso"),
            clientID: "",
            isShared: false,
            credentials: []
        )
        snapshot.subjectHash = [1]
        var link = Revocation(snapshot)
        link.isLinked = true
        let text = RevocationEvidence(revocation: link, verdict: .unconfirmed).text
        #expect(text.hasPrefix("NOT confirmed: nothing shows that tokens of the account that"))
    }

    @Test func `a token is called seen live only if it was`() {
        let seen = text(.accepted, [(.accepted, .accessToken, true)])
        #expect(seen.contains("a token that was seen live"))
        // Google, GitHub and others answer success for live tokens alone.
        let unseen = text(.accepted, [(.accepted, .accessToken, false)])
        #expect(unseen.contains("The service never saw this token live."))
        // The sibling that was seen is not the one whose revocation was accepted.
        let sibling = text(
            .accepted,
            [(.dead, .refreshToken, true), (.accepted, .accessToken, false)]
        )
        #expect(sibling.contains("The service never saw this token live."))
    }

    @Test func `a user's id is called no token`() {
        let accepted = text(.accepted, [(.accepted, .subject, true)])
        #expect(accepted.hasPrefix("The provider accepted the revocation of what this user"))
        // What the provider listed for the user is no token that was seen live.
        let both = text(.accepted, [(.accepted, .subject, true), (.accepted, .accessToken, false)])
        #expect(both.contains("The service never saw this token live."))
        let unconfirmed = text(.unconfirmed, [(.unconfirmed, .subject, false)])
        #expect(unconfirmed == "NOT confirmed: the provider may still honor a token.")
    }

    @Test func `a refusal is told as what was refused`() {
        let last = Refusal(status: 400, error: "invalid_request")
        let intents: [RevokeIntent] = [
            .none, .durable(wasLive: false), .durable(wasLive: false),
            .contradicted(wasLive: false),
        ]
        let works = intents.enumerated().map { index, intent in
            CredentialWork(
                id: CredentialID(rowID: Int64(index + 1)),
                kind: .refreshToken,
                step: .refused,
                intent: intent,
                refusals: RefusalCount(count: 5, lastAt: Self.liveAt, last: last)
            )
        }
        let snapshot = IdentitySnapshot(
            identity: IdentityID(TimeOrderedID(high: 1, low: 1)),
            provider: ProviderName("sso"),
            clientID: "app",
            isShared: false,
            credentials: works
        )
        let evidence = RevocationEvidence(revocation: Revocation(snapshot), verdict: .unrevoked)
        #expect(
            evidence.text.hasSuffix(
                """
                The provider accepted the revocation of 1 token(s), still honored them, and then \
                refused 5 tries: 400 invalid_request. The provider refused to check 1 token(s), in \
                5 tries: 400 invalid_request. The provider refused to revoke 2 token(s), in 10 \
                tries: 400 invalid_request.
                """
            )
        )
    }

    @Test func `unconfirmed counts the tokens by what the provider answered`() {
        let mixed = text(
            .unconfirmed,
            [
                (.accepted, .refreshToken, true), (.unconfirmed, .accessToken, false),
                (.dead, .refreshToken, true), (.lost, .authorizationCode, false),
            ],
            refusedCount: 2
        )
        #expect(
            mixed == "NOT confirmed: the provider may still honor a token."
                + " It accepted the revocation of 1 token(s)."
                + " It answered success for 1 token(s) that the service never saw live, as it may"
                + " for a token that it never issued. It refuses 1 token(s)."
                + " The exchange of 1 authorization code(s) brought no tokens: the provider may"
                + " have issued tokens that the service never received."
                + " The service refused to store a credential 2 time(s): the provider may honor it."
        )
        let gone = text(.unconfirmed, [(.gone, .accessToken, false)], refusedCount: 1)
        #expect(gone.contains("It answered for 1 token(s) that the grant was already gone."))
        #expect(!gone.contains("accepted the revocation"))
    }
}
