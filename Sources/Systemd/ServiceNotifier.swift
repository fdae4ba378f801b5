import CSystemd
import Glibc

/// Tells the service manager how the service is (sd_notify(3)); does nothing without
/// `$NOTIFY_SOCKET`.
///
/// A message that cannot be sent is not reported: systemd notices a missing READY or WATCHDOG
/// itself, and nothing better could be done here.
package struct ServiceNotifier: Sendable {
    private let send: @Sendable (String) -> Void
    private let monotonicMicroseconds: @Sendable () -> UInt64

    /// Notifies the real service manager.
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
        self.send = send
        self.monotonicMicroseconds = monotonicMicroseconds
    }

    /// The start, or a reload, is complete.
    package func ready(status: String) {
        send("READY=1\nSTATUS=\(LogText.sanitized(status))")
    }

    /// One line for `systemctl status`, such as "12 active, 3 parked, oldest 4 h"; no personal
    /// data.
    package func status(_ status: String) {
        send("STATUS=\(LogText.sanitized(status))")
    }

    /// A reload begins; ``ready(status:)`` ends it.
    package func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds())")
    }

    /// The service begins to stop.
    package func stopping(status: String) {
        send("STOPPING=1\nSTATUS=\(LogText.sanitized(status))")
    }

    /// The service is alive; due every half of ``watchdogInterval``.
    package func feedWatchdog() {
        send("WATCHDOG=1")
    }

    /// Start, reload or stop takes longer than configured, and is still alive.
    ///
    /// - Parameter extra: Counted from now; repeat before it is over.
    package func extendTimeout(by extra: Duration) {
        send("EXTEND_TIMEOUT_USEC=\(Int64(extra / .microseconds(1)))")
    }

    /// How often systemd wants to hear of us, or `nil` when it does not watch this process.
    ///
    /// Reads `$WATCHDOG_USEC` and `$WATCHDOG_PID` (sd_watchdog_enabled(3)).
    package static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }
}
