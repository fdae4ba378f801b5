internal import Engine
internal import Lifecycle

/// What a verification found of one user in a store that dates its objects itself.
struct Leftover: Sendable {
    /// What the purge should have taken.
    var count = 0
    /// Something is dated later than now, so the clock is behind that of the store.
    var isAhead = false
    /// The first place of such a thing, without the user's id.
    private(set) var place: String?

    /// Adds what was found at a place, as the configuration names it.
    mutating func add(_ found: Leftover, at place: String) {
        count += found.count
        if found.isAhead, !isAhead { (isAhead, self.place) = (true, place) }
    }

    var answer: VerifyAnswer {
        guard count == 0 else { return .remaining(count) }
        return isAhead ? .failure(.blocked(Obstacle(.future, at: place))) : .clean
    }
}
