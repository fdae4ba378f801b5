import Lifecycle
import Testing

@testable import Engine

struct ProviderLaneTests {
    private static let start = Sample.start

    @Test func `no more calls are under way than configured`() {
        let lane = lane(concurrency: 3, calls: 10)
        #expect(lane.takeCalls(at: Self.start) == 3)
        #expect(lane.callsUnderWay == 3)
        #expect(lane.nextCall(at: Self.start) == nil)
        #expect(lane.finished(failure: nil, at: Self.start) == nil)
        #expect(lane.takeCalls(at: Self.start) == 1)
    }

    @Test func `calls leave in the order in which they came`() {
        let lane = lane(concurrency: 10, calls: 10)
        let order = (0..<10).compactMap { _ in lane.nextCall(at: Self.start)?.request }
        #expect(order == order.sorted())
        #expect(order.count == 10)
    }

    @Test func `codes have slots of their own when calls fill the lane`() {
        let lane = lane(concurrency: 2, calls: 10, codes: 20)
        #expect(lane.takeCalls(at: Self.start) == 2)
        #expect(lane.takeCodes(at: Self.start) == Limits.codeSlots)
        lane.finished(isCode: true, failure: nil, at: Self.start)
        #expect(lane.takeCodes(at: Self.start) == 1)
    }

    @Test func `codes use free slots beyond their own`() {
        let lane = lane(concurrency: 10, codes: 30)
        #expect(lane.takeCodes(at: Self.start) == 10)
    }

    @Test func `codes in the slots of calls keep calls out`() {
        let lane = lane(concurrency: 10, calls: 30, codes: 30)
        _ = lane.takeCodes(at: Self.start)
        _ = lane.takeCalls(at: Self.start)
        #expect(lane.callsUnderWay == Limits.codeSlots)
        #expect(lane.callsUnderWay + lane.codesUnderWay <= 10 + Limits.codeSlots)
        lane.finished(isCode: true, failure: nil, at: Self.start)
        #expect(lane.takeCalls(at: Self.start) == 1)
    }

    @Test func `a rate is kept over any second, without a burst after a pause`() {
        let lane = lane(concurrency: 10_000, rate: 100, calls: 2000)
        #expect(lane.takeCalls(at: Self.start) == 10)
        var taken = 0
        for millisecond in 1...1000 {
            taken += lane.takeCalls(at: Self.start + .milliseconds(millisecond))
        }
        #expect((99...100).contains(taken))
        #expect(lane.takeCalls(at: Self.start + .seconds(3600)) == 10)
    }

    @Test func `a slow rate lets one call pass at a time and says when the next may`() throws {
        let lane = lane(concurrency: 10, rate: 0.5, calls: 3)
        #expect(lane.takeCalls(at: Self.start) == 1)
        let chance = try #require(lane.nextChance(after: Self.start))
        #expect(chance == Self.start + .seconds(2))
        #expect(lane.takeCalls(at: chance - .milliseconds(1)) == 0)
        #expect(lane.takeCalls(at: chance) == 1)
    }

    @Test func `codes ignore the rate`() {
        let lane = lane(concurrency: 10, rate: 0.5, calls: 3, codes: 5)
        _ = lane.takeCalls(at: Self.start)
        #expect(lane.takeCodes(at: Self.start) == 5)
    }

    @Test func `a clock that goes back gives no tokens`() {
        let lane = lane(concurrency: 10, rate: 1, calls: 5)
        #expect(lane.takeCalls(at: Self.start) == 1)
        #expect(lane.takeCalls(at: Self.start - .seconds(3600)) == 0)
    }

    @Test(
        "a provider that failed by a wrong clock is asked as soon as the clock is set",
        arguments: [Duration.seconds(365 * 86_400), .seconds(-365 * 86_400), .seconds(90)]
    )
    func jump(_ step: Duration) {
        let lane = lane(concurrency: Limits.breakerFailures, calls: 100)
        #expect(lane.takeCalls(at: Self.start) == Limits.breakerFailures)
        for _ in 1...Limits.breakerFailures { lane.finished(failure: .lost, at: Self.start) }
        #expect(lane.takeCalls(at: Self.start) == 0)
        lane.reclock(by: step, at: Self.start + step)
        #expect(lane.takeCalls(at: Self.start + step) == 1, "one shows whether it is back")
    }

