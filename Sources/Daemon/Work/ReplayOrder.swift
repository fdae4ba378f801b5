import Engine
import Storage

/// A user to erase again, or an id by which a store knew one.
struct ReplayOrder: Sendable {
    var purge: PurgeOrder
    let tombstone: Tombstone
}
