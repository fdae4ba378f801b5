package import Engine
package import Lifecycle

/// One notification of a provider, as it is kept: nothing in it names the user once it was acted
/// on.
package struct NotificationRecord: Hashable, Sendable {
    /// Keyed hash of what is the same for every delivery.
    package let keyHash: [UInt8]
    package let provider: ProviderName
    package let meaning: NotificationMeaning
    /// The vendor's word for it.
    package let event: String
    /// Keyed; `nil` when it names no user, and once the service has acted on it.
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

/// The columns of `notifications`.
enum NotificationColumn: Int32, Columns {
    case keyHash, provider, meaning, event, subjectHash, clientIDs, occurredAt, receivedAt, uid
    case role, code, effect, requestID

    static let selection = makeSelection()
    static let insertion =
        insertion(of: allCases, into: "notifications") + " ON CONFLICT DO NOTHING"
}

extension NotificationRecord {
    init(_ row: Row<NotificationColumn>) throws {
        self.init(
            keyHash: row.blob(.keyHash),
            provider: row.provider(.provider),
            meaning: try row.choice(.meaning, as: NotificationMeaning.self),
            event: row.text(.event),
            subjectHash: row.blobOrNil(.subjectHash),
            clientIDs: row.textOrNil(.clientIDs).map { text in
                Set(text.split(separator: "\n").map(String.init))
            },
            occurredAt: row.time(.occurredAt),
            receivedAt: row.time(.receivedAt),
            uid: row.uid(.uid),
            role: row.text(.role),
            code: row.textOrNil(.code)
        )
        effect = try row.choiceOrNil(.effect, as: NotificationEffect.self)
        requestID = row.isNull(.requestID) ? nil : try row.requestID(.requestID)
    }

    func value(_ column: NotificationColumn) -> SQLValue {
        switch column {
        case .keyHash: .blob(keyHash)
        case .provider: .text(provider.rawValue)
        case .meaning: .text(meaning.rawValue)
        case .event: .text(event)
        case .subjectHash: .blob(subjectHash)
        case .clientIDs: .text(clientIDs.map { $0.sorted().joined(separator: "\n") })
        case .occurredAt: .time(occurredAt)
        case .receivedAt: .time(receivedAt)
        case .uid: .uid(uid)
        case .role: .text(role)
        case .code: .text(code)
        case .effect: .text(effect?.rawValue)
        case .requestID: .id(requestID)
        }
    }
}

/// What is known about the subject of a notification.
package enum NotificationFinding: Hashable, Sendable {
    /// Nobody has this subject.
    case unknown
    /// The user is gone, or was cut off by us; `raised` verdicts of the request became `proven`.
    case echo(RequestID, raised: Int)
    /// Several users have it.
    case shared
    /// What is stored is newer than the notification.
    case stale
    case user(NotifiedUser)
}

/// The user whom a notification is about.
package struct NotifiedUser: Hashable, Sendable {
    package let userHash: [UInt8]
    package let userKey: WrappedKey
    package let userID: SealedUserID
    /// What open requests must know.
    package let update: [IdentityUpdate]
    /// Verdicts of requests that are past revoking which rose to `proven`.
    package let raised: Int
    package let openDeletion: RequestID?
}
