import Lifecycle

@testable import Engine

/// A lane as a reference, so that an expectation may step it.
final class DrivenLane {
    private var lane: ProviderLane
    /// Whose calls and codes are under way, oldest first.
    private var callers: [ProviderLane.Caller] = []

    init(_ lane: ProviderLane) { self.lane = lane }

    var callsUnderWay: Int { lane.callsUnderWay }
    var codesUnderWay: Int { lane.codesUnderWay }
    var breaker: LaneHealth.Breaker { lane.breaker }
    var failedCallers: Set<ProviderLane.Caller> { lane.failedCallers }
    var opensAt: WallTime? { lane.opensAt }

    func enqueue(_ call: ProviderLane.Call) { lane.enqueue(call) }
    func enqueue(code: CredentialID) { lane.enqueue(code: code) }
    func adopt(_ limits: LaneLimits) { lane.adopt(limits) }
    func reclock(by step: Duration, at now: WallTime) { lane.reclock(by: step, at: now) }
    func nextCall(at now: WallTime) -> ProviderLane.Call? {
        let call = lane.nextCall(at: now)
        if let call { callers.append(.request(call.request)) }
        return call
    }

    func nextCode(at now: WallTime) -> CredentialID? {
        let code = lane.nextCode(at: now)
        if let code { callers.append(.code(code)) }
        return code
    }

    func nextChance(after now: WallTime) -> WallTime? { lane.nextChance(after: now) }
    /// Takes the youngest call back, or the youngest exchange.
    func gaveUp(isCode: Bool, at now: WallTime) {
        if let index = callers.lastIndex(where: { $0.isCode == isCode }) {
            callers.remove(at: index)
        }
        lane.gaveUp(isCode: isCode, at: now)
    }

    /// Ends the oldest call, or the oldest exchange.
    @discardableResult
    func finished(isCode: Bool = false, failure: EffectFailure?, at now: WallTime) -> Duration? {
        guard let index = callers.firstIndex(where: { $0.isCode == isCode }) else { return nil }
        return lane.finished(callers.remove(at: index), failure: failure, at: now)
    }

    /// Takes calls until none may pass.
    func takeCalls(at now: WallTime) -> Int {
        var count = 0
        while nextCall(at: now) != nil { count += 1 }
        return count
    }

    /// Takes codes until none may pass.
    func takeCodes(at now: WallTime) -> Int {
        var count = 0
        while nextCode(at: now) != nil { count += 1 }
        return count
    }
}

/// A queue as a reference.
final class DrivenQueue {
    private var queue = StoreQueue()

    var isBusy: Bool { queue.isBusy }

    func enqueue(_ id: RequestID, _ work: StoreQueue.Work) { queue.enqueue(id, work) }
    func nextBatch() -> (StoreQueue.Work, [RequestID])? { queue.nextBatch() }
    func finished() { queue.finished() }
}

/// A guard as a reference.
final class DrivenGuard {
    private var guardian: MassDeletionGuard

    init(purgesMax: Int) { guardian = MassDeletionGuard(purgesMax: purgesMax) }

    func isClosed(to submitter: UInt32? = nil, at now: WallTime) -> Bool {
        guardian.isClosed(to: submitter, at: now)
    }
    @discardableResult
    func purgeBegan(by submitter: UInt32? = nil, at now: WallTime) -> Bool {
        guardian.purgeBegan(by: submitter, at: now)
    }
    var shareCount: Int { guardian.shares.count }

    func restore(count: Int, at now: WallTime) { guardian.restore(count: count, at: now) }

    func override(purges: Int, until: WallTime) {
        guardian.override(purges: purges, until: until)
    }
}
