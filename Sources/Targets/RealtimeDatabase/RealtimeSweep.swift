import Lifecycle

/// Removes what a database has of one user, piece by piece where it is a lot.
struct RealtimeSweep {
    /// The deepest place (firebase.google.com/docs/database/usage/limits, "Data tree").
    static let depthMax = 32

    let tree: RealtimeTree
    let walk: PageWalk

    /// Deletes a place.
    ///
    /// What is too much for one write goes child by child, many of them at once: the keys come by
    /// shallow reads, and a write that is refused is halved.
    ///
    /// - Returns: Whether there was anything.
    /// - Throws: ``GoogleFailure``; what was deleted until then stays deleted.
    func remove(_ path: [String]) async throws(GoogleFailure) -> Bool {
        if case .nothing = try await tree.firstKeys(at: path) { return false }
        var places = [path]
        try await walk.run { () throws(GoogleFailure) in
            guard let place = places.last else { return false }
            if try await tree.delete(place) {
                places.removeLast()
                return true
            }
            switch try await tree.firstKeys(at: place) {
            case .nothing: places.removeLast()
            case .keys(let keys):
                guard let large = try await remove(keys, at: place) else { return true }
                guard place.count < Self.depthMax else { throw GoogleFailure(.unusable) }
                places.append(place + [large])
            // A single value that cannot be deleted, and a list of keys that cannot be read.
            case .value, .large: throw GoogleFailure(.unusable)
            }
            return true
        }
        return true
    }

    /// Deletes children.
    ///
    /// - Returns: The first one that is too much by itself; `nil` when all are gone.
    /// - Throws: ``GoogleFailure``.
    private func remove(
        _ keys: [String],
        at place: [String]
    ) async throws(GoogleFailure) -> String? {
        var chunks = [keys[...]]
        while let chunk = chunks.popLast() {
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
