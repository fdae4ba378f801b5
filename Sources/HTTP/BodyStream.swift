package import NIOCore

/// Takes the body of a success as it comes, where all of it at once would be too much.
package struct BodyStream: Sendable {
    /// Bytes of the body; a longer one ends the call.
    package let max: Int
    /// Gets the parts in order; nothing else of the client goes on meanwhile.
    package let take: @Sendable (ByteBufferView) -> Void

    package init(max: Int, take: @escaping @Sendable (ByteBufferView) -> Void) {
        (self.max, self.take) = (max, take)
    }
}
