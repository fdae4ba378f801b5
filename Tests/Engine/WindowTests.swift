import Lifecycle
import Testing

@testable import Engine

/// The window: bounded, filled by reads, left when nothing is under way.
struct WindowTests {
    @Test func `a request that went on before its admission is heard of is not taken back`() {
        let driver = CoreDriver.idle()
        let read = driver.core.beginAdmission()
        // An operator has found it in the state and holds it, before its admission arrives.
        driver.send(.operate(Sample.request(1), .hold, Ticket(number: 1)))
        let load = driver.core.lastRead
        driver.send(.loaded(load, [Sample.loaded(1, provider: nil)], asked: [Sample.request(1)]))
        #expect(driver.settle().replies == [.done])
        #expect(driver.core.workCount == 0)
        let late = driver.send(.admitted([Sample.loaded(1, provider: nil)], by: read))
        #expect((late + driver.settle()).purges.isEmpty)
    }

    @Test func `the window never grows beyond its bound`() {
        let driver = CoreDriver.idle()
        let count = Limits.windowMax + 300
        driver.send(.admitted((0..<count).map { Sample.loaded($0, provider: nil) }))
        #expect(driver.core.window.count == Limits.windowMax)
        #expect(driver.openCommit?.saves.count == Limits.windowMax)
        // What was left out stays due in the state, and nothing is read before there is room.
        #expect(driver.core.fetch.nextDueAt == Sample.start)
        #expect(driver.openFetch == nil)
    }

