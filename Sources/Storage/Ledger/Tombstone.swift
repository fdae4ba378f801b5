package import Lifecycle

/// An erased user, as far as is known afterwards.
package struct Tombstone: Hashable, Sendable {
    package let userHash: [UInt8]
    package let generation: Int
    package let erasedAt: WallTime
    package let request: RequestID
    /// Only rows not newer than this are meant; ``erasedAt`` where the request's own is not known.
    package let fence: WallTime

    package init(
        userHash: [UInt8],
        generation: Int,
        erasedAt: WallTime,
        request: RequestID,
        fence: WallTime? = nil
    ) {
        self.userHash = userHash
        self.generation = generation
        self.erasedAt = erasedAt
        self.request = request
        self.fence = fence ?? erasedAt
    }
}
