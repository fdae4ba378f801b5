package import Engine
package import Lifecycle

/// One notice of a provider, as it is kept: nothing in it names the user once it was acted on.
package struct NoticeRecord: Hashable, Sendable {
    /// Keyed hash of what is the same for every delivery.
    package let keyHash: [UInt8]
    package let provider: ProviderName
    package let meaning: NoticeMeaning
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
    package var effect: NoticeEffect?
    package var requestID: RequestID?

    package init(
        keyHash: [UInt8],
        provider: ProviderName,
        meaning: NoticeMeaning,
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
package enum NoticeFinding: Hashable, Sendable {
    /// Nobody has this subject.
    case unknown
    /// The user is gone, or was cut off by us; `raised` verdicts of the request became `proven`.
    case echo(RequestID, raised: Int)
    /// Several users have it.
    case shared
    /// What is stored is newer than the notice.
    case stale
    case user(NoticedUser)
}

/// The user whom a notice is about.
package struct NoticedUser: Hashable, Sendable {
    package let userHash: [UInt8]
    package let userKey: WrappedKey
    /// `nil` for a user that was stored by a version without it.
    package let userID: SealedUserID?
    /// What open requests are to be told.
    package let news: [IdentityNews]
    /// Verdicts of requests that are past revoking which rose to `proven`.
    package let raised: Int
    package let openDeletion: RequestID?
}
