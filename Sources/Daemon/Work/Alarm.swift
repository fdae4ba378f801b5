import CExecutor
import Lifecycle
import Synchronization

/// A sleep on the boot-time clock that wakes only the thread that goes on.
final class Alarm: Sendable {
    private enum State {
        case unarmed
        case waiting(CheckedContinuation<Void, any Error>)
        case over
    }

    private let state = Mutex(State.unarmed)

    static func sleep(for duration: Duration) async throws {
        let alarm = Alarm()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { alarm.arm($0, after: duration) }
        } onCancel: {
            alarm.end(throwing: CancellationError())
        }
    }

    /// Sleeps until the task is cancelled.
    static func sleepForever() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        defer { continuation.finish() }
        for await _ in stream {}
        try Task.checkCancellation()
    }

    private func arm(
        _ continuation: CheckedContinuation<Void, any Error>,
        after duration: Duration
    ) {
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .waiting(continuation)
            return false
        }
        guard !isOver else { return continuation.resume(throwing: CancellationError()) }
        let context = unsafe Unmanaged.passRetained(self)
        unsafe cexecutor_call_after(
            duration.milliseconds * 1_000_000,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<Alarm>.fromOpaque(context).takeRetainedValue().end(throwing: nil)
            },
            context.toOpaque()
        )
    }

    private func end(throwing error: (any Error)?) {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            defer { state = .over }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
        if let error {
            continuation?.resume(throwing: error)
        } else {
            continuation?.resume()
        }
    }
}
