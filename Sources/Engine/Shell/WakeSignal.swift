package import Lifecycle
import Synchronization

/// Wakes one loop; what is sent while it works is one signal.
package struct WakeSignal: Sendable {
    package let signals: AsyncStream<Void>
    private let sender: AsyncStream<Void>.Continuation

    package init() {
        (signals, sender) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func send() { sender.yield() }

    /// Ends the loop after what waits.
    package func finish() { sender.finish() }

    /// Returns with the next signal or the end of `rest`, whichever comes first; to be called once.
    ///
    /// - Throws: What `rest` throws, or `CancellationError`.
    package func wait(orAfter rest: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { [signals] group in
            group.addTask { try await rest() }
            group.addTask { for await _ in signals { return } }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}

/// A value that tasks share.
package final class Latest<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    package init(_ value: Value) { state = Mutex(value) }

    package var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Does `body` with the value, which no one else reads or changes meanwhile.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try state.withLock(body)
    }
}

/// The timers that a loop has set and that have not fired, each earlier than the one before it.
///
/// A timer cannot be taken back, so one that is set is remembered: else a far one would be set anew
/// behind every nearer one that fires, and they would pile up until its time.
package struct ArmedTimers: Sendable {
    private var times: [WallTime] = []
    private var stepCount = 0

    package init() {}

    /// Whether the caller must set a timer for a time: none fires at it or before.
    package mutating func arm(_ time: WallTime?, at now: WallTime, stepCount: Int = 0) -> Bool {
        if self.stepCount != stepCount { (self.stepCount, times) = (stepCount, []) }
        while let next = times.last, next <= now { times.removeLast() }
        guard let time, times.last.map({ time < $0 }) ?? true else { return false }
        times.append(time)
        return true
    }

    /// Has `wake` called at a time, or when the clock jumps before it, unless that is so already.
    package mutating func arm(
        _ time: WallTime?,
        at now: WallTime,
        by clock: any EngineClock,
        in group: inout ThrowingDiscardingTaskGroup<any Error>,
        wake: @escaping @Sendable () -> Void
    ) {
        guard let time, arm(time, at: now, stepCount: clock.stepCount) else { return }
        group.addTask {
            do {
                try await clock.sleep(until: time)
            } catch {
                // Only cancellation ends a sleep early, and then nothing waits for the timer.
                return
            }
            wake()
        }
    }
}
