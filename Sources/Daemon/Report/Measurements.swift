import Engine
import Lifecycle
import Synchronization

/// Durations and counts since the start.
///
/// Its memory is bounded by the configured providers and stores, and by the known outcomes.
final class Measurements: Sendable {
    struct Call: Hashable, Sendable {
        static let success = "success"

        let provider: ProviderName
        /// ``Lifecycle/EffectFailure/code``, or ``success``.
        let outcome: String
    }

    struct Decision: Hashable, Sendable {
        let provider: ProviderName
        let verdict: Verdict
    }

    struct Rows: Sendable {
        var erased = 0
        var anonymized = 0
    }

    struct Values: Sendable {
        var erasures = Histogram.ofErasures
        var calls: [Call: Histogram] = [:]
        var purges: [StoreName: Histogram] = [:]
        var decisions: [Decision: Int] = [:]
        var rows: [StoreName: Rows] = [:]
    }

    private let state = Mutex(Values())

    var values: Values { state.withLock { $0 } }

    /// A deletion was completed so long after the service accepted it.
    func erased(after duration: Duration) { state.withLock { $0.erasures.observe(duration) } }

    func called(_ provider: ProviderName, _ failure: EffectFailure?, _ duration: Duration) {
        let call = Call(provider: provider, outcome: failure?.code ?? Call.success)
        state.withLock { $0.calls[call, default: .ofCalls].observe(duration) }
    }

    func decided(_ verdict: Verdict, at provider: ProviderName) {
        let decision = Decision(provider: provider, verdict: verdict)
        state.withLock { $0.decisions[decision, default: 0] += 1 }
    }

    func purged(_ store: StoreName, _ answers: [PurgeAnswer], _ duration: Duration) {
        state.withLock { values in
            values.purges[store, default: .ofPurges].observe(duration)
            for answer in answers {
                switch answer {
                case .done(let counts), .held(let counts, _), .halted(let counts):
                    values.rows[store, default: Rows()].add(counts)
                case .stopped, .failure: break
                }
            }
        }
    }
}

extension Measurements.Rows {
    fileprivate mutating func add(_ counts: PurgeCounts) {
        for entry in counts.entries {
            switch entry.action {
            case .rule(.delete, _): erased += entry.rowCount
            case .rule(.anonymize, _): anonymized += entry.rowCount
            default: break
            }
        }
    }
}

/// How many durations lie below each of some bounds, and their sum.
struct Histogram: Sendable {
    /// Upper bounds in seconds, rising.
    let bounds: [Double]
    /// One for each bound, and one for what lies above the last.
    private var counts: [Int]
    private(set) var sum = 0.0

    /// From a second to 90 days; the usual deadline is 30 days.
    static let ofErasures = Histogram([
        1, 10, 60, 600, 3600, 6 * 3600, 86_400, 3 * 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400,
        90 * 86_400,
    ])
    /// A call ends after half a minute or so.
    static let ofCalls = Histogram([0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])
    /// From one row to a million objects.
    static let ofPurges = Histogram([0.01, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 7200])

    init(_ bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    var count: Int { counts.reduce(0, +) }

    /// How many lie at or below each bound.
    var cumulative: [Int] {
        var below = 0
        return counts.dropLast().map { count in
            below += count
            return below
        }
    }

    mutating func observe(_ duration: Duration) {
        let seconds = max(0, duration / .seconds(1))
        counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] += 1
        sum += seconds
    }
}

/// Counts since the start, by key.
final class Counter<Key: Hashable & Sendable>: Sendable {
    private let state = Mutex<[Key: Int]>([:])

    var counts: [Key: Int] { state.withLock { $0 } }

    func count(_ key: Key) { state.withLock { $0[key, default: 0] += 1 } }
}

/// Counts since the start what happened to stored tokens besides revocation.
struct TokenCounter: Sendable {
    struct Renewal: Hashable, Sendable {
        let provider: ProviderName
        let result: RenewalResult
    }

    let renewals = Counter<Renewal>()
    let rotations = Counter<ProviderName>()
}
