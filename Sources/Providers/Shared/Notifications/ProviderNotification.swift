import Encoding
package import Lifecycle

/// One verified fact that a provider reports about one of its users.
///
/// Holds a subject, so every textual view is redacted.
package struct ProviderNotification: Sendable, CustomStringConvertible, CustomReflectable {
    package let meaning: NotificationMeaning
    /// The vendor's word for it, out of a closed list; `other` for every other one.
    package let event: String
    /// The provider's name for the user; `nil` when the notification names no user known here.
    package let subject: Secret?
    /// The clients that it is about; `nil` when it is about all of the provider's.
    package let clientIDs: Set<String>?
    /// When it happened, as the provider says, or when it arrived if the provider does not say.
    package let occurredAt: WallTime
    /// The same for every delivery of the same notification; may name the user.
    package let dedupeKey: Secret

    package var description: String { "\(event) [redacted]" }
    package var customMirror: Mirror { Mirror(self, children: ["event": event]) }
}

/// A notification that was verified: what it says, and how the provider wants it answered.
package struct VerifiedNotification: Sendable {
    /// Not empty.
    package let notifications: [ProviderNotification]
    package let acknowledgement: NotificationAcknowledgement
}

/// How a provider wants a notification answered that was taken.
package enum NotificationAcknowledgement: Hashable, Sendable {
    /// This status and no body.
    case status(Int)
    /// 200 with the address of a status page, which ends with the code, and the code
    /// (Meta, "Data Deletion Request Callback").
    case confirmation(statusURLPrefix: String)
}

/// What a provider sent to the application's web server, as it was handed on.
///
/// Holds a subject and sometimes a shared secret, so every textual view is redacted.
package struct IncomingNotification: Sendable, Redacted {
    /// The body, byte for byte: signatures cover it.
    package let body: [UInt8]
    /// Header fields by their names in lower case.
    package let fields: [String: String]
    package let receivedAt: WallTime

    package init(body: [UInt8], fields: [String: String] = [:], receivedAt: WallTime) {
        (self.body, self.fields, self.receivedAt) = (body, fields, receivedAt)
    }

    /// The type and subtype of `content-type`, in lower case (RFC 9110 §8.3.1).
    var contentType: String? {
        fields["content-type"].map { type in
            String(type.prefix { $0 != ";" && $0 != " " }).lowercased()
        }
    }
}
