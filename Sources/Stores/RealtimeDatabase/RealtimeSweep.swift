import Engine
import Lifecycle

/// Removes what a database has of one user, piece by piece where it is a lot.
struct RealtimeSweep: UserSweep {
    struct Place: CustomStringConvertible {
        let path: UserPath
        let names: [String]

        var description: String { path.description }
    }

    /// What the application says of the time of what is at one path of one user.
    private enum Age {
        /// Older than the request, or nobody is asked.
        case older
        case newer
        case undated
    }

    /// What became of a path.
    private enum Outcome {
        case empty
        case gone
        /// Left as it was when it turned out to be newer than the request, which may be after some
        /// of it had gone.
        case newer
    }

    /// The deepest place (firebase.google.com/docs/database/usage/limits, "Data tree").
    static let depthMax = 32

    let places: [Place]
    let store: RealtimeDatabaseStore
    let order: PurgeOrder

    private var tree: RealtimeTree { store.tree }
    private var walk: PageWalk { store.walk }
    private var createdAtChild: String? { store.createdAtChild }

    /// A path counts as one.
    func remove(_ place: Place) async throws(CallFailure) -> PurgeCounts {
        var entry = PurgeCounts.Entry(name: "\(place)", action: .rule(.delete), rowCount: 0)
        switch try await remove(place.names) {
        case .empty: break
        case .gone: entry.rowCount = 1
        case .newer:
            entry.newerCount = 1
            // The date is that of an account, not of each child: one that the application made
            // anew in what another purge had left may stand beside older data.
            let copies = PurgeCounts.ResidualCopies(
                .olderDataUnderNewDate,
                "\(place)",
                until: nil
            )
            return PurgeCounts(entries: [entry], residualCopies: [copies])
        }
        return PurgeCounts(entries: [entry])
    }

    func preview(_ place: Place) async throws(CallFailure) -> [PlanItem] {
        let age = try await age(place.names)
        let count = Self.count(try await tree.firstKeys(at: place.names)) > 0 ? 1 : 0
        return [
            PlanItem(
                name: "\(place)",
                action: .delete,
                count: age == .newer ? 0 : count,
                newerCount: age == .newer ? count : 0,
                undatedCount: age == .undated ? count : 0,
                hasNoTimestamps: createdAtChild == nil
            )
        ]
    }

    /// Asks for the listing of all keys and for the first child; the purge asks for the first keys.
    func remaining(_ place: Place) async throws(CallFailure) -> Leftover {
        guard try await age(place.names) != .newer else { return Leftover() }
        let listed = Self.count(try await tree.keys(at: place.names))
        guard listed == 0 else { return Leftover(count: listed) }
        return Leftover(count: Self.count(try await tree.firstChild(at: place.names)))
    }

    /// When the application wrote the data of a path.
    private func age(_ path: [String]) async throws(CallFailure) -> Age {
        guard let createdAtChild else { return .older }
        guard case .value(let number?) = try await tree.keys(at: path + [createdAtChild]),
            let time = Int64(exactly: number.rounded(.down))
        else { return .undated }
        return WallTime(unixMilliseconds: time) > order.cutoff ? .newer : .older
    }

    /// Deletes what is at a path.
    ///
    /// What is too much for one write goes child by child, many of them at once: the keys come by
    /// shallow reads, and a write that is refused is halved. The date goes last, and is read before
    /// each write: an account that is made anew meanwhile keeps its data.
    ///
    /// - Throws: ``CallFailure``; what was deleted until then stays deleted.
    private func remove(_ path: [String]) async throws(CallFailure) -> Outcome {
        if case .nothing = try await tree.firstKeys(at: path) { return .empty }
        var places = [path]
        var outcome = Outcome.gone
        try await walk.run { () throws(CallFailure) in
            guard let place = places.last else { return false }
            guard try await age(path) != .newer else {
                outcome = .newer
                return false
            }
            if try await tree.delete(place) {
                places.removeLast()
                return true
            }
            switch try await tree.firstKeys(at: place) {
            case .nothing: places.removeLast()
            case .keys(let keys):
                let others = keys.filter { place != path || $0 != createdAtChild }
                let doomed = others.isEmpty ? keys : others
                guard let large = try await remove(doomed, at: place, of: path) else {
                    return true
                }
                guard place.count < Self.depthMax else { throw CallFailure(.unusable) }
                places.append(place + [large])
            // A single value that cannot be deleted, and a list of keys that cannot be read.
            case .value, .large: throw CallFailure(.unusable)
            }
            return true
        }
        return outcome
    }

    /// Deletes children.
    ///
    /// - Parameters:
    ///   - keys: The children.
    ///   - place: Where they are.
    ///   - path: What the place is in.
    /// - Returns: The first one that is too much by itself; `nil` when all are gone, or the path is
    ///   newer than the request.
    /// - Throws: ``CallFailure``.
    private func remove(
        _ keys: [String],
        at place: [String],
        of path: [String]
    ) async throws(CallFailure) -> String? {
        var chunks = [keys[...]]
        while let chunk = chunks.popLast() {
            guard try await age(path) != .newer else { return nil }
            let start = walk.clock.uptime()
            if try await !tree.delete(Array(chunk), at: place) {
                guard chunk.count > 1 else { return chunk.first }
                let middle = chunk.startIndex + chunk.count / 2
                chunks.append(chunk[middle...])
                chunks.append(chunk[..<middle])
            }
            try await walk.rest(min(walk.clock.uptime() - start, PageWalk.restMax))
        }
        return nil
    }

    private static func count(_ content: RealtimeTree.Content) -> Int {
        switch content {
        case .nothing: 0
        case .value, .large: 1
        case .keys(let keys): keys.count
        }
    }
}
