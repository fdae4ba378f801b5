/// How the sandbox plays Google.
package struct GoogleConfiguration: Sendable {
    /// The clients that are registered at the start; they share a project.
    package var clients: [ClientRegistration] = {
        var web = ClientRegistration(
            "1234567890-web.apps.googleusercontent.com",
            secret: "google-secret"
        )
        var ios = ClientRegistration("1234567890-ios.apps.googleusercontent.com")
        web.project = "example-project"
        ios.project = "example-project"
        return [web, ios]
    }()

    package init() {}
}
