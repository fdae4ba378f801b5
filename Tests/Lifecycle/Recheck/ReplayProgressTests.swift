import Lifecycle
import Testing

struct ReplayProgressTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var before: Before = .idle
        var id: String?
        var store: StoreName?
        /// After now, in seconds.
        var since = 0
        var restoredAt: Int?
        let end: End

        var testDescription: String { name }
    }

    enum Before { case idle, running, ended }

    enum End: Equatable {
        case new
        case repeated
        case refused(ReplayProgress.Refusal)
    }

    private static let now = Sample.start + Sample.day

    private static var earlier: ReplayTerms {
        var terms = ReplayTerms(since: Sample.start)
        terms.id = "ours"
        return terms
    }

    private static func progress(_ before: Before, of terms: ReplayTerms) -> ReplayProgress {
        switch before {
        case .idle: .idle
        case .running: .running(terms, RecheckReport())
        case .ended: .ended(terms, RecheckReport())
        }
    }

    static let cases: [Case] = [
        Case(name: "the first one", end: .new),
        Case(name: "one with an id", id: "ours", end: .new),
        Case(name: "the same id while it runs", before: .running, id: "ours", end: .repeated),
        Case(name: "the same id when it is over", before: .ended, id: "ours", end: .repeated),
        Case(
            name: "another id while one runs",
            before: .running,
            id: "other",
            end: .refused(.running)
        ),
        Case(name: "no id while one runs", before: .running, end: .refused(.running)),
        Case(name: "another id afterwards", before: .ended, id: "other", end: .new),
        Case(name: "no id afterwards", before: .ended, end: .new),
        Case(name: "one store", store: Sample.database, end: .new),
        Case(
            name: "an unknown store",
            before: .running,
            id: "ours",
            store: RunMachine.crm,
            end: .refused(.unknownStore)
        ),
        Case(name: "since a second ago", since: -1, end: .new),
        Case(name: "since a time to come", since: 1, end: .refused(.inFuture(.since, now: now))),
        Case(name: "restored now", restoredAt: 0, end: .new),
        Case(
            name: "restored at a time to come",
            before: .ended,
            id: "ours",
            restoredAt: 1,
            end: .refused(.inFuture(.restoredAt, now: now))
        ),
    ]

    @Test("a replay begins, is known already, or is refused", arguments: cases)
    func begin(_ given: Case) {
        var terms = ReplayTerms(since: Self.now + .seconds(given.since))
        terms.restoredAt = given.restoredAt.map { Self.now + .seconds($0) }
        (terms.id, terms.store) = (given.id, given.store)
        var progress = Self.progress(given.before, of: Self.earlier)
        let before = progress
        let end: End
        do throws(ReplayProgress.Refusal) {
            let isNew = try progress.begin(terms, in: [Sample.database], at: Self.now)
            end = isNew ? .new : .repeated
        } catch {
            end = .refused(error)
        }
        #expect(end == given.end)
        #expect(progress == (end == .new ? .running(terms, RecheckReport()) : before))
    }

    @Test func `two replays without an id are two`() throws {
        let terms = ReplayTerms(since: Sample.start)
        var progress = ReplayProgress.ended(terms, RecheckReport())
        #expect(try progress.begin(terms, in: [], at: Self.now))
    }

    @Test func `it runs until its run has ended, with the report so far`() {
        let terms = Self.earlier
        var progress = ReplayProgress.running(terms, RecheckReport())
        var machine = RunMachine(.replay(terms))
        machine.send(.begin)
        progress.follow(machine.run, of: terms)
        #expect(progress == .running(terms, RecheckReport()))
        machine.send(.failed("state_unavailable"))
        progress.follow(machine.run, of: terms)
        #expect(progress == .ended(terms, RecheckReport().broken("state_unavailable")))
    }
}
