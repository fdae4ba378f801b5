import Engine
import Lifecycle
import Testing

/// Nothing is sent, deleted or acknowledged before the commit that allows it.
struct CommitTests {
    @Test func `a call follows the commit of its intent`() throws {
        let driver = CoreDriver.idle()
        let decided = driver.send(.admitted([Sample.loaded(1)]))
        #expect(decided.calls.isEmpty)
        #expect(decided.changed.isEmpty)
        let saved = try #require(decided.commits.first?.saves.first)
        #expect(saved.revocations[0].credentials[0].step == .revoking)
        let done = driver.commit()
        #expect(done.calls.map(\.request) == [Sample.request(1)])
        #expect(done.changed.map(\.id) == [Sample.request(1)])
    }

    @Test func `a purge and the end follow their commits, a verification only reads`() throws {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.commit()
        let revoked = driver.send(driver.revoked(1, .success))
        #expect(revoked.purges.isEmpty)
        #expect(revoked.announcements.isEmpty)
        #expect(revoked.commits.first?.saves.first?.purgeStartedAt != nil)
        let begun = driver.commit()
        #expect(begun.purges == [[Sample.request(1)]])
        #expect(
            begun.announcements == [.verdict(Sample.apple, .accepted, calls: 1), .purgeStarted]
        )
        let purged = driver.send(driver.purged([1]))
        #expect(purged.verifications == [[Sample.request(1)]])
        #expect(purged.commits.isEmpty)
        let verified = driver.send(driver.verified([1]))
        #expect(verified.announcements.isEmpty)
        #expect(verified.commits.first?.saves.first?.purges[0].step == .verified)
        let ended = driver.commit()
        #expect(ended.announcements == [.completed])
        #expect(ended.changed.map(\.phase) == [.completed])
        #expect(driver.core.workCount == 0)
    }

    @Test func `a hold during a verification stores what was purged`() throws {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.commit()
        driver.answerRevoke(1, .success)
        driver.send(driver.purged([1]))
        let held = driver.send(.operate(Sample.request(1), .hold, Ticket(number: 1)))
        let saved = try #require(held.commits.first?.saves.first)
        #expect(saved.purges[0].step == .purged)
        #expect(driver.commit().replies == [.done])
        #expect(
            driver.send(driver.verified([1])).commits.first?.saves.first?.phase.isEnded == false
        )
    }

    @Test func `what remains after a purge is stored before the next one`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.commit()
        driver.answerRevoke(1, .success)
        driver.send(driver.purged([1]))
        let verified = driver.send(driver.verified([1], .remaining(3)))
        #expect(verified.purges.isEmpty)
        #expect(verified.commits.first?.saves.first?.purges[0].step == .waiting)
        #expect(driver.commit().announcements == [.remainingRows(Sample.database)])
    }

    @Test func `what was stored as a purge would begin is revoked first, and orders are kept`()
        throws
    {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1), Sample.loaded(2)]))
        driver.commit()
        driver.send(driver.revoked(1, .success), driver.revoked(2, .success))
        let id = Sample.request(1)
        driver.send(.operate(id, .retry, Ticket(number: 7)))
        let again = driver.send(.refused(CommitRefusal(unseenBy: [id])))
        #expect(again.commits.first?.saves.map(\.id) == [Sample.request(2)])
        #expect(again.replies.isEmpty)
        let load = try #require(again.loads.first)
        #expect(load.ids == [id])
        let begun = driver.commit()
        #expect(begun.purges == [[Sample.request(2)]])

        let late = CredentialWork(id: Sample.credential(3), kind: .refreshToken, step: .stored)
        var loaded = Sample.loaded(1, unseen: [Sample.snapshot(1, credentials: [late])])
        loaded.credentials[Sample.credential(3)] = Sample.sealed(3)
        driver.send(.loaded(load.read, [loaded], asked: load.ids))
        let called = driver.commit()
        #expect(called.replies == [.done])
        #expect(called.calls.map(\.request) == [id])
        #expect(called.purges.isEmpty)
    }

    @Test func `one commit at a time, and what waits goes together into the next`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        for number in 2...20 {
            let actions = driver.send(.admitted([Sample.loaded(number)]))
            #expect(actions.commits.isEmpty)
        }
        let next = driver.commit()
        #expect(next.commits.count == 1)
        #expect(next.commits.first?.saves.count == 19)
        #expect(!driver.isCommitDoubled)
    }

    @Test func `an operation is answered when it is durable`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.commit()
        let held = driver.send(.operate(Sample.request(1), .hold, Ticket(number: 1)))
        #expect(held.replies.isEmpty)
        #expect(held.commits.first?.saves.first?.isHeld == true)
        #expect(driver.commit().replies == [.done])
    }

    @Test func `a refusal changes nothing and is answered at once`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.commit()
        let refused = driver.send(.operate(Sample.request(1), .release, Ticket(number: 1)))
        #expect(refused.replies == [.refused(.notOnHold)])
        #expect(refused.commits.isEmpty)
    }

    @Test func `an operation without a ticket is not answered`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.commit()
        driver.send(.operate(Sample.request(1), .hold, Ticket(number: 0)))
        #expect(driver.commit().replies.isEmpty)
    }

    @Test func `a probe is answered at once, also while a commit is under way`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        #expect(driver.send(.probe(Ticket(number: 7))).replies == [.done])
    }

    @Test func `what is held or cancelled while it waits for a slot is not called`() {
        for (event, expected) in [(RequestEvent.hold, "parked"), (.cancel, "cancelled")] {
            let driver = CoreDriver.idle(Sample.configuration(concurrency: 1))
            driver.send(.admitted([Sample.loaded(1), Sample.loaded(2)]))
            let first = driver.commit().calls.map(\.request)
            #expect(first.count == 1)
            let waiting = first == [Sample.request(1)] ? 2 : 1
            driver.send(.operate(Sample.request(waiting), event, Ticket(number: 1)))
            driver.settle()
            let actions = driver.answerRevoke(3 - waiting, .success)
            #expect(actions.calls.isEmpty, "\(expected)")
        }
    }

    @Test func `a commit that changes nothing of a request does not report it`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1, notBefore: Sample.start + Sample.day)]))
        let first = driver.settle()
        #expect(first.changed.count == 1)
        driver.send(.admitted([Sample.loaded(2, provider: nil)]))
        #expect(driver.commit().changed.map(\.id) == [Sample.request(2)])
    }
}
