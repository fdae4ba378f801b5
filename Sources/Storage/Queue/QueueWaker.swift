import Engine
import Lifecycle
import Synchronization

/// Wakes the reader of a queue: with each update of its server, and after a failure from time to
/// time.
final class QueueWaker: SpoolWaker {
    var wakes: AsyncStream<Void> { wake.signals }

    private struct State {
        var isAlert = false
        var isSweepDue = false
    }

    private let server: any QueueServer
    private let interval: Duration
    private let sweepInterval: Duration
    private let clock: SpoolClock
    private let wake = WakeSignal()
    private let state = Mutex(State())

    init(
        server: any QueueServer,
        interval: Duration,
        sweepInterval: Duration,
        clock: SpoolClock
    ) {
        (self.server, self.interval, self.clock) = (server, interval, clock)
        self.sweepInterval = sweepInterval
    }

    func watch() async {
        defer { wake.finish() }
        var sweptAt = clock.uptime()
        while !Task.isCancelled {
            let answer = await server.awaitChange(within: min(interval, sweepInterval))
            let isAlert = state.withLock { $0.isAlert }
            let pause = isAlert ? min(RetryPolicy.queue.first, sweepInterval) : sweepInterval
            let now = clock.uptime()
            if answer == .failed || now - sweptAt >= pause {
                sweptAt = now
                state.withLock { $0.isSweepDue = true }
                wake.send()
            } else if answer == .changed {
                wake.send()
            }
            guard answer == .failed else { continue }
            guard await clock.pause(min(RetryPolicy.queue.first, sweepInterval)) else { return }
        }
    }

    func stop() { wake.finish() }

    func setAlert(_ isAlert: Bool) { state.withLock { $0.isAlert = isAlert } }

    func takeSweep() -> Bool {
        state.withLock { state in
            defer { state.isSweepDue = false }
            return state.isSweepDue
        }
    }
}
