import CLinux
import Engine
import Glibc
import Lifecycle
import PostgreSQL

/// Hears what the database notifies, on a session and a thread of its own.
final class HostListener: Sendable {
    /// How long a session may be silent before it is asked whether it still lives.
    private static let silence = Duration.seconds(30)

    private let plan: PostgreSQLStatePlan
    private let lane = PostgreSQLLane("state-listener", ())
    /// Ends every wait.
    private let ending: Int32
    private let hear: @Sendable (Set<HostWord>) -> Void

    /// - Throws: ``StorageError`` of kind `unopenable` without a descriptor.
    init(
        _ plan: PostgreSQLStatePlan,
        hear: @escaping @Sendable (Set<HostWord>) -> Void
    ) throws {
        ending = clinux_event_make()
        guard ending >= 0 else {
            throw StorageError(.unopenable, "listen", at: "the state", errno: -ending)
        }
        (self.plan, self.hear) = (plan, hear)
        lane.enqueue { [self] _ in run() }
    }

    deinit { Glibc.close(ending) }

    func end() { clinux_event_signal(ending) }

    /// Returns when the thread has ended.
    func stop() throws {
        end()
        try lane.run { _ in }
    }

    private var isStopped: Bool { waitForEnd(0) }

    private func waitForEnd(_ milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: ending, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) > 0
    }

    private func run() {
        while !isStopped {
            do {
                try listen()
            } catch {
                // Renewals find the same, later; the next session hears again.
                if waitForEnd(Int32(RetryPolicy.listener.first.milliseconds)) { return }
            }
        }
    }

    /// Until the session ends, or everything does.
    private func listen() throws {
        let link = try plan.open(wakeDescriptor: ending)
        try ask("LISTEN \(plan.schema)", link)
        // What was notified before.
        hear([.mail, .leases, .answers])
        while true {
            let words = Set(try link.takeNotifications().compactMap(word))
            if !words.isEmpty { hear(words) }
            if try isSilent(link) { try ask("SELECT 1", link) }
        }
    }

    private func isSilent(_ link: PostgreSQLLink) throws(PostgreSQLFailure) -> Bool {
        do {
            try link.waitForInput(until: plan.uptime() + Self.silence)
            return false
        } catch {
            guard error == .timeout else { throw error }
            return true
        }
    }

    /// What this host has caused it knows; answers alone may be for another caller of it.
    private func word(_ payload: String) -> HostWord? {
        let parts = payload.split(separator: " ", maxSplits: 1).map(String.init)
        guard let word = parts.first.flatMap(HostWord.init) else { return nil }
        return word != .answers && parts.dropFirst().first == plan.host ? nil : word
    }

    private func ask(_ sql: String, _ link: PostgreSQLLink) throws {
        let deadline = plan.uptime() + PostgreSQLStateLimits.connect
        guard link.send(sql, PostgreSQLParameters(), isBinary: true) else {
            throw PostgreSQLFailure.lost
        }
        try link.flush(until: deadline)
        while let result = try link.nextResult(until: deadline) {
            if case .failed(let failure) = result.kind { throw failure }
        }
    }
}
