import Engine
import Lifecycle
import Logging
import Storage
import Synchronization
import Systemd

/// Journal entries from warning up, on their way to those who want alarms.
///
/// In memory and bounded: an alarm of the last moment before a crash stands in the journal alone.
final class AlarmQueue: Sendable {
    /// That wait to be stored.
    private static let waitingMax = 256

    private struct State {
        var waiting: [AlarmMessage] = []
        var limit = AlarmLimit()
        var isOn = false
    }

    private let now: @Sendable () -> WallTime
    private let state = Mutex(State())
    let signal = Signal()

    init(now: @escaping @Sendable () -> WallTime) { self.now = now }

    convenience init() {
        let clock = AnchoredClock()
        self.init { clock.now() }
    }

    /// Nothing is kept while nobody wants alarms.
    func setOn(_ isOn: Bool) {
        state.withLock { state in
            state.isOn = isOn
            if !isOn { state.waiting = [] }
        }
    }

    func offer(_ entry: LogEntry) {
        guard let event = entry.event, Logger.Level(event.severity) >= .warning else { return }
        let at = now()
        let request = entry.fields.first { $0.name == .requestID }.flatMap { RequestID($0.value) }
        var alarm = AlarmMessage(
            event: event.name,
            severity: event.severity.rawValue,
            text: entry.message,
            request: request,
            at: at
        )
        // A mail about mail that fails would fail, too, and be told again.
        let mail = SubscriberName.mail
        if entry.fields.contains(where: { $0.name == .subscriber && $0.value == mail.rawValue }) {
            alarm.exempt = mail
        }
        offer(alarm, of: event)
    }

    private func offer(_ alarm: AlarmMessage, of event: JournalEvent) {
        let isNew = state.withLock { state in
            guard state.isOn, state.waiting.count < Self.waitingMax,
                state.limit.admit(event, at: alarm.at)
            else { return false }
            state.waiting.append(alarm)
            return true
        }
        if isNew { signal.fire() }
    }

    func take() -> [AlarmMessage] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Puts back what could not be stored.
    func putBack(_ alarms: [AlarmMessage]) {
        state.withLock { state in
            state.waiting = Array((alarms + state.waiting).prefix(Self.waitingMax))
        }
    }
}
