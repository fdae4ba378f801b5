import Engine
import Synchronization

/// Callers that wait for the answers of owners.
final class AnswerWaits: Sendable {
    private struct State {
        var lastNumber = 0
        var signals: [Int: WakeSignal] = [:]
        var isOver = false
    }

    private let state = Mutex(State())

    /// Runs `read` now and whenever there may be an answer, until it returns one.
    ///
    /// - Throws: What `read` throws, or `CancellationError`, also when everything ends.
    func wait<Answer>(_ read: () async throws -> Answer?) async throws -> Answer {
        let signal = WakeSignal()
        signal.send()
        let number = add(signal)
        defer { state.withLock { _ = $0.signals.removeValue(forKey: number) } }
        for await _ in signal.signals { if let answer = try await read() { return answer } }
        throw CancellationError()
    }

    private func add(_ signal: WakeSignal) -> Int {
        state.withLock { state in
            if state.isOver { signal.finish() }
            state.lastNumber += 1
            state.signals[state.lastNumber] = signal
            return state.lastNumber
        }
    }

    func wake() {
        for signal in state.withLock({ Array($0.signals.values) }) { signal.send() }
    }

    func finish() {
        let signals = state.withLock { state in
            state.isOver = true
            return Array(state.signals.values)
        }
        for signal in signals { signal.finish() }
    }
}
