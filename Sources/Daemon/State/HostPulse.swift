import Control
import Engine
import Lifecycle
import Storage

/// Learns from the state, every second, what other hosts have done.
///
/// What happens in one process is told inside it; what another host commits, nobody tells.
struct HostPulse: Sendable {
    /// How late a message, the end of a pause of the intake, or an event of another host may be.
    static let period = Duration.seconds(1)

    let steward: Steward
    let state: StateDatabase
    let intake: IntakeService
    let hub: EventHub
    /// Has the spools show what became of their rows.
    let mirror: Signal
    let rotation: KeyRotation
    let notifications: NotificationService
    let clock: any EngineClock

    /// Runs until cancelled.
    ///
    /// - Throws: ``StorageError`` that ends the service, or `CancellationError`.
    func run() async throws {
        var last: Stewardship?
        var told: [RequestID: RequestState] = [:]
        while true {
            try await clock.sleep(until: clock.now() + Self.period)
            let current = steward.current()
            do {
                try await intake.restorePause()
                try await tellListeners(&told)
                mirror.fire()
                if current != nil {
                    state.wakeMessages()
                    state.wakeRechecks()
                    notifications.signal()
                    // Also after a loss within the second: what it ended goes on.
                    if current != last { try await rotation.resume() }
                }
            } catch let failure as any StoreFailure where failure.isRetryable {
                continue
            }
            last = current
        }
    }

    /// Those who follow one request hear of each of its states, whichever host brought it there.
    private func tellListeners(_ told: inout [RequestID: RequestState]) async throws {
        let followed = hub.followed
        told = told.filter { followed.contains($0.key) }
        for id in followed {
            guard let request = try await state.requestRecord(id)?.request else { continue }
            let found = request.phase.state
            guard told.updateValue(found, forKey: id) != found else { continue }
            let detail = request.phase.parkReason?.rawValue ?? request.endDetail
            hub.catchUp(id, found, detail: detail, at: clock.now())
        }
    }
}
