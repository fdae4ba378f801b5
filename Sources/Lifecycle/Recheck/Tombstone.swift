/// An erased user, or an id by which a store knew one, as far as is known afterwards.
package struct Tombstone: Hashable, Sendable {
    /// Keyed, of the user id or of the other id with its name.
    package let hash: [UInt8]
    /// Of the user's account; 0 for an id of a store.
    package let generation: Int
    package let erasedAt: WallTime
    package let request: RequestID
    /// Only rows not newer than this are meant; ``erasedAt`` where the request's own is not known.
    package let cutoff: WallTime
    package let isKey: Bool

    package init(
        hash: [UInt8],
        generation: Int = 0,
        erasedAt: WallTime,
        request: RequestID,
        cutoff: WallTime? = nil,
        isKey: Bool = false
    ) {
        (self.hash, self.generation) = (hash, generation)
        (self.erasedAt, self.request) = (erasedAt, request)
        self.cutoff = min(cutoff ?? erasedAt, erasedAt)
        self.isKey = isKey
    }
}
