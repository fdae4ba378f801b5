import DequeModule
import Lifecycle

/// Lets no more purges begin in an hour than configured, until an operator overrides it.
///
/// A bug or a thief that deletes everybody must not simply wait for the next hour. One submitter
/// has three quarters of what the others leave, rounded up: from four purges an hour on, it leaves
/// a place for another one.
struct MassDeletionGuard: Sendable {
    struct Purge: Sendable {
        var at: WallTime
        /// One for all rows of spool and queues, `.some(nil)`; unknown of purges before the start.
        let submitter: UInt32??
    }

    private static let span = Duration.seconds(3600)

    var purgesMax: Int
    private(set) var begun = Deque<Purge>()
    /// How many of them each submitter began.
    private(set) var shares: [UInt32?: Int] = [:]
    private(set) var allowance = 0
    private(set) var allowanceUntil = WallTime.distantPast
    /// The request that was reported last, until it waits no more.
    private var reported: (id: RequestID, at: WallTime)?

    init(purgesMax: Int) { self.purgesMax = purgesMax }

    /// Takes over what was begun before a restart; the exact times do not matter much.
    mutating func restore(count: Int, at now: WallTime) {
        let purge = Purge(at: now, submitter: nil)
        (begun, shares) = (Deque(repeatElement(purge, count: min(count, purgesMax))), [:])
    }

    /// Whether it is closed to a submitter, or without one to all of them.
    mutating func isClosed(to submitter: UInt32?? = nil, at now: WallTime) -> Bool {
        while let first = begun.first, now.since(first.at) >= Self.span {
            begun.removeFirst()
            guard let submitter = first.submitter, let count = shares[submitter] else { continue }
            shares[submitter] = count > 1 ? count - 1 : nil
        }
        return isFull(submitter) && !(allowance > 0 && now < allowanceUntil)
    }

    private func isFull(_ submitter: UInt32??) -> Bool {
        let own = submitter.flatMap { shares[$0] } ?? 0
        return own * 4 >= (purgesMax - (begun.count - own)) * 3
    }

    /// Notes a request that it stops.
    ///
    /// - Returns: Whether to report it: one each hour, and one whenever the last has left or an
    ///   override was used.
    mutating func noteStopped(_ id: RequestID, at now: WallTime) -> Bool {
        if let reported, now.since(reported.at) < Self.span { return false }
        reported = (id, now)
        return true
    }

    mutating func left(_ id: RequestID) {
        if reported?.id == id { reported = nil }
    }

    /// - Returns: Whether it was the override that let the purge pass.
    mutating func purgeBegan(by submitter: UInt32?, at now: WallTime) -> Bool {
        guard isFull(submitter), allowance > 0, now < allowanceUntil else {
            begun.append(Purge(at: now, submitter: submitter))
            shares[submitter, default: 0] += 1
            return false
        }
        allowance -= 1
        reported = nil
        return true
    }

    mutating func reclock(by step: Duration) {
        for index in begun.indices { begun[index].at = begun[index].at + step }
        reported = reported.map { ($0.id, $0.at + step) }
        allowanceUntil = allowanceUntil == .distantPast ? allowanceUntil : allowanceUntil + step
    }

    mutating func override(purges: Int, until: WallTime) {
        (allowance, allowanceUntil) = (purges, until)
    }
}
