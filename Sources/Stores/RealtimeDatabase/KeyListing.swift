import Encoding
import HTTP
import NIOCore
import Synchronization

/// Reads the answer to a shallow read as it comes: a place may have more keys than fit in memory.
final class KeyListing: Sendable {
    private struct State {
        var pieces = JSONPieces()
        /// Elements of the pieces before.
        var elementCount = 0
        var isUnusable = false
    }

    private let state = Mutex(State())
    private let body: @Sendable (String) -> Void

    /// - Parameter body: Gets the keys; it must not take long.
    init(_ body: @escaping @Sendable (String) -> Void) { self.body = body }

    /// Takes what came next.
    func take(_ part: ByteBufferView) {
        read { pieces throws(JSONPieces.Malformed) in try pieces.take(part) }
    }

    /// Ends it.
    ///
    /// - Returns: Whether all was as it is documented; otherwise there may be more keys than were
    ///   given.
    func finish() -> Bool {
        read { pieces throws(JSONPieces.Malformed) in try pieces.finish() }
        return state.withLock { !$0.isUnusable }
    }

    private func read(_ next: (inout JSONPieces) throws(JSONPieces.Malformed) -> JSONValue?) {
        state.withLock { state in
            guard !state.isUnusable else { return }
            do {
                guard let piece = try next(&state.pieces) else { return }
                state.isUnusable = !pass(piece, &state.elementCount)
            } catch {
                state.isUnusable = true
            }
        }
    }

    private func pass(_ piece: JSONValue, _ elementCount: inout Int) -> Bool {
        let content = RealtimeTree.Content(piece, from: elementCount)
        switch content {
        case nil: return false
        case .keys(let keys)?: keys.forEach(body)
        case .nothing?, .value?, .large?: break
        }
        elementCount += piece.array?.count ?? 0
        return true
    }
}
