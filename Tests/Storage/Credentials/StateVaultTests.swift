import Lifecycle
import Testing

@testable import Engine
@testable import Storage

@Suite(.onEachDatabase)
struct StateVaultTests {
    @Test func `a code that a wrong endpoint answered may be spent, also after a restart`()
        async throws
    {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(
            StateFixture.credential("u", "the code", kind: .authorizationCode)
        )
        var exchange = try #require(stored.exchange).exchange
        var random = SeededGenerator(seed: 1)
        let page = EffectFailure.refusesAll(Refusal(status: 403))
        for event in [CodeExchange.Event.begin, .failure(page)] {
            _ = exchange.handle(event, now: StateFixture.start, random: &random)
            let change = StateChange.saveExchange(exchange, at: StateFixture.start)
            _ = try await fixture.database.commit([change])
        }
        let open = try await fixture.database.openExchanges(limit: 1)
        var loaded = try #require(open.first).exchange
        #expect(loaded.phase == .pending)
        #expect(loaded.isInDoubt)
        for event in [CodeExchange.Event.begin, .refused] {
            _ = loaded.handle(event, now: StateFixture.start, random: &random)
        }
        #expect(loaded.phase == .unknown)
    }

    @Test func `one secret is one credential`() async throws {
        let fixture = try StateFixture()
        let first = try await fixture.keep(StateFixture.credential("u", "a"))
        let second = try await fixture.keep(StateFixture.credential("u", "a"))
        let third = try await fixture.keep(StateFixture.credential("u", "b"))
        #expect(second.credential == first.credential)
        #expect(second.isDuplicate && !third.isDuplicate)
        #expect(third.update.snapshot.credentials.count == 2)
        #expect(try await fixture.database.userKey(StateFixture.hash("u"))?.keyID == "k1")
        #expect(try await fixture.database.wrapCount(of: "k1") == 1)
    }

    @Test func `an identity holds only so many credentials`() async throws {
        let fixture = try StateFixture()
        try await keep(Limits.credentialsPerIdentityMax, in: fixture)
        let request = try await fixture.open("u")
        for refusals in 1...2 {
            let new = StateFixture.credential("u", "one more")
            guard case .refused(let reason, let update) = try await fixture.store(new)[0] else {
                Issue.record("it was stored")
                return
            }
            #expect(reason == .tooManyCredentials)
            // The provider may honor it: that is remembered, and an open request hears of it.
            #expect(update.snapshot.refusedCount == refusals)
            #expect(update.openRequests == [request.request.id])
        }
    }

    @Test func `where each token stands alone none is dropped`() async throws {
        let fixture = try StateFixture()
        try await keep(40, in: fixture)
        let open = try await fixture.open("u")
        #expect(open.request.revocations[0].credentials.count == 40)
        #expect(open.request.revocations[0].refusedCount == 0)
    }

    @Test func `where one revocation ends the grant the newest tokens seen live are kept`()
        async throws
    {
        let fixture = try StateFixture()
        fixture.database.noteWholeGrants([ProviderName("apple")])
        let stored = try await fixture.keep(StateFixture.credential("u", "stored"))
        try await keep(400, in: fixture)
        // Any of them may be of another account, so none goes.
        let open = try await fixture.keep(StateFixture.credential("u", "another"))
        #expect(open.update.snapshot.credentials.count == 402)
        try await fixture.execute("UPDATE identities SET subject_hash = x'00'")
        try await fixture.execute(
            "UPDATE credentials SET last_live_at = id WHERE id <> \(stored.credential.rowID)"
        )
        let last = try await fixture.keep(StateFixture.credential("u", "the newest"))
        let kept = last.update.snapshot.credentials
        #expect(kept.count == Limits.credentialsPerGrantKept + 2)
        #expect(kept.contains { $0.id == stored.credential })
        #expect(kept.contains { $0.id == last.credential })
        #expect(kept.contains { $0.id == open.credential })
        #expect(last.update.snapshot.refusedCount == 0)
    }

    @Test func `an open request keeps the tokens that it works with`() async throws {
        let fixture = try StateFixture()
        fixture.database.noteWholeGrants([ProviderName("apple")])
        let first = try await fixture.keep(StateFixture.credential("u", "first"))
        _ = try await fixture.open("u")
        try await keep(40, in: fixture)
        let last = try await fixture.keep(StateFixture.credential("u", "last"))
        #expect(last.update.snapshot.credentials.contains { $0.id == first.credential })
        #expect(last.update.snapshot.credentials.count == 42)
    }

    @Test func `a code whose exchange got no answer is remembered as lost`() async throws {
        let fixture = try StateFixture()
        let code = StateFixture.credential("u", "code", kind: .authorizationCode)
        let stored = try await fixture.keep(code)
        var exchange = try #require(stored.exchange).exchange
        var random = SeededGenerator(seed: 1)
        _ = exchange.handle(.begin, now: StateFixture.start, random: &random)
        _ = exchange.handle(.failure(.lost), now: StateFixture.start, random: &random)
        _ = try await fixture.database.commit([.saveExchange(exchange, at: StateFixture.start)])
        let open = try await fixture.open("u")
        #expect(open.request.revocations[0].credentials.map(\.step) == [.lost])
        #expect(open.request.revocations[0].hasUnheldTokens)
    }

