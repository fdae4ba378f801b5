/// The facts that a journal entry may carry.
///
/// The list is closed: other metadata of a library could hold a user id or a token.
package enum JournalField: String, Sendable, CaseIterable {
    case requestID = "request.id"
    case provider
    case target
    case subscriber
    case step
    case state
    case verdict
    case attempt
    case count
    case durationMilliseconds = "duration_ms"
    case peerUID = "peer.uid"
    case error
    case detail

    /// Its metadata names a ``Lifecycle/JournalEvent``.
    package static let eventKey = "event"

    /// As in `journalctl EXPUNGED_REQUEST_ID=…`.
    package var journalName: String {
        "EXPUNGED_" + rawValue.replacing(".", with: "_").uppercased()
    }
}
