import Engine
import Lifecycle
import Storage

/// Searches the stores for users who were erased long ago, some each time.
struct TombstoneSampler: Sendable {
    private static let note = "tombstone_sample"

    private struct Progress {
        var at: WallTime
        var position = 0
        var isFound = false

        init(at: WallTime) { self.at = at }

        init?(text: String) {
            let words = text.split(separator: " ").compactMap { Int64($0) }
            guard words.count == 3 else { return nil }
            at = WallTime(unixMilliseconds: words[0])
            position = Int(words[1])
            isFound = words[2] != 0
        }

        var text: String { "\(at.unixMilliseconds) \(position) \(isFound ? 1 : 0)" }
    }

    let parts: RecheckParts
    let interval: Duration

    var isOn: Bool { interval > .zero }

    /// The first sample is one interval after the first start.
    func run() async throws {
        var progress: Progress
        if let known = try await parts.state.note(Self.note).flatMap(Progress.init(text:)) {
            progress = known
        } else {
            progress = Progress(at: parts.clock.now())
            try await keep(progress)
        }
        parts.counter.sampled(isFound: progress.isFound)
        while true {
            try await parts.clock.sleep(until: progress.at + interval)
            var run = RecheckRun(.sample(after: progress.position))
            progress.at = parts.clock.now()
            try await parts.driver.drive(&run)
            progress.position = run.report.position
            progress.isFound = run.report.stores.contains { $0.found > 0 }
            parts.counter.sampled(isFound: progress.isFound)
            try await keep(progress)
        }
    }

    private func keep(_ progress: Progress) async throws {
        try await parts.clock.persist {
            try await parts.state.setNote(Self.note, to: progress.text)
        }
    }
}
