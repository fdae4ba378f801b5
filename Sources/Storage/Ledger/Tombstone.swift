package import Lifecycle

/// An erased user, as far as is known afterwards.
package struct Tombstone: Hashable, Sendable {
    package let userHash: [UInt8]
    package let generation: Int
    package let erasedAt: WallTime
    package let request: RequestID

    package init(userHash: [UInt8], generation: Int, erasedAt: WallTime, request: RequestID) {
        self.userHash = userHash
        self.generation = generation
        self.erasedAt = erasedAt
        self.request = request
    }
}
