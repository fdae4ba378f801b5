/// What the web server answers the provider, word for word.
package struct NotificationAnswer: Hashable, Sendable {
    package let status: Int
    /// `nil` when there is no body.
    package let contentType: String?
    package let body: String

    package init(status: Int, contentType: String? = nil, body: String = "") {
        (self.status, self.contentType, self.body) = (status, contentType, body)
    }
}
