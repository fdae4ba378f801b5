package import Engine
package import Lifecycle

/// One notification of a provider; nothing in it names the user once the service has acted on it.
package struct NotificationRecord: Hashable, Sendable {
    /// Of what is the same for every delivery.
    package let keyHash: [UInt8]
    package let provider: ProviderName
    package let meaning: NotificationMeaning
    /// As the provider names it.
    package let event: String
    /// `nil` when it names no user, and once the service has acted on it.
    package let subjectHash: [UInt8]?
    /// `nil` when it is about all clients.
    package let clientIDs: Set<String>?
    package let occurredAt: WallTime
    package let receivedAt: WallTime
    /// Of the program that delivered it.
    package let uid: UInt32
    package let role: String
    /// Of the status page.
    package let code: String?
    /// `nil` until the service has acted on it.
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
        (self.keyHash, self.provider, self.meaning) = (keyHash, provider, meaning)
        (self.event, self.subjectHash, self.clientIDs) = (event, subjectHash, clientIDs)
        (self.occurredAt, self.receivedAt, self.uid) = (occurredAt, receivedAt, uid)
        (self.role, self.code) = (role, code)
    }
}

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
        requestID = try row.requestIDOrNil(.requestID)
    }

    var row: [SQLValue] {
        NotificationColumn.row([
            .keyHash: .blob(keyHash), .provider: .text(provider.rawValue),
            .meaning: .text(meaning.rawValue), .event: .text(event),
            .subjectHash: .blob(subjectHash),
            .clientIDs: .text(clientIDs.map { $0.sorted().joined(separator: "\n") }),
            .occurredAt: .time(occurredAt), .receivedAt: .time(receivedAt), .uid: .uid(uid),
            .role: .text(role), .code: .text(code), .effect: .text(effect?.rawValue),
            .requestID: .id(requestID),
        ])
    }
}

/// What is known about the subject of a notification.
package enum NotificationFinding: Hashable, Sendable {
    case unknown
    /// The service itself erased the user or cut the link; `raised` verdicts became `proven`.
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
    package let update: [IdentityUpdate]
    /// Verdicts of requests past revoking that became `proven`.
    package let raised: Int
    package let openDeletion: RequestID?
    /// ``Lifecycle/NotificationDecision/User/isOtherAccount``.
    package let isOtherAccount: Bool
}
