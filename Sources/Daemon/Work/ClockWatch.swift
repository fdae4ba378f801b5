import CLinux
import Engine
import Glibc
import Lifecycle
import Logging

/// Reads the clock as soon as somebody has set it, so that a step is noticed in an idle service.
///
/// A thread sleeps in read(2). Without it each use of the clock notices the step, the watchdog's at
/// the latest.
enum ClockWatch {
    private final class Context: Sendable {
        let clock: AnchoredClock
        let descriptor: Int32

        init(clock: AnchoredClock, descriptor: Int32) {
            self.clock = clock
            self.descriptor = descriptor
        }

        func run() {
            while clinux_clock_wait_for_step(descriptor) == 0 { _ = clock.now() }
            close(descriptor)
        }
    }

    /// Starts the thread; it ends with the process.
    static func start(_ clock: AnchoredClock, _ logger: Logger) {
        let descriptor = clinux_clock_watch()
        guard descriptor >= 0 else {
            logger.warning("cannot watch the system's clock, comparing it at each use")
            return
        }
        let context = unsafe Unmanaged.passRetained(Context(clock: clock, descriptor: descriptor))
        let answer = unsafe clinux_thread_start(
            "expunged-clock",
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<Context>.fromOpaque(context).takeRetainedValue().run()
            },
            context.toOpaque()
        )
        guard answer != 0 else { return }
        unsafe context.release()
        close(descriptor)
        logger.warning("cannot watch the system's clock, comparing it at each use")
    }
}
