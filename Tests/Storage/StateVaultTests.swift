import Engine
import Lifecycle
import Testing

@testable import Storage

struct StateVaultTests {
    @Test func `one secret is one credential`() async throws {
        let fixture = try StateFixture()
        let first = try await fixture.keep(StateFixture.credential("u", "a"))
        let second = try await fixture.keep(StateFixture.credential("u", "a"))
        let third = try await fixture.keep(StateFixture.credential("u", "b"))
        #expect(second.credential == first.credential)
        #expect(second.isDuplicate && !third.isDuplicate)
        #expect(third.news.snapshot.credentials.count == 2)
        #expect(try await fixture.database.userKey(StateFixture.hash("u"))?.keyID == "k1")
        #expect(try await fixture.database.wrapCount(of: "k1") == 1)
    }

    @Test func `an identity holds only so many credentials`() async throws {
        let fixture = try StateFixture()
        for index in 0..<Limits.credentialsPerIdentityMax {
            _ = try await fixture.keep(StateFixture.credential("u", "token \(index)"))
        }
        let outcome = try await fixture.store(StateFixture.credential("u", "one more"))
        #expect(outcome == [.rejected(.tooManyCredentials)])
    }

    @Test func `a value sealed under another key than the stored one comes back`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let stored = try #require(try await fixture.database.userKey(StateFixture.hash("u")))
        let other = NewCredential(
            userHash: StateFixture.hash("u"),
            userKey: WrappedKey(bytes: [1], keyID: "k2"),
            provider: ProviderName("apple"),
            clientID: "c",
            kind: .refreshToken,
            rowNonce: [1],
            sealedSecret: [1],
            fingerprint: [1],
            createdAt: StateFixture.start
        )
        #expect(try await fixture.store(other) == [.otherKey(stored)])
    }

    @Test func `a key that was destroyed in the meantime does not come back`() async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "a"))
        let hash = StateFixture.hash("u")
        // Sealed under the stored key, then somebody forgets the user, then it is stored.
        var late = StateFixture.credential("u", "b")
        late.isUserKeyStored = true
        #expect(
            try await fixture.database.forgetIdentity(stored.identity, of: hash) == .forgotten
        )
        #expect(try await fixture.store(late) == [.keyGone])
        #expect(try await fixture.database.userKey(hash) == nil)
    }

    @Test func `the vault keys in use are named once each`() async throws {
        let fixture = try StateFixture()
        #expect(try await fixture.database.vaultKeyIDs().isEmpty)
        for (user, key) in [("u", "k1"), ("v", "k3"), ("w", "k1"), ("x", "k2")] {
            let new = NewCredential(
                userHash: StateFixture.hash(user),
                userKey: WrappedKey(bytes: [1], keyID: key),
                provider: ProviderName("apple"),
                clientID: "c",
                kind: .refreshToken,
                rowNonce: [1],
                sealedSecret: [1],
                fingerprint: StateFixture.hash(user),
                createdAt: StateFixture.start
            )
            _ = try await fixture.store(new)
        }
        #expect(try await fixture.database.vaultKeyIDs() == ["k1", "k2", "k3"])
    }

    @Test func `an unknown subject is pinned and another one refused`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let pinned = try await fixture.keep(StateFixture.credential("u", "b", subject: "s1"))
        #expect(pinned.isSubjectFirstSeen)
        let outcome = try await fixture.store(StateFixture.credential("u", "c", subject: "s2"))
        #expect(outcome == [.rejected(.subjectMismatch)])
        let records = try await fixture.database.identities(StateFixture.hash("u"))
        #expect(records.map(\.credentialCount) == [2])
        #expect(records[0].hasSubject && records[0].subjectFirstSeenAt == StateFixture.start)
        #expect(
            try await fixture.database.subjectHash(of: records[0].id) == StateFixture.hash("s1")
        )
    }

    @Test func `a rotated token takes the place of the old one and keeps its credential`()
        async throws
    {
        let fixture = try StateFixture()
        let old = try await fixture.keep(StateFixture.credential("u", "a", subject: "s"))
        let open = try await fixture.open("u")
        let token = SealedToken(
            kind: .refreshToken,
            rowNonce: [7],
            sealedSecret: [8],
            fingerprint: [9],
            expiresAt: nil
        )
        let change = StateChange.rotate(old.credential, token, at: StateFixture.start)
        guard case .identity(let news)? = try await fixture.database.commit([change])[0] else {
            Issue.record("no news")
            return
        }
        #expect(news.openRequests == [open.request.id])
        let stored = try #require(news.credentials[old.credential])
        #expect(news.credentials.count == 1)
        #expect(stored.sealedSecret == [8] && stored.rowNonce == [7] && stored.fingerprint == [9])
        #expect(stored.subject?.hash == StateFixture.hash("s"))
        #expect(news.snapshot.credentials[0].lastLiveAt == StateFixture.start)
        // The same token once more: it is durable where it is.
        let other = try await fixture.keep(StateFixture.credential("u", "b"))
        let again = StateChange.rotate(other.credential, token, at: StateFixture.start)
        #expect(try await fixture.database.commit([again])[0] != nil)
        let gone = CredentialID(rowID: 999)
        let lost = StateChange.rotate(gone, token, at: StateFixture.start)
        #expect(try await fixture.database.commit([lost])[0] == nil)
    }

    @Test func `one subject on two users is shared for both`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "s"))
        let open = try await fixture.open("u")
        #expect(!open.request.revocations[0].isShared)
        let second = try await fixture.keep(StateFixture.credential("v", "b", subject: "s"))
        #expect(second.news.snapshot.isShared)
        #expect(second.sharedNews.map(\.openRequests) == [[open.request.id]])
        #expect(second.sharedNews.map(\.snapshot.isShared) == [true])
        let unseen = try await fixture.database.openRequests([open.request.id])[0].unseen
        #expect(unseen.map(\.isShared) == [true])
    }

    @Test func `a credential joins an open request and makes it due`() async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("u")
        var parked = open.request
        parked.phase = .parked(.revoking, .needsReauthentication, until: nil)
        parked.dueAt = nil
        try await fixture.save(parked, was: open.request)
        let stored = try await fixture.keep(StateFixture.credential("u", "a"))
        #expect(stored.news.openRequests == [open.request.id])
        let due = try await fixture.database.dueRequests(
            at: StateFixture.start,
            limit: 1,
            excluding: [],
            laneLimits: [:]
        )
        #expect(due.requests.map(\.unseen) == [[stored.news.snapshot]])
        #expect(due.requests[0].credentials.keys.contains(stored.credential))
    }

    @Test func `from purging on a credential is refused`() async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("u")
        var purging = open.request
        purging.phase = .open(.purging)
        try await fixture.save(purging, was: open.request)
        let outcome = try await fixture.store(StateFixture.credential("u", "late"))
        #expect(outcome == [.rejected(.deletionInProgress)])
    }

    @Test func `a credential row of the spool is stored once`() async throws {
        let fixture = try StateFixture()
        var new = StateFixture.credential("u", "a")
        new.spoolRow = SpoolRow(spoolID: "s", rowID: 1, fingerprint: [1])
        guard case .stored = try await fixture.store(new)[0] else {
            Issue.record("not stored")
            return
        }
        #expect(try await fixture.store(new) == [.importedBefore])
    }

    @Test func `a forgotten identity takes the key along, one in use stays`() async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "a"))
        let hash = StateFixture.hash("u")
        let open = try await fixture.open("u", .revokeTokens)
        let database = fixture.database
        #expect(
            try await database.forgetIdentity(stored.identity, of: hash) == .inUse(open.request.id)
        )
        var cancelled = open.request
        cancelled.phase = .cancelled
        cancelled.endedAt = StateFixture.start
        try await fixture.save(cancelled, was: open.request)
        #expect(
            try await database.forgetIdentity(stored.identity, of: StateFixture.hash("v"))
                == .unknown
        )
        #expect(try await database.forgetIdentity(stored.identity, of: hash) == .forgotten)
        #expect(try await database.userKey(hash) == nil)
    }

    @Test func `an override of the guard is counted and ends`() async throws {
        let fixture = try StateFixture()
        let end = StateFixture.start + .seconds(60)
        try await fixture.database.addGuardOverride(
            count: 5,
            until: end,
            uid: 0,
            at: StateFixture.start
        )
        let start = StateFixture.start
        let first = try #require(try await fixture.database.guardOverride(at: start))
        #expect(first.remaining == 5)
        _ = try await fixture.database.commit([.useGuardOverride(purges: 3, at: start)])
        #expect(try await fixture.database.guardOverride(at: start)?.remaining == 2)
        #expect(try await fixture.database.guardOverride(at: end) == nil)
        // A restart takes over what is left, and until when.
        let recovery = try await fixture.database.recover(isOwnCrash: false, at: start)
        #expect(recovery.allowance == GuardAllowance(purges: 2, until: end))
        _ = try await fixture.database.commit([.useGuardOverride(purges: 9, at: start)])
        #expect(try await fixture.database.guardOverride(at: start) == nil)
        #expect(
            try await fixture.database.recover(isOwnCrash: false, at: start).allowance == nil
        )
        try await fixture.database.setNote("hash_key", to: "f1")
        #expect(try await fixture.database.note("hash_key") == "f1")
    }
}
