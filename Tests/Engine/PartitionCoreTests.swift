import Lifecycle
import Testing

@testable import Engine

/// Partitions that the core gains, leaves and loses; users are numbered like their partitions.
struct PartitionCoreTests {
    private static func claim(_ number: UInt8, epoch: Int64 = 1) -> PartitionClaim {
        PartitionClaim(Partition(number: number), epoch: epoch)
    }

    private static func set(_ numbers: UInt8...) -> PartitionSet {
        PartitionSet(numbers.map(Partition.init(number:)))
    }

    /// A host of several that owns partitions 1 and 2, at rest.
    private static func owning(
        _ configuration: EngineConfiguration = Sample.configuration()
    ) -> CoreDriver {
        let driver = CoreDriver(configuration: configuration, ownership: .none)
        driver.send()
        driver.settle()
        var actions = driver.send(.gained([PartitionStart(claim(1)), PartitionStart(claim(2))]))
        while let read = actions.inboxes.first {
            actions = driver.send(.inbox(read, PartitionInbox()))
        }
        driver.settle()
        return driver
    }

    /// Whose revocation is under way.
    private static func revoking(_ numbers: Int...) -> CoreDriver {
        let driver = owning()
        for number in numbers {
            driver.send(.admitted([Sample.loaded(number)], by: driver.core.lastRead))
            driver.settle()
        }
        return driver
    }

    @Test func `a single host commits under no claim and reads everything`() {
        let driver = CoreDriver.idle()
        let actions = driver.send(.admitted([Sample.loaded(1)]))
        #expect(actions.claims == [nil])
        #expect(driver.core.partitions(of: .purge(Sample.database, [])).isEmpty)
    }

    @Test func `without a partition nothing is read and nothing is taken`() {
        let driver = CoreDriver(ownership: .none)
        #expect(driver.send().fetches.isEmpty)
        driver.settle()
        #expect(driver.core.wakeTime(after: driver.now).map { $0 > driver.now } ?? true)
        driver.send(.admitted([Sample.loaded(1)], by: driver.core.lastRead))
        #expect(driver.core.workCount == 0)
    }

    @Test func `a commit claims the partitions that it writes`() {
        let driver = Self.owning()
        let actions = driver.send(.admitted([Sample.loaded(1)], by: driver.core.lastRead))
        #expect(actions.claims == [[Self.claim(1)]])
    }

    @Test func `requests of other partitions are left to their owners`() {
        let driver = Self.owning()
        driver.send(.admitted([Sample.loaded(3)], by: driver.core.lastRead))
        #expect(driver.core.workCount == 0)
    }

    @Test func `what a host loses it drops, and a late answer gives only its slot back`() {
        let driver = Self.revoking(1, 2)
        let read = driver.core.lastRead
        #expect(driver.core.laneHealth(Sample.apple)?.inFlightCount == 2)
        driver.send(.lost(Self.set(1)))
        #expect(driver.core.workCount == 1)
        #expect(driver.core.laneHealth(Sample.apple)?.inFlightCount == 2)
        let late = driver.send(.under(read, driver.revoked(1, .success)))
        #expect(late.commits.isEmpty)
        #expect(driver.core.laneHealth(Sample.apple)?.inFlightCount == 1)
        let timely = driver.send(.under(read, driver.revoked(2, .success)))
        #expect(timely.commits.first?.saves.map(\.id) == [Sample.request(2)])
    }

    @Test func `an answer of an earlier tenure decides nothing in a later one`() {
        let driver = Self.revoking(1)
        let read = driver.core.lastRead
        driver.send(.lost(Self.set(1)))
        driver.send(.gained([PartitionStart(Self.claim(1, epoch: 3))]))
        driver.settle()
        driver.send(.admitted([Sample.loaded(1)], by: driver.core.lastRead))
        // The token of the call under way may be rotated by it: the next call waits.
        #expect(driver.settle().calls.isEmpty)
        let late = driver.send(.under(read, driver.revoked(1, .success)))
        #expect(late.commits.isEmpty)
        #expect(late.calls.map(\.request) == [Sample.request(1)])
    }

