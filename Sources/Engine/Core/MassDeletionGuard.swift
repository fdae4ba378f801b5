import DequeModule
import Lifecycle

/// Lets no more purges begin in an hour than configured, until an operator overrides it.
///
/// A bug or a thief that deletes everybody must not simply wait for the next hour.
struct MassDeletionGuard: Sendable {
    private static let span = Duration.seconds(3600)

    var purgesMax: Int
    private(set) var begun = Deque<WallTime>()
    private(set) var allowance = 0
    private(set) var allowanceUntil = WallTime.distantPast
    /// The request that was reported last, until it waits no more.
    private var reported: (id: RequestID, at: WallTime)?

    init(purgesMax: Int) { self.purgesMax = purgesMax }

    /// Takes over what was begun before a restart; the exact times do not matter much.
    mutating func restore(count: Int, at now: WallTime) {
        begun = Deque(repeatElement(now, count: min(count, purgesMax)))
    }

    mutating func isClosed(at now: WallTime) -> Bool {
        while let first = begun.first, now.since(first) >= Self.span { begun.removeFirst() }
        let isAllowed = allowance > 0 && now < allowanceUntil
        return begun.count >= purgesMax && !isAllowed
    }

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
    mutating func purgeBegan(at now: WallTime) -> Bool {
        guard begun.count >= purgesMax, allowance > 0, now < allowanceUntil else {
            begun.append(now)
            return false
        }
        allowance -= 1
        reported = nil
        return true
    }

    mutating func reclock(by step: Duration) {
        begun = Deque(begun.map { $0 + step })
        reported = reported.map { ($0.id, $0.at + step) }
        allowanceUntil = allowanceUntil == .distantPast ? allowanceUntil : allowanceUntil + step
    }

    mutating func override(purges: Int, until: WallTime) {
        allowance = purges
        allowanceUntil = until
    }
}
