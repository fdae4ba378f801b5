import Lifecycle

/// Removes what a database has of one user, piece by piece where it is a lot.
struct RealtimeSweep {
    /// What the application says of the time of what is at one path of one user.
    enum Age {
        /// Older than the request, or nobody is asked.
        case older
        case newer
        case undated
    }

    /// What became of a path.
    enum Outcome {
        case empty
        case gone
        /// Left as it was when it turned out to be newer than the request, which may be after some
        /// of it had gone.
        case newer
    }

    /// The deepest place (firebase.google.com/docs/database/usage/limits, "Data tree").
    static let depthMax = 32

    let tree: RealtimeTree
    let walk: PageWalk
    /// ``RealtimeDatabaseTargetPlan/createdAtChild``.
    let createdAtChild: String?
    let cutoff: WallTime

    /// When the application wrote the data of a path.
    ///
    /// - Throws: ``GoogleFailure``.
    func age(_ path: [String]) async throws(GoogleFailure) -> Age {
        guard let createdAtChild else { return .older }
        guard case .value(let number?) = try await tree.keys(at: path + [createdAtChild]),
            let time = Int64(exactly: number.rounded(.down))
        else { return .undated }
        return WallTime(unixMilliseconds: time) > cutoff ? .newer : .older
    }

    /// Deletes what is at a path.
    ///
    /// What is too much for one write goes child by child, many of them at once: the keys come by
    /// shallow reads, and a write that is refused is halved. The date goes last, and is read before
    /// each write: an account that is made anew meanwhile keeps its data.
    ///
    /// - Throws: ``GoogleFailure``; what was deleted until then stays deleted.
    func remove(_ path: [String]) async throws(GoogleFailure) -> Outcome {
        if case .nothing = try await tree.firstKeys(at: path) { return .empty }
        var places = [path]
        var outcome = Outcome.gone
        try await walk.run { () throws(GoogleFailure) in
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
                guard place.count < Self.depthMax else { throw GoogleFailure(.unusable) }
                places.append(place + [large])
            // A single value that cannot be deleted, and a list of keys that cannot be read.
            case .value, .large: throw GoogleFailure(.unusable)
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
    /// - Throws: ``GoogleFailure``.
    private func remove(
        _ keys: [String],
        at place: [String],
        of path: [String]
    ) async throws(GoogleFailure) -> String? {
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

    /// What is left of a place, by the listing of all keys and by the first child; the purge asks
    /// for the first keys.
    ///
    /// - Returns: The number of its children, or one.
    /// - Throws: ``GoogleFailure``.
    func remaining(_ path: [String]) async throws(GoogleFailure) -> Int {
        let listed = Self.count(try await tree.keys(at: path))
        return listed > 0 ? listed : Self.count(try await tree.firstChild(at: path))
    }

    static func count(_ content: RealtimeTree.Content) -> Int {
        switch content {
        case .nothing: 0
        case .value, .large: 1
        case .keys(let keys): keys.count
        }
    }
}