    @Test func `the last answer to a code is stored, whatever became of it`() async throws {
        let fixture = try StateFixture()
        let code = StateFixture.credential("u", "code", kind: .authorizationCode)
        var exchange = try #require(try await fixture.keep(code).exchange).exchange
        var random = SeededGenerator(seed: 1)
        let first = Refusal(status: 404)
        exchange.answer = first
        for event in [CodeExchange.Event.begin, .failure(.refusesAll(first))] {
            _ = exchange.handle(event, now: StateFixture.start, random: &random)
        }
        _ = try await fixture.database.commit([.saveExchange(exchange, at: StateFixture.start)])
        let open = try await fixture.database.openExchanges(limit: 1)
        #expect(open.first?.exchange.answer == first)
        let last = Refusal(status: 400, error: "odd")
        exchange.answer = last
        for event in [CodeExchange.Event.begin, .refused] {
            _ = exchange.handle(event, now: StateFixture.start, random: &random)
        }
        _ = try await fixture.database.commit([.saveExchange(exchange, at: StateFixture.start)])
        let identities = try await fixture.database.identities(StateFixture.hash("u"))
        #expect(identities.first?.failedCode?.answer == last)
    }

    private func keep(_ count: Int, in fixture: StateFixture) async throws {
        let all = (0..<count).map { StateFixture.credential("u", "token \($0)") }
        let outcomes = try await fixture.database.storeCredentials(
            all,
            now: StateFixture.start,
            newID: { IdentityID(StateFixture.newID()) }
        )
        for outcome in outcomes {
            guard case .stored = outcome else {
                Issue.record("one was not stored")
                return
            }
        }
    }

    @Test func `a value sealed under another key than the stored one comes back`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let stored = try #require(try await fixture.database.userKey(StateFixture.hash("u")))
        let other = NewCredential(
            userHash: StateFixture.hash("u"),
            userKey: WrappedKey(bytes: [1], keyID: "k2"),
            userID: SealedUserID(rowNonce: [1], sealed: [2, 3]),
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
            try await fixture.database.forgetIdentity(stored.identity, of: hash, by: 0)
                == .forgotten
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
                userID: SealedUserID(rowNonce: [1], sealed: [2, 3]),
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

    @Test func `an unknown subject is pinned`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let pinned = try await fixture.keep(StateFixture.credential("u", "b", subject: "s1"))
        #expect(pinned.isSubjectFirstSeen)
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
        guard case .identity(let update)? = try await fixture.database.commit([change])[0] else {
            Issue.record("no update")
            return
        }
        #expect(update.openRequests == [open.request.id])
        let stored = try #require(update.credentials[old.credential])
        #expect(update.credentials.count == 1)
        #expect(stored.sealedSecret == [8] && stored.rowNonce == [7] && stored.fingerprint == [9])
        #expect(stored.subject?.hash == StateFixture.hash("s"))
        #expect(update.snapshot.credentials[0].lastLiveAt == StateFixture.start)
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
        #expect(second.update.snapshot.isShared)
        #expect(second.sharedUpdate.map(\.openRequests) == [[open.request.id]])
        #expect(second.sharedUpdate.map(\.snapshot.isShared) == [true])
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
        #expect(stored.update.openRequests == [open.request.id])
        let due = try await fixture.database.dueRequests(
            at: StateFixture.start,
            limit: 1,
            excluding: [],
            laneLimits: [:]
        )
        #expect(due.requests.map(\.unseen) == [[stored.update.snapshot]])
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

    @Test func `refused credentials add a bounded number of addenda, and a known one none`()
        async throws
    {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let open = try await fixture.open("u")
        var purging = open.request
        purging.revocations[0].verdict = .proven
        purging.phase = .open(.purging)
        try await fixture.save(purging, was: open.request)
        let id = open.request.id
        _ = try await fixture.store(StateFixture.credential("u", "a"))
        #expect(try await fixture.database.requestRecord(id)?.addenda.isEmpty == true)
        for number in 0..<100 {
            let new = StateFixture.credential("u", "late", provider: "made-up-\(number)")
            _ = try await fixture.store(new)
        }
        #expect(try await fixture.database.requestRecord(id)?.addenda.count == 32)
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
            try await database.forgetIdentity(stored.identity, of: hash, by: 0)
                == .inUse(open.request.id)
        )
        var cancelled = open.request
        cancelled.phase = .cancelled
        cancelled.endedAt = StateFixture.start
        try await fixture.save(cancelled, was: open.request)
        #expect(
            try await database.forgetIdentity(stored.identity, of: StateFixture.hash("v"), by: 0)
                == .unknown
        )
        #expect(try await database.forgetIdentity(stored.identity, of: hash, by: 7) == .forgotten)
        #expect(try await database.userKey(hash) == nil)
        let forgotten = try await database.forgotten(of: hash, until: .distantFuture)
        #expect(forgotten.map(\.provider) == [ProviderName("apple")])
        #expect(forgotten.map(\.uid) == [7])
        let other = StateFixture.hash("v")
        #expect(try await database.forgotten(of: other, until: .distantFuture).isEmpty)
        let before = StateFixture.start - .seconds(86_400)
        #expect(try await database.forgotten(of: hash, until: before).isEmpty)
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
        #expect(first.purges == 5)
        _ = try await fixture.database.commit([.useGuardOverride(purges: 3, at: start)])
        #expect(try await fixture.database.guardOverride(at: start)?.purges == 2)
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