    @Test func `a call that the shell did not begin lets others have its token`() {
        let driver = Self.revoking(1)
        let read = driver.core.lastRead
        let first = Sample.loaded(1)
        let other = Request(
            id: Sample.request(9),
            kind: .revokeTokens,
            createdAt: Sample.start,
            acceptedAt: Sample.start,
            notBefore: Sample.start,
            deadlineAt: Sample.start + Sample.day,
            identities: [Sample.snapshot(1)],
            stores: []
        )
        let behind = LoadedRequest(
            request: other,
            user: first.user,
            userHash: first.userHash,
            credentials: first.credentials
        )
        driver.send(.admitted([behind], by: driver.core.lastRead))
        #expect(driver.settle().calls.isEmpty)
        driver.send(.operate(Sample.request(1), .hold, Ticket(number: 1)))
        driver.settle()
        let call = TokenCall(.revoke, Sample.identity(1), Sample.credential(1))
        let postponed = EngineInput.answered(
            Sample.request(1),
            .postponed(.call(call), until: driver.now),
            Sample.apple,
            .vaultSealed
        )
        let actions = driver.send(.under(read, postponed)) + driver.settle()
        #expect(actions.calls.map(\.request) == [Sample.request(9)])
    }

    @Test func `effects of a commit that was under way at the loss do not begin`() {
        let driver = Self.owning()
        driver.send(.admitted([Sample.loaded(1)], by: driver.core.lastRead))
        driver.send(.lost(Self.set(1)))
        #expect(driver.commit().calls.isEmpty)
    }

    @Test func `a refused commit is made again without the partition that was lost`() {
        let driver = Self.owning()
        let loaded = [Sample.loaded(1), Sample.loaded(2)]
        driver.send(.admitted(loaded, by: driver.core.lastRead))
        let again = driver.send(.refused(CommitRefusal(lost: [Self.claim(1)])))
        #expect(again.claims == [[Self.claim(2)]])
        #expect(again.commits.first?.saves.map(\.id) == [Sample.request(2)])
        #expect(driver.commit().calls.map(\.request) == [Sample.request(2)])
        #expect(driver.core.ownership.owned == Self.set(2))
    }

    @Test func `a refusal of an earlier epoch takes nothing from a later one`() {
        let driver = Self.owning()
        driver.send(.admitted([Sample.loaded(1)], by: driver.core.lastRead))
        let again = driver.send(.refused(CommitRefusal(lost: [Self.claim(1, epoch: 0)])))
        #expect(again.claims == [[Self.claim(1)]])
    }

    @Test func `the guard of all hosts stops a purge before it begins`() throws {
        let driver = Self.owning()
        driver.send(
            .admitted([Sample.loaded(1, provider: nil)], by: driver.core.lastRead)
        )
        #expect(driver.openCommit?.saves.first?.purgeStartedAt != nil)
        let again = driver.send(.refused(CommitRefusal(purgesInLastHour: 1000)))
        #expect(again.commits.first?.saves.isEmpty ?? false)
        #expect(driver.commit().purges.isEmpty)
        let load = try #require(again.loads.first)
        driver.send(.loaded(load.read, [Sample.loaded(1, provider: nil)], asked: load.ids))
        let parked = driver.openCommit?.saves.first?.phase.parkReason
        #expect(parked == .massDeletionGuard)
    }

    @Test func `a partition is left when its calls are answered and committed`() {
        let driver = Self.revoking(1)
        let read = driver.core.lastRead
        #expect(driver.send(.leave(Self.set(1, 2))).left == [Self.set(2)])
        #expect(driver.send(.admitted([Sample.loaded(1)], by: read)).commits.isEmpty)
        driver.send(.under(read, driver.revoked(1, .success)))
        #expect(driver.openCommit?.saves.map(\.id) == [Sample.request(1)])
        let ended = driver.commit()
        #expect(ended.left == [Self.set(1)])
        #expect(ended.purges.isEmpty)
        #expect(driver.core.ownership.owned.isEmpty)
    }

