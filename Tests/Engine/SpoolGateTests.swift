import Lifecycle
import Testing

@testable import Engine

/// No request leaves `accepted` before a read of the spool that began after it was accepted.
struct SpoolGateTests {
    /// A core that has read the spool once and has nothing to do.
    private func driver() -> CoreDriver {
        let driver = CoreDriver()
        driver.core.awaitSpool()
        driver.send()
        driver.send(.spoolRead(["spool": .read]))
        driver.settle()
        return driver
    }

    private func loaded(
        _ number: Int,
        hash: [UInt8] = [1],
        provider: ProviderName? = nil
    ) -> LoadedRequest {
        let sample = Sample.loaded(number, provider: provider)
        return LoadedRequest(
            request: sample.request,
            user: sample.user,
            userHash: hash,
            credentials: sample.credentials
        )
    }

    private func loaded(_ number: Int, as request: Request) -> LoadedRequest {
        LoadedRequest(
            request: request,
            user: loaded(number).user,
            userHash: [1],
            credentials: [:]
        )
    }

    @Test func `a request over the socket waits for a read that begins after it`() {
        let driver = driver()
        let first = driver.send(.admitted([loaded(1)]))
        #expect(first.spoolReadCount == 1)
        #expect(first.commits.isEmpty)
        // This one came while the read was under way: it needs the next.
        #expect(driver.send(.admitted([loaded(2)])).spoolReadCount == 0)
        let second = driver.send(.spoolRead(["spool": .read]))
        #expect(second.commits.first?.saves.map(\.id) == [Sample.request(1)])
        #expect(second.spoolReadCount == 1)
        driver.settle()
        let third = driver.send(.spoolRead(["spool": .read]))
        #expect(third.commits.first?.saves.map(\.id) == [Sample.request(2)])
    }

    @Test func `a credential that the read brings is revoked before anything is purged`() {
        let driver = driver()
        driver.send(.admitted([loaded(1)]))
        var update = IdentityUpdate(
            snapshot: Sample.snapshot(1),
            credentials: [Sample.credential(1): Sample.sealed(1)],
            openRequests: [Sample.request(1)]
        )
        update.isSubjectMismatch = false
        driver.send(.update(update), .spoolRead(["spool": .read]))
        let actions = driver.settle()
        #expect(actions.purges.isEmpty)
        #expect(actions.calls.map(\.request) == [Sample.request(1)])
    }

    @Test func `a request of the spool does not wait for another read`() {
        let driver = driver()
        var loaded = loaded(1)
        loaded.isSpoolRead = true
        let actions = driver.send(.admitted([loaded]))
        #expect(actions.spoolReadCount == 0)
        #expect(actions.commits.first?.saves.map(\.id) == [Sample.request(1)])
    }

