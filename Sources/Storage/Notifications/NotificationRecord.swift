package import Engine
package import Lifecycle

/// One notice of a provider, as it is kept: nothing in it names the user once it was acted on.
package struct NotificationRecord: Hashable, Sendable {
    /// Keyed hash of what is the same for every delivery.
    package let keyHash: [UInt8]
    package let provider: ProviderName
    package let meaning: NotificationMeaning
    /// The vendor's word for it.
    package let event: String
    /// Keyed; `nil` when it names nobody, and once it was acted on.
    package let subjectHash: [UInt8]?
    /// The clients that it is about; `nil` when it is about all.
    package let clientIDs: Set<String>?
    package let occurredAt: WallTime
    package let receivedAt: WallTime
    /// Who handed it on.
    package let uid: UInt32
    package let role: String
    /// What the status page is asked for.
    package let code: String?
    /// `nil` while it waits to be acted on.
    package var effect: NotificationEffect?
    package var requestID: RequestID?

    package init(
        keyHash: [UInt8],
        provider: ProviderName,
        meaning: NotificationMeaning,
        event: String,
        subjectHash: [UInt8]?,
        clientIDs: Set<String>?,
        occurredAt: WallTime,
        receivedAt: WallTime,
        uid: UInt32,
        role: String,
        code: String?
    ) {
        self.keyHash = keyHash
        self.provider = provider
        self.meaning = meaning
        self.event = event
        self.subjectHash = subjectHash
        self.clientIDs = clientIDs
        self.occurredAt = occurredAt
        self.receivedAt = receivedAt
        self.uid = uid
        self.role = role
        self.code = code
    }
}

/// What is known about the subject of a notice.
package enum NotificationFinding: Hashable, Sendable {
    /// Nobody has this subject.
    case unknown
    /// The user is gone, or was cut off by us; `raised` verdicts of the request became `proven`.
    case echo(RequestID, raised: Int)
    /// Several users have it.
    case shared
    /// What is stored is newer than the notice.
    case stale
    case user(NotifiedUser)
}

/// The user whom a notice is about.
package struct NotifiedUser: Hashable, Sendable {
    package let userHash: [UInt8]
    package let userKey: WrappedKey
    package let userID: SealedUserID
    /// What open requests are to be told.
    package let update: [IdentityUpdate]
    /// Verdicts of requests that are past revoking which rose to `proven`.
    package let raised: Int
    package let openDeletion: RequestID?
}
