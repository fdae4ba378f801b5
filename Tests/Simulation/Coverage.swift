import Engine
import Lifecycle

/// How often which event met which phase.
///
/// The phase is the durable one.
struct Coverage: Sendable {
    private(set) var counts: [String: [String: Int]] = [:]

    /// Counts what one input tells the requests of a store.
    mutating func note(_ input: EngineInput, _ disk: SimulatedDisk) {
        switch input {
        case .answered(let id, let event, _, _, _), .operate(let id, let event, _):
            note(event, disk.requests[id]?.request)
        case .storeAnswered(_, let answers, _):
            for (id, event) in answers { note(event, disk.requests[id]?.request) }
        case .update(let update):
            for id in update.openRequests {
                note(.identityChanged([update.snapshot]), disk.requests[id]?.request)
            }
        case .fetched(_, let due, _):
            for loaded in due.requests { note(.due, loaded.request) }
        default:
            break
        }
    }

    private mutating func note(_ event: RequestEvent, _ request: Request?) {
        guard let request else { return }
        let name = Mirror(reflecting: event).children.first?.label ?? "\(event)"
        counts[request.phase.state.rawValue, default: [:]][name, default: 0] += 1
    }

    /// Adds another run's.
    mutating func merge(_ other: Coverage) {
        for (phase, events) in other.counts {
            counts[phase, default: [:]].merge(events, uniquingKeysWith: +)
        }
    }

    /// The pairs as `phase × event`.
    var pairs: Set<String> {
        Set(counts.flatMap { phase, events in events.keys.map { "\(phase) × \($0)" } })
    }

    /// A table, a line each: events across, phases down, `.` for never.
    var table: [String] {
        let events = Set(counts.values.flatMap(\.keys)).sorted()
        let head = row("phase × event", events)
        return [head]
            + RequestState.allCases.map(\.rawValue).compactMap { phase in
                counts[phase].map { found in
                    row(phase, events.map { found[$0].map(String.init) ?? "." })
                }
            }
    }

    private func row(_ name: String, _ cells: [String]) -> String {
        ([name] + cells).map { cell in
            String(repeating: " ", count: max(1, 16 - cell.utf8.count)) + cell
        }.joined()
    }
}
