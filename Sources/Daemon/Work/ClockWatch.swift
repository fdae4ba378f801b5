import CLinux
import Engine
import Glibc
import Lifecycle
import Logging
import Systemd

/// Reads the clock as soon as it is set, so that an idle service notices a step.
///
/// A thread sleeps in read(2). Without it each use of the clock notices the step.
enum ClockWatch {
    /// The thread ends with the process.
    static func start(_ clock: AnchoredClock, _ logger: Logger) {
        let descriptor = clinux_clock_watch()
        let isWatching =
            descriptor >= 0
            && SystemThread.start("expunged-clock") {
                while clinux_clock_wait_for_step(descriptor) == 0 { _ = clock.now() }
                close(descriptor)
            } == 0
        guard !isWatching else { return }
        if descriptor >= 0 { close(descriptor) }
        logger.note(.caution, ["detail": "cannot watch the system clock, comparing it at each use"])
    }
}