    @Test func `new requests of a provider that hangs leave room for those of another`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted((0..<Limits.windowMax * 2).map { Sample.loaded($0) }))
        driver.settle()
        #expect(driver.core.window.count <= Limits.windowMax / 4)
        let number = Limits.windowMax * 3
        let actions =
            driver.send(.admitted([Sample.loaded(number, provider: Sample.other)]))
            + driver.settle()
        #expect(actions.calls.map(\.request) == [Sample.request(number)])
        // What was left out is read once the lane can use it.
        #expect(driver.core.fetch.skippedLanes == [Sample.apple])
    }

    @Test func `a flood of one submitter delays the first requests of no other`() {
        let driver = CoreDriver.idle()
        func loaded(_ number: Int, by uid: UInt32?, _ provider: ProviderName?) -> LoadedRequest {
            var loaded = Sample.loaded(number, provider: provider)
            loaded.submitter = uid
            return loaded
        }
        for (base, provider) in [(0, ProviderName?.none), (100_000, Sample.apple)] {
            driver.send(
                .admitted((0..<Limits.windowMax * 2).map { loaded(base + $0, by: 1, provider) })
            )
            let full = driver.core.window.count
            // Two applications, and the spool, which counts as one.
            for (place, uid) in [(10_000, UInt32?(2)), (20_000, 3), (30_000, nil)] {
                let numbers = (0..<20).map { base + place + $0 }
                driver.send(.admitted(numbers.map { loaded($0, by: uid, provider) }))
                let taken = numbers.filter { driver.core.window[Sample.request($0)] != nil }
                #expect(taken == Array(numbers.prefix(Limits.submitterShare)))
            }
            #expect(driver.core.window.count == full + 3 * Limits.submitterShare)
            // The flood itself has no share left.
            driver.send(.admitted([loaded(base + 40_000, by: 1, provider)]))
            #expect(driver.core.window[Sample.request(base + 40_000)] == nil)
            if provider == nil { driver.settle() }
        }
    }

    @Test func `a page of due work that fills a lane delays the first requests of no other`() {
        let driver = CoreDriver()
        driver.send()
        driver.commit()
        driver.fetch((0..<Limits.fetchMax).map { Sample.loaded($0) })
        var loaded = Sample.loaded(Limits.fetchMax)
        loaded.submitter = 1
        driver.send(.admitted([loaded]))
        #expect(driver.core.window[loaded.request.id] != nil)
    }

    @Test func `due work is read a page at a time, without what is here`() throws {
        let driver = CoreDriver()
        let fetch = try #require(driver.send().fetches.first)
        #expect(fetch.excluding.isEmpty)
        driver.commit()
        let page = (0..<Limits.fetchMax).map { Sample.loaded($0) }
        let more = driver.fetch(page).fetches
        #expect(more.first?.excluding == Set(page.map(\.request.id)))
        // The next page is short: the state says when more is due.
        let later = Sample.start + .seconds(90)
        driver.fetch([Sample.loaded(5000)], nextDueAt: later)
        #expect(driver.openFetch == nil)
        #expect(driver.core.fetch.nextDueAt == later)
        #expect(driver.core.window.count == Limits.fetchMax + 1)
    }

    @Test func `reading stops where a page would not fit`() {
        let driver = CoreDriver.idle()
        let count = Limits.windowMax - Limits.fetchMax + 1
        driver.send(.admitted((0..<count).map { Sample.loaded($0, provider: nil) }))
        driver.core.fetch.nextDueAt = Sample.start
        driver.send(.timer)
        #expect(driver.openFetch == nil)
        #expect(driver.core.wakeTime(after: Sample.start) == nil)
    }

    @Test func `one read of due work at a time`() {
        let driver = CoreDriver()
        #expect(driver.send().fetches.count == 1)
        #expect(driver.send(.timer).fetches.isEmpty)
    }

    @Test func `a request that waits leaves and is read again when it is due`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.commit()
        driver.answerRevoke(1, .failure(.throttled(retryAfter: .seconds(60))))
        #expect(driver.core.window.keys.isEmpty)
        let wake = driver.core.wakeTime(after: driver.now)
        #expect(wake.map { $0 >= Sample.start + .seconds(60) } ?? false)
        driver.now = wake ?? driver.now
        #expect(driver.send(.timer).fetches.count == 1)
    }

    @Test func `due work noted while a read is under way is not forgotten`() {
        let driver = CoreDriver.idle()
        driver.core.fetch.nextDueAt = Sample.start
        #expect(driver.send(.timer).fetches.count == 1)
        let soon = Sample.start + .seconds(30)
        driver.send(.admitted([Sample.loaded(1, notBefore: soon)]))
        driver.commit()
        #expect(driver.core.window.keys.isEmpty)
        driver.fetch([], nextDueAt: Sample.start + Sample.day)
        #expect(driver.core.fetch.nextDueAt == soon)
    }

    @Test func `a read that began before a request left is ignored for it`() throws {
        let driver = CoreDriver()
        driver.send()
        driver.commit()
        // The read is under way; the request comes, is done and leaves.
        driver.send(.admitted([Sample.loaded(1, provider: nil)]))
        driver.commit()
        driver.send(driver.purged([1]))
        driver.commit()
        driver.send(driver.verified([1]))
        driver.commit()
        #expect(driver.core.window.keys.isEmpty)
        let actions = driver.fetch([Sample.loaded(1, provider: nil), Sample.loaded(2)])
        #expect(actions.commits.first?.saves.map(\.id) == [Sample.request(2)])
        #expect(driver.core.reads.left.isEmpty)
    }

    @Test func `a read by id that is older than what left is repeated`() throws {
        let driver = CoreDriver.idle()
        let hold = EngineInput.operate(Sample.request(1), .hold, Ticket(number: 1))
        let asked = try #require(driver.send(hold).loads.first)
        // Meanwhile it was read with due work, waited, and left.
        driver.send(.admitted([Sample.loaded(1, notBefore: Sample.start + Sample.day)]))
        driver.settle()
        #expect(driver.core.window.keys.isEmpty)
        let stale = driver.send(.loaded(asked.read, [Sample.loaded(1)], asked: asked.ids))
        let again = try #require(stale.loads.first)
        #expect(stale.replies.isEmpty)
        #expect(again.ids == [Sample.request(1)])
        driver.send(.loaded(again.read, [Sample.loaded(1)], asked: again.ids))
        #expect(driver.commit().replies == [.done])
    }

    @Test func `an operation on a request outside the window reads it first`() throws {
        let driver = CoreDriver.idle()
        let hold = EngineInput.operate(Sample.request(1), .hold, Ticket(number: 1))
        let load = try #require(driver.send(hold).loads.first)
        let loaded = driver.send(.loaded(load.read, [Sample.loaded(1)], asked: load.ids))
        #expect(loaded.commits.first?.saves.first?.isHeld == true)
        #expect(driver.commit().replies == [.done])
        #expect(driver.core.window.keys.isEmpty)
    }

    @Test func `operations on one absent request are done in order`() throws {
        let driver = CoreDriver.idle()
        let inputs = [RequestEvent.hold, .release, .release].enumerated().map {
            EngineInput.operate(Sample.request(1), $1, Ticket(number: UInt64($0 + 1)))
        }
        var loads: [(read: ReadNumber, ids: [RequestID])] = []
        for input in inputs { loads += driver.send(input).loads }
        var replies: [OperationOutcome] = []
        for load in loads {
            replies += driver.send(.loaded(load.read, [Sample.loaded(1)], asked: load.ids)).replies
        }
        replies += driver.settle().replies
        #expect(replies == [.refused(.notOnHold), .done, .done])
    }

    @Test func `an operation on a request that is not open says so`() throws {
        let driver = CoreDriver.idle()
        let hold = EngineInput.operate(Sample.request(1), .hold, Ticket(number: 1))
        let load = try #require(driver.send(hold).loads.first)
        let actions = driver.send(.loaded(load.read, [], asked: load.ids))
        #expect(actions.replies == [.notOpen])
        #expect(actions.commits.isEmpty)
        #expect(driver.core.waitingOperations.isEmpty)
    }

    @Test func `suspects run one at a time, and nothing beside them`() throws {
        let driver = CoreDriver(suspects: [Sample.request(1), Sample.request(2)])
        let start = driver.send()
        #expect(start.fetches.isEmpty)
        #expect(start.loads.map(\.ids) == [[Sample.request(1)]])
        driver.commit()
        #expect(driver.send(.admitted([Sample.loaded(9)])).commits.isEmpty)
        driver.send(
            .loaded(
                start.loads[0].read,
                [Sample.loaded(1, provider: nil)],
                asked: [Sample.request(1)]
            )
        )
        driver.commit()
        #expect(driver.send(driver.purged([1])).loads.isEmpty)
        driver.commit()
        #expect(driver.send(driver.verified([1])).loads.isEmpty)
        let next = driver.commit()
        #expect(next.loads.map(\.ids) == [[Sample.request(2)]])
        #expect(next.fetches.isEmpty)
        // The second one ended before the crash was noted: nothing is left to suspect.
        let free = driver.send(.loaded(next.loads[0].read, [], asked: [Sample.request(2)]))
        #expect(free.fetches.count == 1)
    }

    @Test func `nothing is called for a state that may be an old copy, until somebody says so`() {
        let driver = CoreDriver.idle()
        driver.core.restrain()
        driver.send(.admitted([Sample.loaded(1)]))
        let actions = driver.commit()
        #expect(actions.calls.isEmpty)
        #expect(driver.core.window.isEmpty)
        let lifted = driver.send(.restraintLifted).commits.flatMap(\.self)
        #expect(
            lifted.contains { change in
                if case .wake(.onHold, nil, _) = change { true } else { false }
            }
        )
        driver.commit()
        driver.fetch([Sample.loaded(1)])
        #expect(!driver.commit().calls.isEmpty)
    }

    @Test func `update of an identity reach the open request, also outside the window`() throws {
        let driver = CoreDriver.idle()
        let token = Sample.credential(50)
        let work = CredentialWork(id: token, kind: .refreshToken, step: .stored)
        let update = IdentityUpdate(
            snapshot: Sample.snapshot(1, credentials: [work]),
            credentials: [token: Sample.sealed(50)],
            openRequests: [Sample.request(1)]
        )
        let load = try #require(driver.send(.update(update)).loads.first)
        let loaded = Sample.loaded(1, provider: nil, notBefore: Sample.start)
        driver.send(.loaded(load.read, [loaded], asked: load.ids))
        let calls = driver.commit().calls
        #expect(calls.map(\.effect) == [.call(TokenCall(.revoke, Sample.identity(1), token))])
    }

    @Test func `what the vault learned before a crash comes before anything else`() {
        let driver = CoreDriver.idle()
        let fresh = CredentialWork(id: Sample.credential(1), kind: .refreshToken, step: .stored)
        let unseen = Sample.snapshot(1, credentials: [fresh])
        driver.send(.admitted([Sample.loaded(1, provider: nil, unseen: [unseen])]))
        #expect(driver.openCommit?.saves.first?.revocations.count == 1)
        #expect(driver.openCommit?.saves.first?.phase == .open(.revoking))
    }

    @Test func `what brings a token comes before what ends the stage`() {
        let driver = CoreDriver.idle()
        let revoked = CredentialWork(
            id: Sample.credential(1),
            kind: .refreshToken,
            step: .accepted
        )
        var code = CredentialWork(
            id: Sample.credential(3),
            kind: .authorizationCode,
            step: .codePending
        )
        let other = CredentialWork(id: Sample.credential(2), kind: .refreshToken, step: .accepted)
        let known = [
            Sample.snapshot(1, credentials: [revoked, code]),
            Sample.snapshot(2, credentials: [other]),
        ]
        // The exchange of the code named the subject of the other identity.
        code.step = .unusable
        let fresh = CredentialWork(id: Sample.credential(4), kind: .refreshToken, step: .stored)
        let unseen = [
            Sample.snapshot(1, credentials: [revoked, code]),
            Sample.snapshot(2, credentials: [other, fresh]),
        ]
        var loaded = Sample.loaded(1, provider: nil, unseen: unseen)
        loaded.request = Request(
            id: Sample.request(1),
            kind: .deleteAccount,
            createdAt: Sample.start,
            acceptedAt: Sample.start,
            notBefore: Sample.start,
            deadlineAt: Sample.start + Sample.day * 30,
            identities: known,
            stores: [Sample.database]
        )
        loaded.request.phase = .open(.revoking)
        loaded.request.revocations[1].verdict = .accepted
        driver.send(.admitted([loaded]))
        let saved = driver.openCommit?.saves.first
        #expect(saved?.phase == .open(.revoking))
        let ids = saved?.revocations.last?.credentials.map(\.id)
        #expect(ids == [Sample.credential(2), Sample.credential(4)])
    }
}
