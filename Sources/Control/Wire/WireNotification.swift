package import Lifecycle

/// What the web server answers the provider, and what the notification did.
package struct WireNotification: WireObject, Codable, Hashable {
    package var status: Int
    package var contentType: String?
    package var body: String
    package var effect: WireValue<NotificationEffect>
    package var reason: String?
    package var requestID: RequestID?

    package init(
        status: Int,
        contentType: String? = nil,
        body: String = "",
        effect: NotificationEffect,
        reason: String? = nil,
        requestID: RequestID? = nil
    ) {
        (self.status, self.contentType, self.body) = (status, contentType, body)
        (self.effect, self.reason, self.requestID) = (.known(effect), reason, requestID)
    }

    package static let fields: [WireField] = [
        .required("status", .integer, "The status to answer the provider with."),
        .optional("content_type", .text, "The type of the body; left out when there is none."),
        .required("body", .text, "The body to answer the provider with; may be empty."),
        .required("effect", .choice(of: NotificationEffect.self), "What the notification did."),
        .optional("reason", .text, "Why it was refused, as a code."),
        .optional("request_id", .uuid, "The request that it made, joined or closed."),
    ]
}
