import Synchronization
import Testing

@testable import Systemd

@Suite("Service notifier")
struct ServiceNotifierTests {
    @Test("messages are those of sd_notify(3)")
    func messages() {
        let sent = SentMessages()
        let notifier = ServiceNotifier(
            send: { message in sent.messages.withLock { $0.append(message) } },
            monotonicMicroseconds: { 42 }
        )
        notifier.ready(status: "12 active")
        notifier.status("two\nlines READY=1")
        notifier.reloading()
        notifier.stopping(status: "waiting")
        notifier.feedWatchdog()
        notifier.extendTimeout(by: .seconds(30))
        #expect(
            sent.messages.withLock { $0 } == [
                "READY=1\nSTATUS=12 active", "STATUS=two\\u{a}lines READY=1",
                "RELOADING=1\nMONOTONIC_USEC=42", "STOPPING=1\nSTATUS=waiting", "WATCHDOG=1",
                "EXTEND_TIMEOUT_USEC=30000000",
            ]
        )
    }

    @Test("without a service manager nothing is sent and nothing watches")
    func alone() {
        ServiceNotifier().ready(status: "")
        #expect(ServiceNotifier.watchdogInterval == nil)
    }
}

/// What the notifier under test said.
private final class SentMessages: Sendable {
    let messages = Mutex<[String]>([])
}
