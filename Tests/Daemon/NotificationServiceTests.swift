import Engine
import Lifecycle
import Providers
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon

@Suite("What a verified notification does") struct NotificationServiceTests {
    @Test("an account that is gone becomes one deletion of that user, however often it is told")
    func deletes() async throws {
        let setup = try await NotificationSetup()
        let first = try await setup.take(.accountGone)
        #expect(first.effect == .deletionRequested)
        #expect(first.answer == NotificationAnswer(status: 200))
        let open = try await setup.openDeletions()
        #expect(open == [first.requestID])
        let loaded = try await setup.bench.state.openRequests(open)
        #expect(loaded.map { $0.user.exposeText() } == ["alice"])
        // The account is gone, and so is the grant.
        #expect(loaded[0].unseen.map(\.isCut) == [true])
        let again = try await setup.take(.accountGone)
        #expect(again.effect == .deletionRequested && again.requestID == first.requestID)
        let other = try await setup.take(.accountGone, key: "j2")
        #expect(other.effect == .deletionOpen && other.requestID == first.requestID)
        #expect(try await setup.openDeletions() == open)
    }

    @Test("a deletion that a user asked for says nothing about the grant")
    func asked() async throws {
        let setup = try await NotificationSetup()
        let result = try await setup.take(.deletionAsked)
        #expect(result.effect == .deletionRequested)
        let loaded = try await setup.bench.state.openRequests(try await setup.openDeletions())
        #expect(loaded[0].unseen.isEmpty)
    }

    @Test("a link that was cut starts nothing and is evidence for what comes later")
    func cuts() async throws {
        let setup = try await NotificationSetup()
        #expect(try await setup.take(.linkCut).effect == .linkUpdated)
        #expect(try await setup.openDeletions().isEmpty)
        let later = try await setup.take(.deletionAsked, key: "j2")
        let loaded = try await setup.bench.state.openRequests([try #require(later.requestID)])
        #expect(loaded[0].unseen.map(\.isCut) == [true])
    }

    @Test(
        "the policy may be to report only",
        arguments: [
            ("on_account_deleted = \"report\"", NotificationMeaning.accountGone),
            ("on_account_deleted = \"report\"", .deletionAsked),
            ("on_link_cut = \"report\"", .linkCut),
        ]
    )
    func reports(key: String, meaning: NotificationMeaning) async throws {
        let setup = try await NotificationSetup(more: key)
        #expect(try await setup.take(meaning).effect == .reported)
        #expect(try await setup.openDeletions().isEmpty)
        #expect(setup.bench.log.all.contains { $0.hasPrefix("notificationReported") })
    }

    @Test("a copy of an old notification without a time is a hint and cuts nothing")
    func undated() async throws {
        let setup = try await NotificationSetup()
        for key in ["j1", "j2"] {
            #expect(try await setup.take(.linkCutUndated, key: key).effect == .hinted)
        }
        #expect(try await setup.openDeletions().isEmpty)
        #expect(try await setup.take(.accountGoneUndated, key: "j3").effect == .deletionRequested)
    }

    @Test("strangers are answered politely and nothing is done")
    func strangers() async throws {
        let setup = try await NotificationSetup()
        let result = try await setup.take(.accountGone, subject: "sub-2")
        #expect(result.effect == .unknownSubject && result.answer.status == 200)
        #expect(try await setup.openDeletions().isEmpty)
        let unknown = try await NotificationSetup(storesSubject: false)
        #expect(try await unknown.take(.accountGone).effect == .unknownSubject)
    }

    @Test("what is older than a month is not acted on, and what means nothing is not kept")
    func staleAndNoted() async throws {
        let setup = try await NotificationSetup()
        let old = Bench.start - StateDatabase.notificationAgeMax
        #expect(try await setup.take(.accountGone, at: old).effect == .stale)
        #expect(try await setup.take(.other, key: "j2").effect == .noted)
        #expect(try await setup.bench.state.pendingNotifications(limit: 9).isEmpty)
    }

    @Test("with the intake paused it is durable and acted on afterwards")
    func postponed() async throws {
        let setup = try await NotificationSetup()
        try await setup.intake.setPaused(true)
        let result = try await setup.take(.accountGone)
        #expect(result.effect == .postponed && result.answer.status == 200)
        #expect(try await setup.openDeletions().isEmpty)
        try await setup.intake.setPaused(false)
        #expect(try await setup.take(.accountGone).effect == .deletionRequested)
        #expect(try await setup.openDeletions().count == 1)
    }

    @Test("a confirmation has the same code every time, and the address of its page")
    func confirmation() async throws {
        let setup = try await NotificationSetup()
        let confirmation = NotificationAcknowledgement.confirmation(
            statusURLPrefix: "https://app.example.com/d/"
        )
        let first = try await setup.take(.deletionAsked, acknowledgement: confirmation)
        let again = try await setup.take(.deletionAsked, acknowledgement: confirmation)
        #expect(first.answer == again.answer)
        let parts = first.answer.body.split(separator: "\"").map(String.init)
        let code = try #require(parts.dropLast().last)
        #expect(code.count == 20)
        #expect(
            first.answer.body
                == #"{"url":"https://app.example.com/d/\#(code)","confirmation_code":"\#(code)"}"#
        )
        let state = setup.bench.state
        let notification = try await state.notification(code: code, of: ProviderName("apple"))
        #expect(notification?.requestID == first.requestID)
    }

    @Test("no log line shows a subject, a user id or a key")
    func silent() async throws {
        let setup = try await NotificationSetup(more: "on_link_cut = \"report\"")
        _ = try await setup.take(.accountGone, key: "secret-key")
        _ = try await setup.take(.linkCut, key: "k2")
        let text = setup.bench.log.all.joined()
        for word in ["sub-1", "alice", "secret-key"] { #expect(!text.contains(word)) }
    }

    @Test("a stranger at the web server fills counters, not the journal")
    func refusals() async throws {
        let setup = try await NotificationSetup()
        let refusal = NotificationRefusal(
            .badSignature,
            provider: ProviderName("apple"),
            answer: NotificationAnswer(status: 400)
        )
        for _ in 0..<5 { setup.service.refused(refusal) }
        let key = NotificationService.Outcome(provider: ProviderName("apple"), effect: .refused)
        #expect(setup.service.counter.counts == [key: 5])
        #expect(setup.bench.log.all.filter { $0.hasPrefix("notificationRefused") }.count == 1)
    }
}
