import Encoding
package import Lifecycle

/// A message as it is stored: what it says, and how its delivery goes.
package struct MessageRecord: Hashable, Sendable {
    package let message: OutgoingMessage
    package let subscriber: SubscriberName
    /// Of the next attempt; `nil` after the last one.
    package let dueAt: WallTime?
    /// When it was queued, or queued again.
    package let begunAt: WallTime
    package let attempts: Int
    package let attemptedAt: WallTime?
    /// Of the last answer.
    package let status: Int?
    package let lastFailure: String?
    package let isDelivered: Bool
}

enum MessageColumn: Int32, Columns {
    case sequence, nonce, subscriber, topic, kind, subject, detail, requestID, occurredAt, dueAt
    case begunAt, attempts, attemptedAt, status, lastFailure, isDelivered

    static let selection = makeSelection()

    /// What a new message says; the rest begins with its default.
    static let queued: [MessageColumn] = [
        .subscriber, .topic, .kind, .subject, .detail, .requestID, .occurredAt, .dueAt, .begunAt,
    ]

    /// A query that has a value for each of them follows.
    static let queue = "INSERT INTO messages (\(names(of: queued)))"
}

enum SubscriberColumn: Int32, Columns {
    case name, wantsRequests, wantsAlarms

    static let replacement =
        insertion(of: allCases, into: "subscribers") + """
             ON CONFLICT (name) DO UPDATE SET wants_requests = excluded.wants_requests,
              wants_alarms = excluded.wants_alarms
            """
}

extension MessageRecord {
    init(_ row: Row<MessageColumn>) throws {
        let nonce = Hexadecimal.text(row.blob(.nonce))
        message = OutgoingMessage(
            id: MessageID(sequence: row.int64(.sequence), nonce: nonce),
            topic: try row.choice(.topic, as: MessageTopic.self),
            kind: row.text(.kind),
            subject: row.text(.subject),
            detail: row.textOrNil(.detail),
            request: try row.requestIDOrNil(.requestID),
            occurredAt: row.time(.occurredAt)
        )
        subscriber = SubscriberName(row.text(.subscriber))
        dueAt = row.timeOrNil(.dueAt)
        begunAt = row.time(.begunAt)
        attempts = row.int(.attempts)
        attemptedAt = row.timeOrNil(.attemptedAt)
        status = row.intOrNil(.status)
        lastFailure = row.textOrNil(.lastFailure)
        isDelivered = row.bool(.isDelivered)
    }
}

/// A subscriber as the configuration has it.
package struct SubscriberWish: Hashable, Sendable {
    package let name: SubscriberName
    package let wantsRequests: Bool
    package let wantsAlarms: Bool

    package init(_ name: SubscriberName, requests: Bool, alarms: Bool) {
        self.name = name
        wantsRequests = requests
        wantsAlarms = alarms
    }
}

/// The queue of one subscriber.
package struct SubscriberQueue: Hashable, Sendable {
    package let name: SubscriberName
    package let waiting: Int
    package let dropped: Int
    /// When the next attempt is due; `nil` when nothing waits.
    package let nextAt: WallTime?
}

/// An alarm for all who want alarms.
package struct AlarmMessage: Hashable, Sendable {
    package let event: String
    package let severity: String
    package let text: String
    package let request: RequestID?
    package let at: WallTime
    /// Who does not get it: whose own messages fail.
    package var exempt: SubscriberName?

    package init(
        event: String,
        severity: String,
        text: String,
        request: RequestID?,
        at: WallTime
    ) {
        (self.event, self.severity, self.text, self.request) = (event, severity, text, request)
        self.at = at
    }
}
