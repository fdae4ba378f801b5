import Lifecycle

/// How much of the window each submitter has; counted once for a group of new requests.
///
/// All rows of the spool count as one submitter: they name nobody.
struct WindowShares {
    private struct Key: Hashable {
        let lane: ProviderName?
        let submitter: UInt32?
    }

    private var counts: [Key: Int] = [:]
    private var laneCounts: [ProviderName?: Int] = [:]

    init(_ runs: some Collection<EngineCore.Run>) {
        for run in runs { count(run.loaded, in: run.lane) }
    }

    private mutating func count(_ loaded: LoadedRequest, in lane: ProviderName?) {
        counts[Key(lane: lane, submitter: loaded.submitter), default: 0] += 1
        laneCounts[lane, default: 0] += 1
    }

    /// Whether a place was left for its submitter; `most` is the lane's bound, shares included.
    mutating func take(_ loaded: LoadedRequest, most: Int) -> Bool {
        let lane = loaded.request.lane
        let own = counts[Key(lane: lane, submitter: loaded.submitter)] ?? 0
        guard own < Limits.submitterShare, (laneCounts[lane] ?? 0) < most else { return false }
        count(loaded, in: lane)
        return true
    }
}

extension EngineCore {
    /// In a window or lane that others have filled it would wait behind all that is due.
    func hasShare(_ loaded: LoadedRequest, _ shares: inout WindowShares?) -> Bool {
        guard mayFetch, window.count < Limits.windowMax + Limits.windowReserve else { return false }
        var most = Limits.windowMax + Limits.windowReserve
        if let name = loaded.request.lane {
            guard let lane = lanes[name], lane.isTrusted,
                !environment.pausedProviders.contains(name)
            else { return false }
            // A page of due work may have come on top.
            most = lane.requestCountMax * 3 / 2 + Limits.fetchMax
        }
        var counted = shares ?? WindowShares(window.values)
        defer { shares = counted }
        return counted.take(loaded, most: most)
    }
}
