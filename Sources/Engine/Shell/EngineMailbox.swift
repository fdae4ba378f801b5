import Synchronization

/// Collects inputs from any task; one loop takes them in groups.
final class EngineMailbox: Sendable {
    private let inputs = Mutex<[EngineInput]>([])
    private let signal: AsyncStream<Void>.Continuation
    /// Yields once or more after inputs arrived; never while nothing happens.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
    }

    func post(_ input: EngineInput) {
        inputs.withLock { $0.append(input) }
        signal.yield()
    }

    func takeAll() -> [EngineInput] {
        inputs.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }

    /// Ends the loop after what is waiting.
    func close() { signal.finish() }
}
