import Lifecycle

/// Lets a request go on only after a read of the spool that began when the request was there.
///
/// An application commits a credential to the spool and then asks for the deletion over the socket:
/// whoever looks at the vault alone may miss it.
struct SpoolGate: Sendable {
    /// Whether there is a spool to wait for.
    var isOn = false
    private(set) var isReading = false
    /// Before the first read since the start nothing is known of any request.
    private(set) var hasRead = false
    /// Requests may be parked until the spool is read.
    var hasParked = false
    var unsealed = UnsealedUsers()
    /// Requests of the window that wait for a read that has not begun, and since when.
    private var waiting: [RequestID: WallTime] = [:]
    /// Those that wait for the read under way.
    private var reading: [RequestID: WallTime] = [:]

    /// Takes a request that came into the window.
    mutating func enter(_ loaded: LoadedRequest, at now: WallTime) {
        guard isOn, !loaded.isSpoolRead, let stage = loaded.request.phase.stage,
            stage == .accepted || (!hasRead && stage <= .revoking)
        else { return }
        waiting[loaded.request.id] = now
    }

    /// Forgets a request that left the window.
    mutating func leave(_ id: RequestID) {
        guard isOn else { return }
        waiting.removeValue(forKey: id)
        reading.removeValue(forKey: id)
    }

    /// Begins a read for whoever waits.
    ///
    /// - Returns: Whether there is one to begin.
    mutating func begin() -> Bool {
        guard isOn, !isReading, !waiting.isEmpty || !hasRead else { return false }
        reading.merge(waiting) { $1 }
        waiting.removeAll()
        isReading = true
        return true
    }

    /// Ends the read under way.
    ///
    /// - Returns: The requests that it was for, in order.
    mutating func end() -> [RequestID] {
        let passed = reading.keys.sorted()
        reading.removeAll()
        (isReading, hasRead) = (false, true)
        return passed
    }

    /// What is known about the credentials of a request's user.
    func knowledge(of id: RequestID, _ userHash: [UInt8], at now: WallTime) -> SpoolKnowledge {
        guard isOn else { return .read }
        if let since = waiting[id] ?? reading[id] {
            return now.since(since) >= Limits.spoolPatience ? .unread : .reading
        }
        return unsealed.contains(userHash) ? .unsealed : .read
    }

    /// Requests that have waited for too long, in order.
    func overdue(at now: WallTime) -> [RequestID] {
        guard !waiting.isEmpty || !reading.isEmpty else { return [] }
        return [waiting, reading].flatMap { requests in
            requests.compactMap { now.since($1) >= Limits.spoolPatience ? $0 : nil }
        }
        .sorted()
    }

    /// When the next request has waited for too long.
    func wakeTime(after now: WallTime) -> WallTime? {
        guard !waiting.isEmpty || !reading.isEmpty else { return nil }
        return [waiting, reading].flatMap(\.values).map { $0 + Limits.spoolPatience }
            .filter { $0 > now }.min()
    }

    /// The clock jumped: waiting begins anew.
    mutating func restart(at now: WallTime) {
        waiting = waiting.mapValues { _ in now }
        reading = reading.mapValues { _ in now }
    }
}
