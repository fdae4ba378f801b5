import Lifecycle
import Testing

@testable import Engine
@testable import Storage

/// Accounts of a user beside the first one at a provider.
@Suite(.onEachDatabase)
struct OtherAccountTests {
    private static let apple = ProviderName("apple")
    private static let later = StateFixture.start + .seconds(9)

    /// A code of "u" that is exchanged for a token of the subject.
    private static func change(
        _ stored: StoredCredential,
        _ token: String,
        of subject: String?
    ) throws -> StateChange {
        var exchange = try #require(stored.exchange).exchange
        var random = SeededGenerator(seed: 1)
        _ = exchange.handle(.begin, now: StateFixture.start, random: &random)
        _ = exchange.handle(.exchanged, now: StateFixture.start, random: &random)
        let sealed = SealedToken(
            kind: .refreshToken,
            rowNonce: StateFixture.hash("nonce \(token)"),
            sealedSecret: Array("sealed:\(token)".utf8),
            fingerprint: StateFixture.hash(token),
            expiresAt: nil
        )
        let learned = subject.map {
            LearnedSubject(
                hash: StateFixture.hash($0),
                rowNonce: StateFixture.hash("n\($0)"),
                sealed: [6]
            )
        }
        return .storeTokens(exchange, [sealed], learned, at: later)
    }

    private static func code(_ secret: String) -> NewCredential {
        StateFixture.credential("u", secret, kind: .authorizationCode)
    }

    private func exchange(
        _ code: NewCredential,
        for token: String,
        of subject: String?,
        in fixture: StateFixture
    ) async throws -> IdentityUpdate {
        let stored = try await fixture.keep(code)
        let change = try Self.change(stored, token, of: subject)
        guard case .identity(let update)? = try await fixture.database.commit([change])[0] else {
            throw StorageError(.sqlite, "exchange", at: "test")
        }
        return update
    }

    private static func signIn(_ subject: String) -> ProvenSignIn {
        ProvenSignIn(
            userHash: StateFixture.hash("u"),
            provider: apple,
            subjectHash: StateFixture.hash(subject),
            signedInAt: StateFixture.start,
            fingerprint: StateFixture.hash("sign-in of \(subject)"),
            expiresAt: StateFixture.start + .seconds(600)
        )
    }

    @Test func `a code of a changed subject brings its token to an identity of its own`()
        async throws
    {
        let fixture = try StateFixture()
        let old = try await fixture.keep(StateFixture.credential("u", "old", subject: "mine"))
        let open = try await fixture.open("u")
        let code = Self.code("the code")
        let update = try await exchange(code, for: "new", of: "moved", in: fixture)
        #expect(update.isSubjectMismatch)
        #expect(update.snapshot.identity == old.identity)
        #expect(update.snapshot.credentials.map(\.step) == [.stored, .unusable])
        #expect(update.snapshot.refusedCount == 0 && !update.snapshot.isOtherAccount)
        let account = try #require(update.otherAccounts.first)
        #expect(account.snapshot.identity != old.identity && account.snapshot.isOtherAccount)
        #expect(account.snapshot.credentials.map(\.step) == [.stored])
        #expect(account.credentials.values.map(\.sealedSecret) == [Array("sealed:new".utf8)])
        #expect(account.credentials.values.map(\.isFromCode) == [true])
        #expect(account.openRequests == [open.request.id])
        // The next code may be of either; what it brings goes where it belongs.
        let next = try await exchange(Self.code("2"), for: "newer", of: "mine", in: fixture)
        let home = next.otherAccounts.first ?? next
        #expect(!next.isSubjectMismatch && home.snapshot.identity == old.identity)
        #expect(home.credentials.count == 2)
        #expect(try await fixture.int("SELECT count(*) FROM identities") == 2)
    }

