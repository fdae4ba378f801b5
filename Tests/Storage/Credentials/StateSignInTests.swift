import Engine
import Lifecycle
import Testing

@testable import Storage

/// Sign-ins that a deletion may need.
@Suite(.onEachDatabase)
struct StateSignInTests {
    private static let asking = IntakePolicy(
        gracePeriod: .zero,
        deadline: .seconds(30 * 86_400),
        stores: [],
        signInAgeMax: .seconds(900)
    )

    private static func signIn(
        _ name: String,
        subject: String = "s",
        age: Duration = .zero
    ) -> ProvenSignIn {
        ProvenSignIn(
            userHash: StateFixture.hash("u"),
            provider: ProviderName("apple"),
            subjectHash: StateFixture.hash(subject),
            signedInAt: StateFixture.start - age,
            fingerprint: StateFixture.hash(name),
            expiresAt: StateFixture.start + .seconds(600)
        )
    }

    @Test func `the time of a sign-in outlives a restart`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        func start() throws -> StateDatabase {
            try StateDatabase.open(path: directory + "/state.db", now: { StateFixture.start })
        }
        func delete(_ state: StateDatabase) async throws -> SubmissionOutcome? {
            try await state.accept(
                [StateFixture.submission("u")],
                policy: Self.asking,
                now: StateFixture.start,
                newID: { RequestID(StateFixture.newID()) }
            ).first
        }
        let first = try start()
        _ = try await first.storeCredentials(
            [StateFixture.credential("u", "a", subject: "s")],
            now: StateFixture.start,
            newID: { IdentityID(StateFixture.newID()) }
        )
        #expect(try await delete(first) == .rejected(.freshSignInRequired))
        #expect(try await first.record(Self.signIn("t", age: .seconds(900))) == .recorded)
        try await first.close()

        let second = try start()
        #expect(try await second.record(Self.signIn("t")) == .usedBefore)
        guard case .accepted = try await delete(second) else {
            Issue.record("a proven sign-in was forgotten")
            return
        }
        try await second.close()
    }

    @Test func `a crash before the request is stored leaves its sign-in unused`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "s"))
        var submission = StateFixture.submission("u")
        submission.signIn = Self.signIn("t")
        let ask = submission
        try await fixture.refuseRows(of: "requests")
        await #expect(throws: (any Error).self) {
            try await fixture.accept(ask, policy: Self.asking)
        }
        try await fixture.allowRows(of: "requests")
        guard case .accepted = try await fixture.accept(ask, policy: Self.asking)[0] else {
            Issue.record("the sign-in was used up by a request that was never accepted")
            return
        }
        #expect(
            try await fixture.accept(ask, policy: Self.asking) == [.unproven(.usedBefore)]
        )
    }

    @Test func `a sign-in of a reauthorization counts once`() async throws {
        let fixture = try StateFixture()
        var first = StateFixture.credential("u", "a")
        first.signIn = Self.signIn("t")
        guard case .stored = try await fixture.store(first)[0] else {
            Issue.record("not stored")
            return
        }
        var second = StateFixture.credential("u", "b")
        second.signIn = Self.signIn("t")
        #expect(try await fixture.store(second) == [.signInUsed])
        second.signIn = Self.signIn("other")
        guard case .stored = try await fixture.store(second)[0] else {
            Issue.record("a credential was kept of a sign-in that was used before")
            return
        }
    }

    @Test func `a credential that is refused leaves its sign-in unused`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "s"))
        let open = try await fixture.open("u")
        var purging = open.request
        for index in purging.revocations.indices { purging.revocations[index].verdict = .proven }
        purging.phase = .open(.purging)
        try await fixture.save(purging, was: open.request)
        var late = StateFixture.credential("u", "late", subject: "s")
        late.signIn = Self.signIn("t")
        #expect(try await fixture.store(late) == [.rejected(.deletionInProgress)])
        #expect(try await fixture.database.record(Self.signIn("t")) == .recorded)
    }

    @Test func `an older sign-in does not take the place of a newer one`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "s"))
        #expect(try await fixture.database.record(Self.signIn("new")) == .recorded)
        let old = Self.signIn("old", age: .seconds(86_400))
        #expect(try await fixture.database.record(old) == .recorded)
        guard
            case .accepted = try await fixture.accept(
                StateFixture.submission("u"),
                policy: Self.asking
            )[0]
        else {
            Issue.record("a newer sign-in was lost")
            return
        }
    }

    @Test func `only a subject that was known before is a proof, and only once`() async throws {
        let fixture = try StateFixture()
        let state = fixture.database
        #expect(try await state.record(Self.signIn("t")) == .subjectUnknown)
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        #expect(try await state.record(Self.signIn("t")) == .subjectUnknown)
        _ = try await fixture.keep(StateFixture.credential("u", "b", subject: "s"))
        #expect(try await state.record(Self.signIn("t", subject: "other")) == .otherSubject)
        #expect(try await state.record(Self.signIn("t")) == .recorded)
        #expect(try await state.record(Self.signIn("t")) == .usedBefore)
    }

    @Test func `a sign-in that is a moment too old, or waived`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a", subject: "s"))
        let late = Self.signIn("t", age: .milliseconds(900_001))
        #expect(try await fixture.database.record(late) == .recorded)
        let submission = StateFixture.submission("u")
        #expect(
            try await fixture.accept(submission, policy: Self.asking)
                == [.rejected(.freshSignInRequired)]
        )
        var waived = submission
        waived.isSignInWaived = true
        guard case .accepted = try await fixture.accept(waived, policy: Self.asking)[0] else {
            Issue.record("an operator was asked for a sign-in")
            return
        }
        // Joining what is open takes no sign-in.
        guard case .same = try await fixture.accept(submission, policy: Self.asking)[0] else {
            Issue.record("a repetition was asked for a sign-in")
            return
        }
    }
}
