import CSystemd
import Glibc

/// Notifies the service manager (sd_notify(3)); does nothing without `$NOTIFY_SOCKET`.
///
/// A failure is not reported: systemd notices a missing READY or WATCHDOG itself.
package struct ServiceNotifier: Sendable {
    private let send: @Sendable (String) -> Void
    private let monotonicMicroseconds: @Sendable () -> UInt64

    package init() {
        self.init(
            send: { message in _ = unsafe sd_notify(0, message) },
            monotonicMicroseconds: {
                var now = timespec()
                unsafe clock_gettime(CLOCK_MONOTONIC, &now)
                return UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
            }
        )
    }

    /// Hands the messages to `send` instead, for tests.
    package init(
        send: @escaping @Sendable (String) -> Void,
        monotonicMicroseconds: @escaping @Sendable () -> UInt64
    ) {
        (self.send, self.monotonicMicroseconds) = (send, monotonicMicroseconds)
    }

    package func ready(status: String) {
        send("READY=1\nSTATUS=\(LogText.sanitized(status))")
    }

    /// One line for `systemctl status`; no personal data.
    package func status(_ status: String) {
        send("STATUS=\(LogText.sanitized(status))")
    }

    /// ``ready(status:)`` ends it.
    package func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds())")
    }

    package func stopping(status: String) {
        send("STOPPING=1\nSTATUS=\(LogText.sanitized(status))")
    }

    /// Lets a start or stop go on after its timeout, for `time` from now.
    package func extendTimeout(by time: Duration) {
        send("EXTEND_TIMEOUT_USEC=\(time.components.seconds * 1_000_000)")
    }

    /// Due every half of ``watchdogInterval``.
    package func feedWatchdog() {
        send("WATCHDOG=1")
    }

    /// `nil` when systemd does not watch this process (sd_watchdog_enabled(3)).
    package static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }
}
