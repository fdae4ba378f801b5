import Lifecycle

@testable import Engine

/// A lane as a reference, so that an expectation may step it.
final class DrivenLane {
    private var lane: ProviderLane

    init(_ lane: ProviderLane) { self.lane = lane }

    var callsUnderWay: Int { lane.callsUnderWay }
    var codesUnderWay: Int { lane.codesUnderWay }
    var breaker: ProviderLane.Breaker { lane.breaker }
    var opensAt: WallTime? { lane.opensAt }

    func enqueue(_ call: ProviderLane.Call) { lane.enqueue(call) }
    func enqueue(code: CredentialID) { lane.enqueue(code: code) }
    func adopt(_ limits: LaneLimits) { lane.adopt(limits) }
    func nextCall(at now: WallTime) -> ProviderLane.Call? { lane.nextCall(at: now) }
    func nextCode(at now: WallTime) -> CredentialID? { lane.nextCode(at: now) }
    func nextChance(after now: WallTime) -> WallTime? { lane.nextChance(after: now) }
    func gaveUp(isCode: Bool, at now: WallTime) { lane.gaveUp(isCode: isCode, at: now) }

    @discardableResult
    func finished(isCode: Bool = false, trouble: Trouble?, at now: WallTime) -> Duration? {
        lane.finished(isCode: isCode, trouble: trouble, at: now)
    }

    /// Takes calls until none may pass.
    func takeCalls(at now: WallTime) -> Int {
        var count = 0
        while lane.nextCall(at: now) != nil { count += 1 }
        return count
    }

    /// Takes codes until none may pass.
    func takeCodes(at now: WallTime) -> Int {
        var count = 0
        while lane.nextCode(at: now) != nil { count += 1 }
        return count
    }
}

/// A queue as a reference.
final class DrivenQueue {
    private var queue = TargetQueue()

    var isBusy: Bool { queue.isBusy }

    func enqueue(_ id: RequestID, _ work: TargetQueue.Work) { queue.enqueue(id, work) }
    func nextBatch() -> (TargetQueue.Work, [RequestID])? { queue.nextBatch() }
    func finished() { queue.finished() }
}

/// A guard as a reference.
final class DrivenGuard {
    private var guardian: MassDeletionGuard

    init(purgesMax: Int) { guardian = MassDeletionGuard(purgesMax: purgesMax) }

    func isClosed(at now: WallTime) -> Bool { guardian.isClosed(at: now) }
    @discardableResult
    func purgeBegan(at now: WallTime) -> Bool { guardian.purgeBegan(at: now) }
    func restore(count: Int, at now: WallTime) { guardian.restore(count: count, at: now) }

    func override(purges: Int, until: WallTime) {
        guardian.override(purges: purges, until: until)
    }
}
