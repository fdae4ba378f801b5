import Lifecycle
import Testing

@testable import Engine

/// Providers and stores as the core sees them: lanes, pauses, breaker, guard.
struct LaneCoreTests {
    @Test func `due work of closed lanes stays in the state`() throws {
        let driver = CoreDriver(pauses: StoredPauses(providers: [Sample.apple: "operator"]))
        #expect(try #require(driver.send().fetches.first).laneLimits == [Sample.apple: 0])
    }

    @Test func `a lane with requests enough is closed, and opens when half are gone`() throws {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 64))
        let lane = try #require(driver.core.lanes[Sample.apple])
        let count = lane.requestCountMax
        driver.send(.admitted((0..<count).map { Sample.loaded($0) }))
        driver.core.fetch.nextDueAt = Sample.start
        #expect(driver.send(.timer).fetches.first?.laneLimits == [Sample.apple: 0])
        driver.fetch()
        var calls = driver.settle().calls.map(\.request)
        var fetches = 0
        while let id = calls.popLast(), fetches == 0 {
            let number = Int(id.value.low)
            let actions = driver.send(driver.revoked(number, .failure(.throttled(retryAfter: nil))))
            let after = actions + driver.commit()
            calls += after.calls.map(\.request)
            fetches += after.fetches.count
        }
        #expect(driver.core.lanes[Sample.apple]?.requestCount == count / 2)
    }

    @Test func `a misconfigured provider is paused for everybody, durably`() {
        let driver = CoreDriver.idle()
        driver.send(
            .admitted([
                Sample.loaded(1), Sample.loaded(2), Sample.loaded(3, provider: Sample.other),
            ])
        )
        #expect(driver.commit().calls.count == 3)
        let actions = driver.answerRevoke(1, .failure(.misconfigured))
        #expect(actions.reports.contains(.providerPaused(Sample.apple, reason: "misconfigured")))
        #expect(actions.announcements.contains(.parked(.providerPaused)))
        // A call that was under way may still succeed; no other is begun.
        #expect(driver.answerRevoke(2, .success).purges == [[Sample.request(2)]])
        driver.send(.admitted([Sample.loaded(4)]))
        #expect(driver.settle().calls.isEmpty)
    }

    @Test func `a new request at a paused provider is parked with that reason`() {
        let driver = CoreDriver(pauses: StoredPauses(providers: [Sample.apple: "operator"]))
        driver.send()
        driver.settle()
        driver.send(.admitted([Sample.loaded(1)]))
        #expect(driver.openCommit?.saves.map(\.phase.parkReason) == [.providerPaused])
        #expect(driver.settle().calls.isEmpty)
        #expect(driver.core.window.keys.isEmpty)
    }

    @Test func `a resumed provider wakes what is parked for it`() throws {
        let driver = CoreDriver(pauses: StoredPauses(providers: [Sample.apple: "operator"]))
        driver.send()
        driver.settle()
        let actions = driver.send(.resume(Sample.apple))
        #expect(actions.commits.first?.wakes == ParkReason.ofRevocations)
        // This read is for the lane that was left out; what the wake makes due comes after it.
        #expect(actions.fetches.first?.laneLimits == [:])
        #expect(driver.commit().reports == [.providerResumed(Sample.apple)])
        #expect(driver.fetch().fetches.count == 1)
        #expect(driver.fetch().fetches.isEmpty)
    }

    @Test func `pausing twice and resuming what runs change nothing`() {
        let driver = CoreDriver.idle()
        #expect(driver.send(.resume(Sample.apple)).commits.isEmpty)
        #expect(driver.send(.pause(Sample.apple, reason: "a")).commits.count == 1)
        driver.settle()
        #expect(driver.send(.pause(Sample.apple, reason: "b")).commits.isEmpty)
        #expect(driver.send(.pauseStore(Sample.database, reason: "a")).commits.count == 1)
        driver.settle()
        #expect(driver.send(.pauseStore(Sample.database, reason: "b")).commits.isEmpty)
        #expect(driver.send(.resumeStore(Sample.database)).commits.first?.wakes == [.storePaused])
        driver.settle()
        #expect(driver.send(.resumeStore(Sample.database)).commits.isEmpty)
    }

    @Test func `the service resumes nothing that an operator has paused`() {
        let driver = CoreDriver(pauses: StoredPauses(stores: [Sample.database: "misconfigured"]))
        driver.send()
        driver.settle()
        // An operator pauses both after the service did.
        #expect(driver.send(.pause(Sample.apple, reason: "misconfigured")).commits.count == 1)
        driver.settle()
        driver.send(.pause(Sample.apple, reason: "operator", by: 7))
        driver.send(.pauseStore(Sample.database, reason: "operator", by: 7))
        // The service's own reason does not come back by itself.
        driver.send(.pauseStore(Sample.database, reason: "misconfigured"))
        #expect(driver.send(.resume(Sample.apple, isOwn: true)).commits.isEmpty)
        #expect(driver.send(.resumeStore(Sample.database, isOwn: true)).commits.isEmpty)
        // The operator gives the store back, and resumes the provider.
        let given = driver.send(.pauseStore(Sample.database, reason: "misconfigured", by: 7))
        #expect(given.reports == [.storePaused(Sample.database, reason: "misconfigured")])
        let failed = driver.send(.pause(Sample.apple, reason: "not_set_up", by: 7))
        #expect(failed.reports == [.providerPaused(Sample.apple, reason: "not_set_up")])
        let resumed = driver.send(.resumeStore(Sample.database, isOwn: true))
        #expect(resumed.commits.first?.wakes == [.storePaused])
        driver.settle()
        let last = driver.send(.resume(Sample.apple))
        #expect(last.commits.first?.wakes == ParkReason.ofRevocations)
    }

    @Test func `an outage opens the breaker and sends the queue home without attempts`() throws {
        let concurrency = Limits.breakerFailures
        let driver = CoreDriver.idle(Sample.configuration(concurrency: concurrency))
        driver.send(.admitted((1...40).map { Sample.loaded($0) }))
        var calls = driver.commit().calls.map { Int($0.request.value.low) }
        #expect(calls.count == concurrency)
        var reports: [EngineReport] = []
        var saves: [Request] = []
        var answered = 0
        while answered < calls.count {
            let actions = driver.send(driver.revoked(calls[answered], .failure(.unreachable)))
            calls += actions.calls.map { Int($0.request.value.low) }
            reports += actions.reports
            saves += actions.commits.flatMap(\.saves)
            answered += 1
        }
        // Those that were under way when the breaker opened, and none after.
        #expect(calls.count == 2 * concurrency - 1)
        #expect(reports == [.outageBegan(Sample.apple, reason: "unreachable")])
        saves += driver.commit().commits.flatMap(\.saves)
        driver.settle()
        #expect(driver.core.window.keys.isEmpty)
        let opensAt = Sample.start + Limits.breakerPauseMin
        for request in saves where !calls.contains(Int(request.id.value.low)) {
            #expect(request.revocations[0].attempts == 0)
            #expect(request.revocations[0].retryAt.map { $0 >= opensAt } ?? false)
        }
        #expect(Set(saves.map(\.id)).count == 40)
    }

    @Test func `the answer of a probe closes the breaker`() throws {
        let driver = CoreDriver.idle()
        driver.send(.admitted((1...Limits.breakerFailures).map { Sample.loaded($0) }))
        driver.commit()
        for number in 1...Limits.breakerFailures {
            driver.send(driver.revoked(number, .failure(.unreachable)))
        }
        driver.settle()
        driver.now = driver.now + Limits.breakerPauseMin
        driver.send(.admitted([Sample.loaded(50), Sample.loaded(51)]))
        let probe = driver.settle().calls.map { Int($0.request.value.low) }
        #expect(probe.count == 1)
        let answered = driver.send(driver.revoked(probe[0], .success))
        #expect(answered.reports.contains(.outageEnded(Sample.apple)))
        #expect(answered.fetches.first?.laneLimits == [:])
        driver.fetch([Sample.loaded(51)])
        #expect(driver.settle().calls.map(\.request) == [Sample.request(51)])
    }

    @Test func `a probe is one request, and what fails with it is that one alone`() throws {
        let driver = CoreDriver.idle()
        driver.send(.admitted((1...Limits.breakerFailures).map { Sample.loaded($0) }))
        driver.commit()
        for number in 1...Limits.breakerFailures {
            driver.send(driver.revoked(number, .failure(.unreachable)))
        }
        driver.settle()
        driver.core.fetch.nextDueAt = Sample.start
        #expect(driver.send(.timer).fetches.first?.laneLimits == [Sample.apple: 0])
        driver.fetch()
        driver.now = driver.now + Limits.breakerPauseMin
        #expect(driver.core.wakeTime(after: Sample.start) == driver.now)
        #expect(driver.send(.timer).fetches.first?.laneLimits == [Sample.apple: 1])
        driver.fetch([Sample.loaded(50)])
        // More are due; they wait for what becomes of the first.
        #expect(driver.openFetch == nil)
        #expect(driver.commit().calls.map(\.request) == [Sample.request(50)])
        let failed = driver.send(driver.revoked(50, .failure(.unreachable)))
        #expect(failed.commits.flatMap(\.saves).map(\.id) == [Sample.request(50)])
        driver.settle()
        #expect(driver.openFetch == nil)
        #expect(driver.core.lanes[Sample.apple]?.requestCount == 0)
    }

    @Test func `each probe is another request, until all have failed`() throws {
        let driver = CoreDriver.idle()
        let failed = Set((1...Limits.breakerFailures).map { Sample.request($0) })
        driver.send(.admitted((1...Limits.breakerFailures).map { Sample.loaded($0) }))
        driver.commit()
        for number in 1...Limits.breakerFailures {
            driver.send(driver.revoked(number, .failure(.unreachable)))
        }
        driver.settle()
        driver.now = driver.now + Limits.breakerPauseMin
        driver.core.fetch.nextDueAt = driver.now
        let first = try #require(driver.send(.timer).fetches.first)
        #expect(first.excluding == failed)
        driver.fetch([Sample.loaded(50)])
        #expect(driver.commit().calls.map(\.request) == [Sample.request(50)])
        driver.send(driver.revoked(50, .failure(.unreachable)))
        driver.settle()
        driver.now = try #require(driver.core.lanes[Sample.apple]?.opensAt)
        driver.core.fetch.nextDueAt = driver.now
        let second = try #require(driver.send(.timer).fetches.first)
        #expect(second.excluding == failed.union([Sample.request(50)]))
        let third = try #require(driver.fetch().fetches.first)
        #expect(third.excluding.isEmpty)
        driver.fetch([Sample.loaded(3)])
        #expect(driver.commit().calls.map(\.request) == [Sample.request(3)])
        #expect(driver.answerRevoke(3, .success).reports.contains(.outageEnded(Sample.apple)))
        #expect(driver.core.lanes[Sample.apple]?.failedCallers == [])
    }

    @Test func `users that a provider refuses keep nobody from being called`() throws {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 64))
        driver.send(.admitted((1...42).map { Sample.loaded($0) }))
        #expect(driver.commit().calls.count == 42)
        for _ in 1...10 {
            for number in 1...12 {
                let actions = driver.answerRevoke(number, .failure(.rejected))
                #expect(actions.reports.isEmpty)
                driver.send(.admitted([Sample.loaded(number)]))
                driver.settle()
            }
        }
        #expect(driver.core.lanes[Sample.apple]?.isTrusted == true)
        driver.send(.codes([Sample.code(99)]))
        #expect(driver.settle().exchanges == [Sample.credential(99)])
        driver.send(.admitted([Sample.loaded(100)]))
        #expect(driver.settle().calls.map(\.request) == [Sample.request(100)])
    }

    @Test func `a lane that has nothing to probe with is not asked for again and again`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted((1...Limits.breakerFailures).map { Sample.loaded($0) }))
        driver.commit()
        for number in 1...Limits.breakerFailures {
            driver.send(driver.revoked(number, .failure(.unreachable)))
        }
        driver.settle()
        driver.now = driver.now + Limits.breakerPauseMin
        driver.core.fetch.nextDueAt = driver.now
        #expect(driver.send(.timer).fetches.first?.laneLimits == [Sample.apple: 1])
        // Nobody else is due, so those that failed may be asked again; they are not due either.
        #expect(driver.fetch().fetches.map(\.excluding) == [[]])
        #expect(driver.fetch().fetches.isEmpty)
        #expect(driver.send(.timer).fetches.isEmpty)
    }

    @Test func `a dead provider does not keep the others from being called`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 2))
        let dead = (1...20).map { Sample.loaded($0) }
        let alive = (21...22).map { Sample.loaded($0, provider: Sample.other) }
        driver.send(.admitted(dead + alive))
        let calls = driver.commit().calls.map { Int($0.request.value.low) }
        #expect(calls.count { $0 > 20 } == 2)
        #expect(calls.count { $0 <= 20 } == 2)
    }

    @Test func `a sealed vault sends nothing and an open one wakes what waited`() {
        let sealed = CoreDriver(isVaultOpen: false)
        sealed.send()
        sealed.fetch([Sample.loaded(1)])
        #expect(sealed.openCommit?.saves.first?.phase.parkReason == .vaultSealed)
        #expect(sealed.settle().calls.isEmpty)
        let open = CoreDriver().core
        #expect(open.nextBatch.hasWake || open.batchUnderWay?.hasWake == true)
    }

    @Test func `the guard parks what is too much, and an override lets a number pass`() throws {
        let driver = CoreDriver.idle(Sample.configuration(purgesPerHourMax: 2))
        driver.send(.admitted((1...5).map { Sample.loaded($0, provider: nil) }))
        let committed = driver.commit()
        #expect(committed.purges == [[Sample.request(1), Sample.request(2)]])
        #expect(committed.announcements.count { $0 == .parked(.massDeletionGuard) } == 3)
        #expect(committed.reports.count { $0 == .guardTripped } == 1)
        let until = driver.now + .seconds(600)
        let override = driver.send(.guardOverride(purges: 1, until: until))
        #expect(override.commits.first?.wakes == [.massDeletionGuard])
        let load = driver.commit().fetches
        #expect(load.count == 1)
        driver.fetch((3...5).map { Sample.loaded($0, provider: nil) })
        let begun = driver.openCommit?.saves.filter { $0.purgeStartedAt != nil } ?? []
        #expect(begun.count == 1)
        #expect(driver.commit().reports.count { $0 == .guardTripped } == 1)
    }

    @Test func `one uid stops no deletion of another at the guard`() {
        let driver = CoreDriver.idle(Sample.configuration(purgesPerHourMax: 4))
        let requests = (1...6).map { number in
            var loaded = Sample.loaded(number, provider: nil)
            loaded.submitter = number < 5 ? 1000 : 1001
            return loaded
        }
        driver.send(.admitted(requests))
        let begun = [1, 2, 3, 5].map { Sample.request($0) }
        #expect(driver.commit().purges == [begun])
    }

    @Test func `the guard is reported once an hour, however many wait for it`() {
        let driver = CoreDriver.idle(Sample.configuration(purgesPerHourMax: 0))
        for (number, count) in [(1, 1), (2, 0), (3, 1)] {
            driver.send(.admitted([Sample.loaded(number, provider: nil)]))
            #expect(driver.settle().reports.count { $0 == .guardTripped } == count)
            driver.now = driver.now + .seconds(1800)
        }
    }

    @Test func `once the reported request has left, the next at the guard is reported`() throws {
        let driver = CoreDriver.idle(Sample.configuration(purgesPerHourMax: 0))
        driver.send(.admitted([Sample.loaded(1, provider: nil), Sample.loaded(2, provider: nil)]))
        #expect(driver.settle().reports.count { $0 == .guardTripped } == 1)
        for (left, count) in [(2, 0), (1, 1)] {
            let id = Sample.request(left)
            let asked = driver.send(.operate(id, .cancel, Ticket(number: 1)))
            let read = try #require(asked.loads.first?.read)
            var waiting = Sample.loaded(left, provider: nil)
            waiting.request.phase = .parked(.purging, .massDeletionGuard, until: nil)
            driver.send(.loaded(read, [waiting], asked: [id]))
            driver.settle()
            driver.send(.admitted([Sample.loaded(left + 2, provider: nil)]))
            #expect(driver.settle().reports.count { $0 == .guardTripped } == count)
        }
    }

    @Test func `what the guard counted before a restart still counts`() {
        let driver = CoreDriver(
            configuration: Sample.configuration(purgesPerHourMax: 2),
            purgesInLastHour: 2
        )
        driver.send()
        driver.commit()
        driver.fetch([Sample.loaded(1, provider: nil)])
        #expect(driver.openCommit?.saves.first?.phase.parkReason == .massDeletionGuard)
    }

    @Test func `a hold between two stores stops the purge without an attempt`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1, provider: nil), Sample.loaded(2, provider: nil)]))
        // The hold is decided while the intent of the purge is still being committed.
        driver.send(.operate(Sample.request(1), .hold, Ticket(number: 1)))
        let committed = driver.commit()
        #expect(committed.purges == [[Sample.request(2)]])
        driver.settle()
        #expect(driver.core.window[Sample.request(1)] == nil)
    }

    @Test func `a credential that is gone counts as unusable, and takes no slot`() throws {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 1))
        var loaded = Sample.loaded(1)
        loaded.credentials = [:]
        driver.send(.admitted([loaded]))
        let actions = driver.settle()
        #expect(actions.calls.isEmpty)
        #expect(driver.core.lanes[Sample.apple]?.callsUnderWay == 0)
        #expect(actions.announcements.contains(.sealBroken(Sample.apple)))
    }

    @Test func `a new configuration counts for the next decision`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 1))
        driver.send(.admitted((1...5).map { Sample.loaded($0) }))
        #expect(driver.commit().calls.count == 1)
        let actions = driver.send(.reconfigured(Sample.configuration(concurrency: 3)))
        #expect(actions.calls.count == 2)
        #expect(actions.commits.first?.wakes == ParkReason.ofRevocations + [.withoutKeys])
    }
}
