/// The facts that a journal entry may carry: our metadata name and the journal's field name.
///
/// The list is closed. Metadata of any other name is left out, so that a library's habits cannot
/// put a user id or a token into the journal.
package enum JournalField: String, Sendable, CaseIterable {
    case requestID = "request.id"
    case provider
    case target
    case step
    case state
    case verdict
    case attempt
    case count
    case durationMilliseconds = "duration_ms"
    case peerUID = "peer.uid"
    case error
    case detail

    /// The key of the metadata that names a ``Lifecycle/JournalEvent`` by its raw value.
    package static let eventKey = "event"

    /// The field's name in the journal, as in `journalctl EXPUNGED_REQUEST_ID=…`.
    package var journalName: String {
        switch self {
        case .requestID: "EXPUNGED_REQUEST_ID"
        case .provider: "EXPUNGED_PROVIDER"
        case .target: "EXPUNGED_TARGET"
        case .step: "EXPUNGED_STEP"
        case .state: "EXPUNGED_STATE"
        case .verdict: "EXPUNGED_VERDICT"
        case .attempt: "EXPUNGED_ATTEMPT"
        case .count: "EXPUNGED_COUNT"
        case .durationMilliseconds: "EXPUNGED_DURATION_MS"
        case .peerUID: "EXPUNGED_PEER_UID"
        case .error: "EXPUNGED_ERROR"
        case .detail: "EXPUNGED_DETAIL"
        }
    }
}
