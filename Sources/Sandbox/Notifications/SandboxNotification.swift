/// What a provider would send to the application's server, ready to be posted.
package struct SandboxNotification: Codable, Equatable, Sendable {
    /// The headers that matter, `content-type` among them.
    package let headers: [String: String]
    package let body: String

    init(contentType: String, headers: [String: String] = [:], body: String) {
        self.headers = headers.merging(["content-type": contentType]) { first, _ in first }
        self.body = body
    }
}