    @Test func `a request learns again which account is beside the first`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        _ = try await fixture.keep(StateFixture.credential("u", "b", subject: "moved"))
        let open = try await fixture.open("u")
        #expect(open.request.revocations.map(\.isOtherAccount) == [false, true])
        let read = try await fixture.database.openRequests([open.request.id])
        #expect(read[0].request.revocations.map(\.isOtherAccount) == [false, false])
        #expect(read[0].unseen.map(\.isOtherAccount) == [true])
        #expect(read[0].unseen.map(\.identity) == [open.request.revocations[1].identity])
    }

    @Test func `another account proves no sign-in, and the next one is the first where none is`()
        async throws
    {
        let fixture = try StateFixture()
        let state = fixture.database
        let first = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        let named = try await fixture.keep(StateFixture.credential("u", "b", subject: "moved"))
        #expect(!first.update.isSubjectMismatch && named.update.isSubjectMismatch)
        #expect(try await state.record(Self.signIn("moved")) == .otherSubject)
        _ = try await state.forgetIdentity(first.identity, of: StateFixture.hash("u"), by: 0)
        #expect(try await state.record(Self.signIn("moved")) == .subjectUnknown)
        let next = try await fixture.keep(StateFixture.credential("u", "c", subject: "next"))
        #expect(!next.update.snapshot.isOtherAccount)
        #expect(try await state.record(Self.signIn("next")) == .recorded)
    }

    @Test func `a token without a subject may be of an account that was forgotten`() async throws {
        let fixture = try StateFixture()
        let state = fixture.database
        let loose = try await fixture.keep(StateFixture.credential("u", "a"))
        #expect(!loose.update.snapshot.hadOthers)
        let mine = try await fixture.keep(StateFixture.credential("u", "b", subject: "mine"))
        let gone = try await fixture.keep(StateFixture.credential("u", "c", subject: "moved"))
        _ = try await state.forgetIdentity(gone.identity, of: StateFixture.hash("v"), by: 0)
        _ = try await state.forgetIdentity(gone.identity, of: StateFixture.hash("u"), by: 0)
        let open = try await fixture.open("u")
        #expect(open.request.revocations.map(\.identity) == [mine.identity])
        #expect(open.request.revocations.map(\.isOneOfSeveral) == [true])
        let read = try await state.openRequests([open.request.id])
        #expect(read[0].request.revocations.map(\.isOneOfSeveral) == [true])
        #expect(read[0].unseen.isEmpty)
    }

    @Test func `an account that another user has does not join`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        _ = try await fixture.keep(StateFixture.credential("v", "b", subject: "theirs"))
        let named = StateFixture.credential("u", "c", subject: "theirs")
        guard case .refused(.subjectMismatch, _) = try await fixture.store(named)[0] else {
            Issue.record("it joined")
            return
        }
        let update = try await exchange(Self.code("1"), for: "d", of: "theirs", in: fixture)
        #expect(update.otherAccounts.isEmpty && update.isSubjectMismatch)
        #expect(update.snapshot.refusedCount == 2 && !update.snapshot.isShared)
        #expect(update.credentials.count == 1, "the other user's token is not there")
        #expect(try await fixture.int("SELECT count(*) FROM identities") == 2)
    }

    @Test func `a reauthorization adds no account, and may bring a token to a known one`()
        async throws
    {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        var named = StateFixture.credential("u", "b", subject: "moved")
        named.isReauthorization = true
        guard case .refused(.subjectMismatch, _) = try await fixture.store(named)[0] else {
            Issue.record("it added an account")
            return
        }
        var code = Self.code("1")
        code.isReauthorization = true
        let update = try await exchange(code, for: "c", of: "moved", in: fixture)
        #expect(update.otherAccounts.isEmpty && update.snapshot.refusedCount == 2)
        _ = try await fixture.keep(StateFixture.credential("u", "d", subject: "moved"))
        var again = Self.code("2")
        again.isReauthorization = true
        let brought = try await exchange(again, for: "e", of: "moved", in: fixture)
        let home = brought.otherAccounts.first ?? brought
        #expect(home.snapshot.isOtherAccount && home.credentials.count == 2)
    }

    @Test func `a token that another identity has moves, and a code is exchanged once`()
        async throws
    {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        let unnamed = try await fixture.keep(StateFixture.credential("u", "b"))
        let named = try await fixture.keep(StateFixture.credential("u", "b", subject: "moved"))
        #expect(named.credential == unnamed.credential && named.identity != unnamed.identity)
        #expect(unnamed.update.snapshot.credentials.map(\.isUnnamed) == [false, true])
        #expect(named.update.snapshot.credentials.map(\.isUnnamed) == [false])
        let other = try await fixture.keep(StateFixture.credential("u", "c"))
        let update = try await exchange(Self.code("1"), for: "c", of: "mine", in: fixture)
        let home = update.otherAccounts.first ?? update
        #expect(other.identity == named.identity, "it had changed last")
        #expect(home.snapshot.identity == unnamed.identity)
        #expect(home.snapshot.credentials.contains { $0.id == other.credential })
        #expect(try await fixture.int("SELECT count(*) FROM credentials") == 4)
        let code = try await fixture.keep(Self.code("2"))
        var again = Self.code("2")
        again.subject = StateFixture.credential("u", "", subject: "third").subject
        let repeated = try await fixture.keep(again)
        #expect(repeated.isDuplicate && repeated.credential == code.credential)
    }

    @Test func `the tokens of a code have the subject that was named for it`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        let loose = try await fixture.keep(StateFixture.credential("u", "b"))
        _ = try await fixture.keep(StateFixture.credential("u", "c", subject: "moved"))
        for token in ["b", "d"] {
            var code = Self.code("code for \(token)")
            code.subject = StateFixture.credential("u", "", subject: "moved").subject
            let update = try await exchange(code, for: token, of: nil, in: fixture)
            #expect(update.snapshot.isOtherAccount)
            #expect(update.snapshot.credentials.contains { $0.id == loose.credential })
            #expect(update.snapshot.credentials.allSatisfy { !$0.isUnnamed })
        }
    }

    @Test func `a token that may be of another account makes no room`() async throws {
        let fixture = try StateFixture()
        fixture.database.noteWholeGrants([Self.apple])
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        for number in 0..<Limits.credentialsPerGrantMax {
            _ = try await fixture.keep(StateFixture.credential("u", "t\(number)"))
        }
        _ = try await fixture.keep(StateFixture.credential("u", "b", subject: "moved"))
        try await fixture.execute("UPDATE credentials SET last_live_at = id")
        let last = try await fixture.keep(StateFixture.credential("u", "c", subject: "mine"))
        #expect(last.update.snapshot.credentials.count == Limits.credentialsPerGrantMax + 2)
    }

    @Test("a code has the subject that was named for it later", arguments: ["mine", "moved"])
    func namedLater(_ subject: String) async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "b", subject: "moved"))
        let mine = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        var code = Self.code("1")
        let first = try await fixture.keep(code)
        #expect(first.identity == mine.identity)
        code.subject = StateFixture.credential("u", "", subject: subject).subject
        let update = try await exchange(code, for: "c", of: nil, in: fixture)
        #expect(update.snapshot.identity == mine.identity)
        let expected = [false] + [Bool](repeating: subject != "mine", count: 2)
        #expect(update.snapshot.credentials.map(\.isUnnamed) == expected)
    }

    @Test func `a token that may be of another account covers no lost code`() async throws {
        let fixture = try StateFixture()
        let mine = StateFixture.credential("u", "a", subject: "mine")
        _ = try await fixture.keep(mine)
        let loose = try await fixture.keep(StateFixture.credential("u", "b"))
        let code = try await fixture.keep(Self.code("1"))
        var exchange = try #require(code.exchange).exchange
        var random = SeededGenerator(seed: 1)
        _ = exchange.handle(.begin, now: StateFixture.start, random: &random)
        _ = exchange.handle(.failure(.lost), now: StateFixture.start, random: &random)
        _ = try await fixture.database.commit([.saveExchange(exchange, at: Self.later)])
        let id = loose.credential.rowID
        try await fixture.execute(
            "UPDATE credentials SET last_live_at = created_at + 1 WHERE id = \(id)"
        )
        let alone = try await fixture.keep(mine).update.snapshot.credentials
        #expect(alone.filter { $0.step == .lost }.map(\.rotation.isInDoubt) == [false])
        _ = try await fixture.keep(StateFixture.credential("u", "c", subject: "moved"))
        let several = try await fixture.keep(mine).update.snapshot.credentials
        #expect(several.filter { $0.step == .lost }.map(\.rotation.isInDoubt) == [true])
    }

    @Test func `a token stays where its subject was named`() async throws {
        let fixture = try StateFixture()
        let mine = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        let again = try await fixture.keep(StateFixture.credential("u", "a", subject: "moved"))
        #expect(again.identity != mine.identity && again.credential != mine.credential)
        let loose = try await fixture.keep(StateFixture.credential("u", "b", subject: "mine"))
        _ = try await fixture.keep(StateFixture.credential("u", "c", subject: "moved"))
        var code = Self.code("1")
        code.subject = StateFixture.credential("u", "", subject: "moved").subject
        let update = try await exchange(code, for: "b", of: nil, in: fixture)
        #expect(update.snapshot.identity == again.identity)
        let places = "SELECT count(DISTINCT identity_id) FROM credentials WHERE fingerprint ="
        let known = " (SELECT fingerprint FROM credentials WHERE id = \(loose.credential.rowID))"
        #expect(try await fixture.int(places + known) == 2)
    }

    @Test func `a user has only so many accounts`() async throws {
        let fixture = try StateFixture()
        for number in 0..<Limits.accountsMax {
            let new = StateFixture.credential("u", "t\(number)", subject: "s\(number)")
            _ = try await fixture.keep(new)
        }
        let more = StateFixture.credential("u", "more", subject: "more")
        guard case .refused = try await fixture.store(more)[0] else {
            Issue.record("it was stored")
            return
        }
        let update = try await exchange(Self.code("1"), for: "t", of: "more", in: fixture)
        #expect(update.otherAccounts.isEmpty)
    }

    @Test func `what an exchange brings after the verdicts is told in the receipt`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        let stored = try await fixture.keep(Self.code("1"))
        let open = try await fixture.open("u")
        var purging = open.request
        purging.revocations[0].verdict = .abandoned
        purging.phase = .open(.purging)
        try await fixture.save(purging, was: open.request)
        let change = try Self.change(stored, "late", of: "moved")
        _ = try await fixture.database.commit([change])
        let record = try #require(try await fixture.database.requestRecord(open.request.id))
        #expect(record.addenda.map(\.event) == [Addendum.refusedCredential])
        #expect(record.addenda.map(\.verdict) == [.unconfirmed])
        #expect(record.addenda.map(\.identity) != [stored.identity], "it is of the other account")
        #expect(try await fixture.int("SELECT count(*) FROM credentials") == 2)
        #expect(try await fixture.int("SELECT count(*) FROM identities") == 1)
    }

    @Test func `a notification tells whether it names only another account`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "mine"))
        _ = try await fixture.keep(StateFixture.credential("u", "b", subject: "moved"))
        for (subject, isOther) in [("mine", false), ("moved", true)] {
            let notification = NotificationRecord(
                keyHash: StateFixture.hash("key of \(subject)"),
                provider: Self.apple,
                meaning: .accountGone,
                event: "e",
                subjectHash: StateFixture.hash(subject),
                clientIDs: nil,
                occurredAt: Self.later,
                receivedAt: Self.later,
                uid: 1000,
                role: "submit",
                code: "code of \(subject)"
            )
            let finding = try await fixture.database.weigh(
                notification,
                mayUpdateLink: false,
                at: Self.later
            )
            guard case .user(let user) = finding else {
                Issue.record("\(subject): \(finding)")
                return
            }
            #expect(user.isOtherAccount == isOther)
        }
    }
}