    @Test func `it is parked with a reason when the read does not end, and goes on when it does`() {
        let driver = driver()
        driver.send(.admitted([loaded(1)]))
        #expect(
            driver.core.wakeTime(after: driver.now).map { $0.since(driver.now) }
                == Limits.spoolPatience
        )
        driver.now = driver.now + Limits.spoolPatience
        let parked = driver.send(.timer).commits.first?.saves.first
        #expect(parked?.phase == .parked(.accepted, .awaitingSpool, until: nil))
        driver.settle()
        #expect(driver.core.workCount == 0)
        let woken = driver.send(.spoolRead(["spool": .read]))
        #expect(woken.commits.first?.wakes.contains(.awaitingSpool) == true)
    }

    @Test func `a request goes on however long each read lasts`() {
        let driver = driver()
        var parked = [1: loaded(1), 2: loaded(2)]
        // The second one comes while the read for the first one is under way.
        for number in 1...2 { driver.send(.admitted([loaded(number)])) }
        for round in 1...2 {
            driver.now = driver.now + Limits.spoolPatience
            for save in (driver.send(.timer) + driver.settle()).commits.flatMap(\.saves) {
                for number in 1...2 where save.id == Sample.request(number) {
                    parked[number] = loaded(number, as: save)
                }
            }
            #expect((round...2).allSatisfy { driver.core.window[Sample.request($0)] == nil })
            let ended = driver.send(.spoolRead(["spool": .read]))
            #expect(ended.spoolReadCount == (round == 1 ? 1 : 0), "who is parked has its place")
            driver.commit()
            let woken = driver.fetch((round...2).compactMap { parked[$0] }) + driver.settle()
            let begun = woken.commits.flatMap(\.saves).filter { $0.purgeStartedAt != nil }
            #expect(begun.map(\.id) == [Sample.request(round)])
        }
    }

    @Test func `a spool that cannot be read is gone on without, and that is reported`() {
        let driver = driver()
        driver.send(.admitted([loaded(1)]))
        let actions = driver.send(.spoolRead(["spool": .unreadable]))
        #expect(actions.reports == [.unreadSources(["spool"], count: 1)])
        #expect(actions.commits.first?.saves.map(\.id) == [Sample.request(1)])
        #expect(actions.commits.first?.saves.map(\.unreadSources) == [["spool"]])
    }

    @Test func `a parked request has it recorded that it goes on without the spool`() throws {
        let driver = driver()
        driver.send(.admitted([loaded(1)]))
        driver.now = driver.now + Limits.spoolPatience
        let saves = (driver.send(.timer) + driver.settle()).commits.flatMap(\.saves)
        let parked = try #require(saves.last)
        #expect(parked.phase.parkReason == .awaitingSpool && parked.unreadSources.isEmpty)
        let reports = driver.send(.spoolRead(["spool": .unreadable])).reports
        #expect(reports == [.unreadSources(["spool"], count: 1)])
        driver.commit()
        let woken = driver.fetch([loaded(1, as: parked)]) + driver.settle()
        let begun = woken.commits.flatMap(\.saves).filter { $0.purgeStartedAt != nil }
        #expect(begun.map(\.unreadSources) == [["spool"]])
    }

    @Test(
        arguments: [
            (SpoolReadOutcome.read, SpoolReadOutcome.unreadable, false),
            (.unreadable, .unreadable, true), (.unreadable, .read, false),
        ]
    )
    func `a parked request goes on without the spool if no read since it was parked ended well`(
        awaited: SpoolReadOutcome,
        next: SpoolReadOutcome,
        isUnread: Bool
    ) {
        var gate = SpoolGate()
        gate.isOn = true
        for (number, outcome) in [(1, awaited), (2, next)] {
            _ = gate.enter(loaded(number), at: Sample.start)
            gate.leave(Sample.request(number), isParked: true)
            _ = gate.begin()
            _ = gate.end(["spool": outcome])
        }
        let goesOnWithout = gate.enter(loaded(1), at: Sample.start)
        #expect(goesOnWithout == (isUnread ? ["spool"] : []))
    }

    @Test func `what is loaded after the first read gave up waits for the next, and is marked`() {
        let driver = CoreDriver()
        driver.core.awaitSpool()
        driver.send()
        driver.send(.spoolRead(["spool": .unreadable]))
        driver.settle()
        var revoking = loaded(1).request
        revoking.phase = .open(.revoking)
        let asked = driver.send(.admitted([loaded(1, as: revoking)]))
        #expect(asked.spoolReadCount == 1 && asked.commits.isEmpty)
        let without = driver.send(.spoolRead(["spool": .unreadable])) + driver.settle()
        #expect(without.commits.first?.saves.map(\.unreadSources) == [["spool"]])
        var gate = driver.core.spoolGate
        revoking.unreadSources = ["spool"]
        _ = gate.enter(loaded(2, as: revoking), at: driver.now)
        let begins = gate.begin()
        #expect(!begins)
    }

    @Test func `only the source that was not read is named`() {
        let driver = driver()
        driver.send(.admitted([loaded(1)]))
        let actions = driver.send(.spoolRead(["spool": .read, "queue app": .unreadable]))
        #expect(actions.reports == [.unreadSources(["queue app"], count: 1)])
        #expect(actions.commits.first?.saves.map(\.unreadSources) == [["queue app"]])
    }

    @Test(arguments: [false, true])
    func `a source that is read before the end is no longer named`(isPurging: Bool) {
        let driver = driver()
        driver.send(.admitted([loaded(1, provider: Sample.apple)]))
        let unread: [String: SpoolReadOutcome] = ["spool": .unreadable, "queue app": .unreadable]
        let without = driver.send(.spoolRead(unread))
        #expect(without.commits.first?.saves.map(\.unreadSources) == [["spool", "queue app"]])
        driver.settle()
        if isPurging { driver.answerRevoke(1, .success) }
        #expect(driver.send(.sourceBack).spoolReadCount == 1)
        let read = driver.send(.spoolRead(["spool": .read, "queue app": .unreadable]))
        #expect(read.commits.first?.saves.map(\.unreadSources) == [["queue app"]])
        driver.settle()
        // The next request needs a read, and that is one for all.
        driver.send(.admitted([loaded(2, provider: Sample.apple)]))
        let all = driver.send(.spoolRead(["spool": .read, "queue app": .read]))
        #expect(all.commits.first?.saves.map(\.unreadSources) == [[], []])
    }

    @Test(
        arguments: [
            (.read, []), (.unreadable, ["spool"]),
        ] as [(SpoolReadOutcome, Set<String>)]
    )
    func `what is loaded names a source only if the last read did not reach it`(
        outcome: SpoolReadOutcome,
        sources: Set<String>
    ) {
        var gate = SpoolGate()
        gate.isOn = true
        var known = loaded(1).request
        known.unreadSources = ["spool", "queue removed"]
        known.phase = .open(.purging)
        let before = gate.enter(loaded(1, as: known), at: Sample.start)
        #expect(before == known.unreadSources)
        gate.wantRead()
        _ = gate.begin()
        _ = gate.end(["spool": outcome])
        let after = gate.enter(loaded(1, as: known), at: Sample.start)
        #expect(after == sources.union(["queue removed"]))
    }

    @Test func `a read that the end of the process cut short lets nobody go on`() {
        let driver = driver()
        driver.send(.admitted([loaded(1)]))
        #expect(driver.send(.spoolRead(["spool": .stopped])).commits.isEmpty)
    }

    @Test func `a request waits while a credential of its user cannot be sealed`() {
        let driver = driver()
        driver.send(.unsealed(UnsealedUsers([[1]])), .admitted([loaded(1), loaded(2, hash: [2])]))
        let saves = driver.send(.spoolRead(["spool": .read])).commits.first?.saves ?? []
        #expect(
            saves.first { $0.id == Sample.request(1) }?.phase
                == .parked(.accepted, .awaitingCredentials, until: nil)
        )
        #expect(saves.first { $0.id == Sample.request(2) }?.purgeStartedAt != nil)
        driver.settle()
        let woken = driver.send(.unsealed(UnsealedUsers()))
        #expect(woken.commits.first?.wakes == [.awaitingCredentials])
    }

    @Test func `a credential that cannot be sealed stops a request that is being revoked`() {
        let driver = driver()
        var loaded = loaded(1, provider: Sample.apple)
        loaded.isSpoolRead = true
        driver.send(.admitted([loaded]))
        driver.settle()
        driver.send(.unsealed(UnsealedUsers([[1]])))
        driver.settle()
        let actions = driver.answerRevoke(1, .success)
        #expect(actions.purges.isEmpty)
        #expect(
            actions.changed.last?.phase == .parked(.revoking, .awaitingCredentials, until: nil)
        )
    }

    @Test func `after a start nothing that still revokes goes on before the first read`() {
        let driver = CoreDriver()
        driver.core.awaitSpool()
        #expect(driver.send().spoolReadCount == 1)
        var request = loaded(1).request
        request.phase = .open(.revoking)
        let revoking = LoadedRequest(
            request: request,
            user: loaded(1).user,
            userHash: [1],
            credentials: [:]
        )
        driver.commit()
        #expect(driver.fetch([revoking]).commits.isEmpty)
        driver.send(.spoolRead(["spool": .read]))
        // That read began before it was there.
        let actions = driver.settle() + driver.send(.spoolRead(["spool": .read])) + driver.settle()
        #expect(actions.purges == [[Sample.request(1)]])
    }
}

extension [EngineAction] {
    var spoolReadCount: Int { count { if case .readSpool = $0 { true } else { false } } }
}
