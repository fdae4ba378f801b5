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
    /// By source, its last read that did not give up; 0 before the first.
    private var wellReads: [String: Int] = [:]

    private var endedCount: Int { isReading ? begunCount - 1 : begunCount }

    /// Returns the sources that it goes on without, after the read that it was parked for.
    mutating func enter(_ loaded: LoadedRequest, at now: WallTime) -> Set<String> {
        let unread = stillUnread(loaded.request.unreadSources)
        guard isOn else { return unread }
        let known = parked.removeValue(forKey: loaded.request.id)
        if let known, known <= endedCount {
            return unread.union(wellReads.filter { $0.value < known }.keys)
        }
        // Before a source was read well since the start nothing is known of any request.
        let isUnknown =
            wellReads.values.min() ?? 0 == 0 && !(endedCount > 0 && !unread.isEmpty)
        guard !loaded.isSpoolRead, let stage = loaded.request.phase.stage,
            stage == .accepted || (isUnknown && stage <= .revoking)
        else { return unread }
        let read = known ?? begunCount + 1
        waiting[loaded.request.id] = Place(read: read, since: now)
        lastWanted = max(lastWanted, read)
        return unread
    }

    /// Without those that the last read has reached: it began after the one that had not.
    func stillUnread(_ sources: Set<String>) -> Set<String> {
        sources.filter { wellReads[$0] ?? -1 != endedCount }
    }

    /// A source can be read again, which requests went on without.
    mutating func wantRead() { lastWanted = begunCount + 1 }

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

    /// The requests of the window that it was for, how many are parked besides, and the sources
    /// that the read before it had not reached.
    mutating func end(
        _ outcomes: [String: SpoolReadOutcome]
    ) -> (passed: [RequestID], parkedCount: Int, returned: Set<String>) {
        let well = Set(outcomes.filter { $0.value == .read }.keys)
        let returned = stillUnread(well)
        isReading = false
        for source in outcomes.keys {
            wellReads[source] = well.contains(source) ? begunCount : wellReads[source] ?? 0
        }
        let passed = waiting.filter { $0.value.read <= endedCount }.keys.sorted()
        for id in passed { waiting.removeValue(forKey: id) }
        return (passed, parked.values.count { $0 == endedCount }, returned)
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
