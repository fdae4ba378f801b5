import CExecutor
import Glibc
import Synchronization

/// Waits for a time; throws `CancellationError` in a cancelled task.
package typealias Sleep = @Sendable (Duration) async throws -> Void

/// Time since the machine started, suspended time included (CLOCK_BOOTTIME, clock_gettime(2)).
///
/// Its sleeps use the timer of the threads that run tasks. `Task.sleep` uses libdispatch's, which
/// one failed epoll_ctl(2) loses for good, and wakes three threads.
package enum BootClock {
    package static var now: Duration { read(CLOCK_BOOTTIME) }

    static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        // It fails for clocks only that a kernel does not have.
        _ = unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Sleeps at least for `duration`; not at all if that is negative.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package static func sleep(for duration: Duration) async throws {
        let timer = Timer()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { timer.begin($0, for: duration) }
        } onCancel: {
            timer.cancel()
        }
    }

    /// The sleep of whoever is given no other.
    package static let sleeping: Sleep = { try await sleep(for: $0) }

    /// What `work` returns, or `late` when the time is over: it is cancelled then, and its end is
    /// awaited.
    ///
    /// `sleep` is there for tests that own the time.
    package static func within<Result: Sendable>(
        _ time: Duration,
        late: Result,
        sleep: @escaping Sleep = BootClock.sleeping,
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        await withTaskGroup(of: Result?.self) { group in
            group.addTask { await work() }
            group.addTask {
                do {
                    try await sleep(time)
                } catch {
                    // Cancelled: the work has ended.
                    return nil
                }
                return late
            }
            defer { group.cancelAll() }
            while let result = await group.next() {
                if let result { return result }
            }
            return late
        }
    }

    /// Sleeps until the task is cancelled.
    ///
    /// - Throws: `CancellationError`.
    package static func sleepForever() async throws {
        while true { try await sleep(for: Timer.durationMax) }
    }

    /// One sleep; the timer owns a reference until it fires or is taken back.
    private final class Timer: Sendable {
        private typealias Sleeper = CheckedContinuation<Void, any Error>

        private enum State {
            case new
            case asleep(Sleeper)
            case over
        }

        static let durationMax = Duration.seconds(Int64(1) << 33)

        private let state = Mutex(State.new)

        func begin(_ sleeper: CheckedContinuation<Void, any Error>, for duration: Duration) {
            let shortened = min(max(duration, .zero), Self.durationMax)
            let nanoseconds = Int64((shortened / .nanoseconds(1)).rounded(.up))
            // In the lock, so that a cancellation finds the timer.
            let isCancelled = state.withLock { state in
                if case .over = state { return true }
                state = .asleep(sleeper)
                unsafe cexecutor_call_after(
                    nanoseconds,
                    { context in
                        guard let context = unsafe context else { return }
                        unsafe Unmanaged<Timer>.fromOpaque(context).takeRetainedValue()
                            .end()?.resume()
                    },
                    Unmanaged.passRetained(self).toOpaque()
                )
                return false
            }
            if isCancelled { sleeper.resume(throwing: CancellationError()) }
        }

        func cancel() {
            guard let sleeper = end() else { return }
            let reference = unsafe Unmanaged.passUnretained(self)
            if unsafe cexecutor_take_back(reference.toOpaque()) != 0 {
                unsafe reference.release()
            }
            sleeper.resume(throwing: CancellationError())
        }

        private func end() -> Sleeper? {
            state.withLock { state in
                defer { state = .over }
                guard case .asleep(let sleeper) = state else { return nil }
                return sleeper
            }
        }
    }
}
