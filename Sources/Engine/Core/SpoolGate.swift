import Lifecycle

/// Lets a request go on only after a read of the spool that began when the request was there.
///
/// An application commits a credential to the spool and then asks for the deletion over the socket:
/// whoever looks at the vault alone may miss it.
struct SpoolGate: Sendable {
    private struct Place {
        let read: Int
        /// Since when it has waited without a pause.
        let since: WallTime
    }

    var isOn = false
    private(set) var isReading = false
    /// Requests may be parked until the spool is read.
    var hasParked = false
    var unsealed = UnsealedUsers()
    /// Reads are numbered in the order in which they begin, from 1.
    private var begunCount = 0
    /// The last read that somebody waits for; the first is for the requests of before the start.
    private var lastWanted = 1
    private var waiting: [RequestID: Place] = [:]
    /// The reads that parked requests wait for: however long each read lasts, its end is theirs.
    private var parked: [RequestID: Int] = [:]
    /// The last read that did not give up.
    private var lastWellRead = 0

    private var endedCount: Int { isReading ? begunCount - 1 : begunCount }

    /// Whether it goes on without the spool, after the read that it was parked for.
    mutating func enter(_ loaded: LoadedRequest, at now: WallTime) -> Bool {
        guard isOn else { return false }
        let known = parked.removeValue(forKey: loaded.request.id)
        if let known, known <= endedCount { return known > lastWellRead }
        // Before a read since the start ended well nothing is known of any request.
        let isUnknown = lastWellRead == 0 && !(endedCount > 0 && loaded.request.isWithoutSpool)
        guard !loaded.isSpoolRead, let stage = loaded.request.phase.stage,
            stage == .accepted || (isUnknown && stage <= .revoking)
        else { return false }
        let read = known ?? begunCount + 1
        waiting[loaded.request.id] = Place(read: read, since: now)
        lastWanted = max(lastWanted, read)
        return false
    }

    /// Takes a request out of the window; one that is parked for the spool keeps its place.
    mutating func leave(_ id: RequestID, isParked: Bool) {
        guard let place = waiting.removeValue(forKey: id), isParked,
            parked.count < Limits.spoolPlacesMax
        else { return }
        parked[id] = place.read
    }

    mutating func forget(_ id: RequestID) { parked.removeValue(forKey: id) }

    mutating func begin() -> Bool {
        guard isOn, !isReading, lastWanted > begunCount else { return false }
        begunCount += 1
        isReading = true
        return true
    }

    /// The requests of the window that it was for, and how many are parked besides.
    mutating func end(_ outcome: SpoolReadOutcome) -> (passed: [RequestID], parkedCount: Int) {
        isReading = false
        if outcome == .read { lastWellRead = begunCount }
        let passed = waiting.filter { $0.value.read <= endedCount }.keys.sorted()
        for id in passed { waiting.removeValue(forKey: id) }
        return (passed, parked.values.count { $0 == endedCount })
    }

    func knowledge(of id: RequestID, _ userHash: [UInt8], at now: WallTime) -> SpoolKnowledge {
        guard isOn else { return .read }
        if let place = waiting[id] {
            return now.since(place.since) >= Limits.spoolPatience ? .unread : .reading
        }
        return unsealed.contains(userHash) ? .unsealed : .read
    }

    func overdue(at now: WallTime) -> [RequestID] {
        guard !waiting.isEmpty else { return [] }
        return waiting.filter { now.since($0.value.since) >= Limits.spoolPatience }.keys.sorted()
    }

    func wakeTime(after now: WallTime) -> WallTime? {
        guard !waiting.isEmpty else { return nil }
        return waiting.values.map { $0.since + Limits.spoolPatience }.filter { $0 > now }.min()
    }

    mutating func restart(at now: WallTime) {
        waiting = waiting.mapValues { Place(read: $0.read, since: now) }
    }
}