    @Test func `an operation of another host is answered by the commit that executes it`() throws {
        let driver = Self.owning()
        let inbox = try #require(driver.send(.mailed).inboxes.first)
        let id = OperationID(rowID: 7)
        let row = OperationRow(
            id: id,
            partition: Partition(number: 1),
            work: .operate(Sample.request(1), .hold)
        )
        let load = try #require(
            driver.send(.inbox(inbox, PartitionInbox(operations: [row]))).loads.first
        )
        driver.send(.loaded(load.read, [Sample.loaded(1)], asked: load.ids))
        #expect(driver.openCommit?.saves.first?.isHeld == true)
        #expect(driver.openCommit?.answers == [.done])
        // The same row once more, read before its answer.
        let next = try #require((driver.send(.mailed) + driver.settle()).inboxes.first)
        #expect(driver.send(.inbox(next, PartitionInbox(operations: [row]))).loads.isEmpty)
    }

    @Test func `an operation on a request that is not open is answered, too`() throws {
        let driver = Self.owning()
        let inbox = try #require(driver.send(.mailed).inboxes.first)
        let row = OperationRow(
            id: OperationID(rowID: 7),
            partition: Partition(number: 1),
            work: .operate(Sample.request(1), .hold)
        )
        let load = try #require(
            driver.send(.inbox(inbox, PartitionInbox(operations: [row]))).loads.first
        )
        let actions = driver.send(.loaded(load.read, [], asked: load.ids))
        #expect(actions.commits.first?.answers == [.notOpen])
        #expect(actions.claims == [[Self.claim(1)]])
    }

    @Test func `a code of a lost partition keeps its slot until it is answered`() {
        let driver = Self.owning()
        driver.send(.codes([Sample.code(1), Sample.code(2)]))
        driver.settle()
        driver.send(.lost(Self.set(1)))
        #expect(driver.core.laneHealth(Sample.apple)?.inFlightCount == 2)
        driver.send(.exchanged(Sample.credential(1), ExchangeResult(event: .exchanged)))
        #expect(driver.openCommit == nil)
        #expect(driver.core.laneHealth(Sample.apple)?.inFlightCount == 1)
        driver.send(.codes([Sample.code(1)]))
        #expect(driver.core.workCount == 1)
    }

    @Test func `rules of other hosts stop a purge and wake whom they let go`() throws {
        let driver = Self.owning()
        let hold = StoreHold(
            name: "case",
            store: Sample.database,
            rows: nil,
            since: Sample.start,
            uid: 1
        )
        var pauses = StoredPauses(providers: [Sample.apple: "operator"])
        pauses.holds = [hold]
        let ask = driver.send(.renewedLeases(rulesVersion: 5, purgesInLastHour: 0))
        let read = try #require(ask.ruleReads.first)
        driver.send(.rules(read, SharedRules(version: 5, pauses: pauses)))
        driver.settle()
        #expect(driver.core.isHeld(Sample.database))
        #expect(driver.core.laneHealth(Sample.apple)?.isPaused == true)
        #expect(driver.core.rulesVersion == 5)
        let next = driver.send(.renewedLeases(rulesVersion: 6, purgesInLastHour: 0))
        let later = try #require(next.ruleReads.first)
        driver.send(.rules(later, SharedRules(version: 6, pauses: StoredPauses())))
        let wakes = Set(driver.openCommit?.wakes ?? [])
        #expect(wakes == Set(ParkReason.ofRevocations + [.onHold]))
    }

    @Test func `the rate of a provider is that of all owners together`() {
        var limits = LaneLimits(concurrency: 4, ratePerSecond: 64)
        let driver = Self.owning()
        limits = driver.core.shared(limits)
        #expect(limits.ratePerSecond == 2)
        #expect(limits.concurrency == 4)
    }
}

extension [EngineAction] {
    fileprivate var claims: [[PartitionClaim]?] {
        compactMap { if case .commit(_, let claims) = $0 { .some(claims) } else { nil } }
    }

    fileprivate var left: [PartitionSet] {
        compactMap {
            if case .left(let claims) = $0 { PartitionSet(claims.map(\.partition)) } else { nil }
        }
    }

    fileprivate var inboxes: [ReadNumber] {
        compactMap { if case .readInbox(let read, _) = $0 { read } else { nil } }
    }

    fileprivate var ruleReads: [ReadNumber] {
        compactMap { if case .readRules(let read) = $0 { read } else { nil } }
    }
}

extension [StateChange] {
    fileprivate var answers: [OperationOutcome] {
        compactMap { if case .answer(_, let outcome) = $0 { outcome } else { nil } }
    }
}
