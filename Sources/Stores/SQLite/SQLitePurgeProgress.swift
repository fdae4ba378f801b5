internal import Engine
internal import Lifecycle

/// How far a call with many orders has come; a value, so that a transaction that does not commit
/// leaves no trace in it.
struct SQLitePurgeProgress: Sendable {
    /// How the orders of a transaction are kept from spoiling each other.
    enum Isolation: Int, Sendable {
        /// No savepoints: the fastest, and right as long as nothing fails.
        case optimistic
        /// A savepoint per order, after one has failed.
        case savepoints
        /// A transaction per order, after a COMMIT has failed on a deferred constraint, a trigger
        /// has rolled the whole transaction back, or a value is too long: for a savepoint SQLite
        /// keeps all pages that a statement changes in memory.
        case single
        /// The same by a plan that spares long values, until the order is done.
        case sparing

        var next: Isolation { Isolation(rawValue: rawValue + 1) ?? self }
        var isAlone: Bool { self == .single || self == .sparing }
    }

    /// Where an order with more rows than one transaction takes goes on.
    struct Resume: Sendable {
        var tableIndex = 0
        var cursor = Int64.max
        var chunkCount = 0
        /// Rows of the next chunk, by how long the last one took.
        var chunkRows = SQLLimits.chunkRows
        /// How long the last transaction took, and its commit alone.
        var heldFor = Duration.zero
        var commitTook = Duration.zero
        /// Counts of the table at `tableIndex`, whose entry is not written yet.
        var rowCount = 0
        var undatedCount = 0
        var counts = PurgeCounts()
        /// Rows that went with the last ones that referred to them.
        var released: [TableRule: Int] = [:]
        /// What led to the rows of rules.
        var reached: [TableRule: ChainStart.Lead] = [:]
    }

    var isolation = Isolation.optimistic
    var answers: [PurgeAnswer?]
    var next = 0
    /// So many orders were looked at before any work, for other spellings of their values.
    var looked = 0
    var resume: Resume?
    /// What led to the rows of rules in an earlier call, for each order.
    let reachedBefore: [[TableRule: ChainStart.Lead]]

    init(reachedBefore: [[TableRule: ChainStart.Lead]]) {
        answers = reachedBefore.map { _ in nil }
        self.reachedBefore = reachedBefore
    }

    /// The same, to be tried again with a stronger isolation.
    func isolated(_ isolation: Isolation) -> Self {
        var copy = self
        copy.isolation = isolation
        return copy
    }

    /// Moves on to the next order without an answer.
    mutating func skipAnswered() {
        while next < answers.count, answers[next] != nil { next += 1 }
    }

    var isFinished: Bool { answers.allSatisfy { $0 != nil } }

    /// Answers what is left: orders that were never begun, and the one that was cut off.
    func answers(
        elseBegun begun: EffectFailure,
        elseUntouched untouched: EffectFailure
    ) -> [PurgeAnswer] {
        answers.enumerated().map { index, answer in
            if let answer { return answer }
            return .failure(index == next && resume != nil ? begun : untouched)
        }
    }
}
