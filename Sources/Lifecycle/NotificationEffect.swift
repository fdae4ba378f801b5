/// What a provider's notification did; `rawValue` is the `effect` on the wire.
package enum NotificationEffect: String, Sendable, CaseIterable {
    /// A `delete_account` was made for the user.
    case deletionRequested = "deletion_requested"
    /// A `delete_account` of the user was open already.
    case deletionOpen = "deletion_open"
    /// The identity is known to be cut off; open requests take that as evidence.
    case linkUpdated = "link_updated"
    /// It says that the link is cut, but not when: no evidence, so the tokens are tried.
    case hinted
    /// It tells of what we did ourselves; a verdict may have risen to `proven`.
    case echo
    /// The policy is to report, or there is no user id to act on: somebody should look.
    case reported
    /// Nobody here has this subject.
    case unknownSubject = "unknown_subject"
    /// Several users have this subject; it is not known whom it is about.
    case sharedIdentity = "shared_identity"
    /// It is older than what is stored, or too old to be acted on.
    case stale
    /// It asks for nothing.
    case noted
    /// Durable, and acted on as soon as the intake is open and the vault has its key.
    case postponed
    /// It was not believed.
    case refused
}