    @Test(
        "failures of the provider open the breaker, one by one",
        arguments: [EffectFailure.unreachable, .lost, .unusable]
    )
    func opens(_ failure: EffectFailure) {
        let lane = lane(concurrency: 100, calls: 100, codes: 5)
        _ = lane.takeCalls(at: Self.start)
        for _ in 1..<Limits.breakerFailures {
            #expect(lane.finished(failure: failure, at: Self.start) == nil)
        }
        #expect(
            lane.finished(failure: failure, at: Self.start)
                == Limits.breakerPauseMin
        )
        #expect(lane.opensAt == Self.start + Limits.breakerPauseMin)
        #expect(lane.nextCode(at: Self.start) == nil)
        // Answers of calls that were under way do not make the pause longer.
        #expect(lane.finished(failure: failure, at: Self.start) == nil)
        #expect(lane.opensAt == Self.start + Limits.breakerPauseMin)
    }

    @Test func `a good answer forgets the failures before it`() {
        let lane = lane(concurrency: 100, calls: 100)
        _ = lane.takeCalls(at: Self.start)
        for round in 1...40 {
            let failure: EffectFailure? = round % Limits.breakerFailures == 0 ? nil : .lost
            #expect(lane.finished(failure: failure, at: Self.start) == nil)
        }
        #expect(lane.opensAt == nil)
    }

    @Test(
        "an answer about one token never opens the breaker",
        arguments: [
            EffectFailure.throttled(retryAfter: nil), .misconfigured, .rejected,
        ]
    )
    func staysClosed(_ failure: EffectFailure) {
        let lane = lane(concurrency: 100, calls: 100)
        _ = lane.takeCalls(at: Self.start)
        for _ in 1...50 {
            #expect(lane.finished(failure: failure, at: Self.start) == nil)
        }
        #expect(lane.breaker == .closed)
    }

    @Test func `one caller that fails again and again counts once`() {
        let lane = lane(concurrency: 100)
        for _ in 1...50 {
            for number in 1...3 { lane.enqueue(call(number)) }
            #expect(lane.takeCalls(at: Self.start) == 3)
            for _ in 1...3 { #expect(lane.finished(failure: .unusable, at: Self.start) == nil) }
        }
        #expect(lane.breaker == .closed && lane.failedCallers.count == 3)
    }

    @Test func `a code probes within seconds, however long the pause`() throws {
        let lane = brokenLane()
        for number in 0..<8 {
            lane.enqueue(call(number))
            let now = try #require(lane.opensAt)
            #expect(lane.nextCall(at: now) != nil)
            _ = lane.finished(failure: .lost, at: now)
        }
        let opensAt = try #require(lane.opensAt)
        let openedAt = opensAt - .seconds(256)
        lane.enqueue(call(50))
        for number in 1...3 { lane.enqueue(code: CredentialID(rowID: Int64(number))) }
        let first = openedAt + Limits.codeBackoffMax
        #expect(lane.nextChance(after: openedAt) == first)
        #expect(lane.nextCode(at: first - .milliseconds(1)) == nil)
        #expect(lane.nextCode(at: first) == CredentialID(rowID: 1))
        #expect(lane.nextCode(at: first) == nil)
        #expect(lane.finished(isCode: true, failure: .unusable, at: first) == nil)
        #expect(lane.opensAt == opensAt)
        #expect(lane.nextCall(at: first) == nil)
        let second = first + Limits.codeBackoffMax
        #expect(lane.nextChance(after: first) == second)
        #expect(lane.nextCode(at: second) == CredentialID(rowID: 2))
        #expect(lane.finished(isCode: true, failure: nil, at: second) == nil)
        #expect(lane.takeCodes(at: second) == 1)
        #expect(lane.takeCalls(at: second) == 1)
    }

    @Test func `a code is the probe before any call`() {
        let lane = brokenLane()
        lane.enqueue(call(1))
        lane.enqueue(code: CredentialID(rowID: 1))
        let opensAt = Self.start + Limits.breakerPauseMin
        #expect(lane.nextCode(at: opensAt) == CredentialID(rowID: 1))
        #expect(lane.nextCall(at: opensAt) == nil)
    }

    @Test func `a broken seal says nothing about the provider`() {
        let lane = brokenLane()
        let opensAt = Self.start + Limits.breakerPauseMin
        for number in 1...2 { lane.enqueue(call(number)) }
        let before = lane.callsUnderWay
        #expect(lane.nextCall(at: opensAt) != nil)
        #expect(lane.finished(failure: .sealBroken, at: opensAt) == nil)
        #expect(lane.callsUnderWay == before)
        #expect(lane.breaker != .closed)
        #expect(lane.nextCall(at: opensAt) != nil)
        #expect(lane.finished(failure: .lost, at: opensAt) == .seconds(2))
    }

    @Test func `an open breaker lets one probe through when its pause is over`() {
        let lane = brokenLane()
        for number in 0..<5 { lane.enqueue(call(number)) }
        lane.enqueue(code: CredentialID(rowID: 1))
        let opensAt = Self.start + Limits.breakerPauseMin
        #expect(lane.nextCall(at: opensAt - .milliseconds(1)) == nil)
        #expect(lane.nextChance(after: Self.start) == opensAt)
        #expect(lane.nextCall(at: opensAt) != nil)
        #expect(lane.nextCall(at: opensAt) == nil)
        #expect(lane.nextCode(at: opensAt) == nil)
        #expect(lane.opensAt == nil)
        #expect(lane.finished(failure: nil, at: opensAt) == nil)
        #expect(lane.breaker == .closed)
        #expect(lane.takeCalls(at: opensAt) == 4)
    }

    @Test func `a failed probe doubles the pause, up to its bound`() throws {
        let lane = brokenLane()
        var pauses: [Duration] = []
        for number in 0..<12 {
            lane.enqueue(call(number))
            let now = try #require(lane.opensAt)
            #expect(lane.nextCall(at: now) != nil)
            pauses.append(
                try #require(lane.finished(failure: .unreachable, at: now))
            )
            #expect(lane.opensAt == now + pauses[number])
        }
        #expect(pauses.prefix(3) == [.seconds(2), .seconds(4), .seconds(8)])
        #expect(pauses.suffix(2) == [Limits.breakerPauseMax, Limits.breakerPauseMax])
    }

    @Test func `the pause starts small again after the provider was back`() {
        let lane = brokenLane()
        lane.enqueue(call(1))
        let now = Self.start + Limits.breakerPauseMin
        _ = lane.nextCall(at: now)
        lane.finished(failure: nil, at: now)
        for number in 0..<20 { lane.enqueue(call(number)) }
        _ = lane.takeCalls(at: now)
        let pauses = (1...Limits.breakerFailures).compactMap { _ in
            lane.finished(failure: .lost, at: now)
        }
        #expect(pauses == [Limits.breakerPauseMin])
    }

    @Test func `a probe that is not made gives slot and probe back`() {
        let lane = brokenLane()
        let now = Self.start + Limits.breakerPauseMin
        lane.enqueue(call(1))
        lane.enqueue(call(2))
        let before = lane.callsUnderWay
        #expect(lane.nextCall(at: now) != nil)
        lane.gaveUp(isCode: false, at: now)
        #expect(lane.callsUnderWay == before)
        #expect(lane.nextCall(at: now) != nil)
        #expect(lane.finished(failure: .lost, at: now) == .seconds(2))
    }

    @Test func `a code that is not sent gives its slot back and closes nothing`() {
        let lane = lane(concurrency: 1, codes: Limits.codeSlots + 1)
        #expect(lane.takeCodes(at: Self.start) == Limits.codeSlots)
        lane.gaveUp(isCode: true, at: Self.start)
        #expect(lane.codesUnderWay == Limits.codeSlots - 1)
        #expect(lane.takeCodes(at: Self.start) == 1)
    }

    @Test func `an empty or busy lane has no next chance of its own`() {
        #expect(lane(concurrency: 1).nextChance(after: Self.start) == nil)
        let busy = lane(concurrency: 1, rate: 1, calls: 3)
        _ = busy.takeCalls(at: Self.start)
        #expect(busy.nextChance(after: Self.start) == nil)
    }

    @Test func `a probe under way arms no timer, whatever the rate`() {
        let lane = brokenLane(rate: 100)
        let opensAt = Self.start + Limits.breakerPauseMin
        for number in 0..<5 { lane.enqueue(call(number)) }
        #expect(lane.nextCall(at: opensAt) != nil)
        #expect(lane.nextCall(at: opensAt) == nil)
        #expect(lane.nextChance(after: opensAt) == nil)
    }

    @Test func `a full lane whose breaker may be probed arms no timer`() {
        let lane = lane(concurrency: 20, calls: 20)
        _ = lane.takeCalls(at: Self.start)
        for _ in 1...Limits.breakerFailures { lane.finished(failure: .lost, at: Self.start) }
        lane.adopt(LaneLimits(concurrency: 1))
        lane.enqueue(call(1))
        let opensAt = Self.start + Limits.breakerPauseMin
        #expect(lane.nextCall(at: opensAt) == nil)
        #expect(lane.nextChance(after: opensAt) == nil)
    }

    @Test func `an open breaker and a rate wait for the later of the two`() {
        let lane = brokenLane(rate: 0.1)
        for number in 1...2 { lane.enqueue(call(number)) }
        let opensAt = Self.start + Limits.breakerPauseMin
        #expect(lane.nextCall(at: opensAt) != nil)
        lane.gaveUp(isCode: false, at: opensAt)
        #expect(lane.nextCall(at: opensAt) == nil)
        #expect(lane.nextChance(after: opensAt) == opensAt + .seconds(10))
        #expect(lane.nextCall(at: opensAt + .seconds(10)) != nil)
    }

    @Test func `new limits count at once`() {
        let lane = lane(concurrency: 1, calls: 10)
        #expect(lane.takeCalls(at: Self.start) == 1)
        lane.adopt(LaneLimits(concurrency: 4))
        #expect(lane.takeCalls(at: Self.start) == 3)
        lane.adopt(LaneLimits(concurrency: 1))
        lane.finished(failure: nil, at: Self.start)
        #expect(lane.takeCalls(at: Self.start) == 0)
    }

    private func lane(
        concurrency: Int,
        rate: Double? = nil,
        calls: Int = 0,
        codes: Int = 0
    ) -> DrivenLane {
        let lane = DrivenLane(
            ProviderLane(limits: LaneLimits(concurrency: concurrency, ratePerSecond: rate))
        )
        for number in 0..<calls { lane.enqueue(call(number)) }
        for number in 0..<codes { lane.enqueue(code: CredentialID(rowID: Int64(number))) }
        return lane
    }

    /// A lane whose breaker opened at the start.
    private func brokenLane(rate: Double? = nil) -> DrivenLane {
        let lane = lane(concurrency: 100, calls: Limits.breakerFailures)
        _ = lane.takeCalls(at: Self.start)
        if rate != nil { lane.adopt(LaneLimits(concurrency: 100, ratePerSecond: rate)) }
        for _ in 1...Limits.breakerFailures {
            lane.finished(failure: .lost, at: Self.start)
        }
        return lane
    }

    private func call(_ number: Int) -> ProviderLane.Call {
        ProviderLane.Call(request: Sample.request(number), effect: .purge(Sample.database))
    }
}
