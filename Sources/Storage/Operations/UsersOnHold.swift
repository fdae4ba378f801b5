import Lifecycle

/// Users whose data is to stay, and what is known of them.
package struct UsersOnHold: Sendable {
    let hashes: Set<[UInt8]>
    let requests: Set<RequestID>

    /// Whether what a tombstone is about belongs to one of them.
    package func includes(_ tombstone: Tombstone) -> Bool {
        requests.contains(tombstone.request)
            || (!tombstone.isKey && hashes.contains(tombstone.hash))
    }
}
