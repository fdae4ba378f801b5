import Lifecycle
import Testing

@testable import Engine

/// Parked requests wake page by page, and an override of the guard is counted durably.
struct WakeTests {
    @Test func `a full page asks for the next in a commit of its own`() {
        let driver = CoreDriver.idle()
        driver.send(.guardOverride(purges: 1, until: Sample.start + Sample.day))
        #expect(driver.openCommit?.wakePages == [nil])
        let last = Sample.request(7)
        let next = driver.commit(knowing: [.wakeGoesOn(.massDeletionGuard, after: last)])
        #expect(next.commits.first?.wakes == [.massDeletionGuard])
        #expect(driver.openCommit?.wakePages == [last])
        // What the page made due is found without waiting for the rest.
        #expect(next.fetches.count == 1)
        #expect(driver.commit().commits.isEmpty)
    }

    @Test func `a wake that is asked for again meanwhile begins anew, once`() {
        let driver = CoreDriver.idle()
        let override = EngineInput.guardOverride(purges: 1, until: Sample.start + Sample.day)
        driver.send(override)
        driver.send(override)
        driver.send(override)
        driver.commit(knowing: [.wakeGoesOn(.massDeletionGuard, after: Sample.request(7))])
        #expect(driver.openCommit?.wakePages == [nil])
    }

    @Test func `a wake that a stop cut short goes on at the start`() {
        let last = Sample.request(7)
        let driver = CoreDriver(
            pauses: StoredPauses(unfinishedWakes: [.providerPaused: last, .vaultSealed: last])
        )
        driver.send()
        let wakes = Set(driver.openCommit?.wakes ?? [])
        #expect(wakes == [.providerPaused, .vaultSealed, .unknownProvider])
        // The vault is open now, so its wake begins anew.
        #expect(Set(driver.openCommit?.wakePages ?? []) == [last, nil])
    }

    @Test func `a purge that an override lets pass is counted in the commit that begins it`() {
        let driver = CoreDriver(
            configuration: Sample.configuration(purgesPerHourMax: 1),
            purgesInLastHour: 5,
            allowance: GuardAllowance(purges: 2, until: Sample.start + .seconds(600))
        )
        driver.send()
        driver.settle()
        driver.send(.admitted((1...3).map { Sample.loaded($0, provider: nil) }))
        #expect(driver.openCommit?.overridesUsed == [2])
        #expect(driver.openCommit?.saves.count { $0.purgeStartedAt != nil } == 2)
        #expect(driver.openCommit?.saves.count { $0.phase.parkReason == .massDeletionGuard } == 1)
        #expect(driver.commit().commits.flatMap(\.overridesUsed) == [])
    }

    @Test func `purges within the limit use no override`() {
        let driver = CoreDriver(
            allowance: GuardAllowance(purges: 2, until: Sample.start + .seconds(600))
        )
        driver.send()
        driver.settle()
        driver.send(.admitted([Sample.loaded(1, provider: nil)]))
        #expect(driver.openCommit?.saves.first?.purgeStartedAt != nil)
        #expect(driver.openCommit?.overridesUsed == [])
    }

    @Test func `tokens of another subject are reported`() {
        let driver = CoreDriver.idle()
        driver.send(.codes([Sample.code(1)]))
        driver.commit()
        driver.send(.exchanged(Sample.credential(1), ExchangeResult(event: .exchanged)))
        var update = IdentityUpdate(
            snapshot: Sample.snapshot(1, credentials: []),
            credentials: [:],
            openRequests: []
        )
        update.isSubjectMismatch = true
        #expect(driver.commit([update]).reports == [.subjectMismatch(Sample.apple)])
    }

    @Test func `only bits that do not fit burn a credential`() {
        for kind in VaultError.Kind.allCases {
            let failure = VaultError(kind: kind).failure
            #expect(failure == (kind == .broken ? .sealBroken : .vaultSealed))
        }
    }

    @Test func `a missing key parks the request and leaves its lane alone`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.commit()
        let actions = driver.answerRevoke(1, .failure(.vaultSealed))
        #expect(actions.announcements.contains(.vaultKeyMissing(Sample.apple)))
        #expect(actions.changed.last?.phase.parkReason == .vaultSealed)
        #expect(driver.core.laneHealth(Sample.apple)?.inFlightCount == 0)
        #expect(driver.core.workCount == 0)
        #expect(driver.core.wakeTime(after: driver.now) == nil)
    }
}
