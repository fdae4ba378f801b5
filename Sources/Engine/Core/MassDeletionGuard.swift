import DequeModule
import Lifecycle

/// Lets no more purges begin in an hour than configured, until an operator overrides it.
///
/// A bug or a thief that deletes everybody must not simply wait for the next hour. One submitter
/// has three quarters of what the others leave, so that there is always a place for another one.
struct MassDeletionGuard: Sendable {
    private static let span = Duration.seconds(3600)

    var purgesMax: Int
    private(set) var begun = Deque<WallTime>()
    /// What of it each submitter began, since the start; all rows of the spool have one.
    private var shares: [UInt32?: Deque<WallTime>] = [:]
    private(set) var allowance = 0
    private(set) var allowanceUntil = WallTime.distantPast
    /// The request that was reported last, until it waits no more.
    private var reported: (id: RequestID, at: WallTime)?

    init(purgesMax: Int) { self.purgesMax = purgesMax }

    /// Takes over what was begun before a restart; the exact times do not matter much.
    mutating func restore(count: Int, at now: WallTime) {
        (begun, shares) = (Deque(repeatElement(now, count: min(count, purgesMax))), [:])
    }

    mutating func isClosed(to submitter: UInt32?, at now: WallTime) -> Bool {
        Self.forget(&shares[submitter, default: []], at: now)
        return isClosed(at: now, own: shares[submitter]?.count ?? 0)
    }

    /// Whether it is closed to a submitter with so many `own` purges.
    mutating func isClosed(at now: WallTime, own: Int = 0) -> Bool {
        Self.forget(&begun, at: now)
        return isFull(own) && !(allowance > 0 && now < allowanceUntil)
    }

    private static func forget(_ begun: inout Deque<WallTime>, at now: WallTime) {
        while let first = begun.first, now.since(first) >= span { begun.removeFirst() }
    }

    private func isFull(_ own: Int) -> Bool { own * 4 >= (purgesMax - (begun.count - own)) * 3 }

    /// Whether a request that it stops is reported: one each hour, and one whenever the last has
    /// left or an override was used.
    mutating func isReport(of id: RequestID, at now: WallTime) -> Bool {
        if let reported, now.since(reported.at) < Self.span { return false }
        reported = (id, now)
        return true
    }

    mutating func left(_ id: RequestID) {
        if reported?.id == id { reported = nil }
    }

    /// - Returns: Whether it was the override that let the purge pass.
    mutating func purgeBegan(by submitter: UInt32?, at now: WallTime) -> Bool {
        guard isFull(shares[submitter]?.count ?? 0), allowance > 0, now < allowanceUntil else {
            begun.append(now)
            shares[submitter, default: []].append(now)
            return false
        }
        allowance -= 1
        reported = nil
        return true
    }

    mutating func reclock(by step: Duration) {
        begun = Deque(begun.map { $0 + step })
        shares = shares.mapValues { Deque($0.map { $0 + step }) }
        reported = reported.map { ($0.id, $0.at + step) }
        allowanceUntil = allowanceUntil == .distantPast ? allowanceUntil : allowanceUntil + step
    }

    mutating func override(purges: Int, until: WallTime) {
        (allowance, allowanceUntil) = (purges, until)
    }
}
