/// How the sandbox plays GitHub.
package struct GitHubConfiguration: Sendable {
    /// What wrong client credentials answer; GitHub does not document it.
    package enum BadCredentials: String, CaseIterable, Sendable {
        /// 404, as if there were nothing to delete: the trap.
        case notFound = "not-found"
        case unauthorized
    }

    /// The applications that are registered at the start, one of each kind.
    package var clients: [ClientRegistration] = {
        let oauthApp = ClientRegistration("Ov23liSandboxOAuthApp", secret: "github-secret")
        var gitHubApp = ClientRegistration("Iv23liSandboxGitHub", secret: "github-app-secret")
        gitHubApp.kind = .gitHubApp
        return [oauthApp, gitHubApp]
    }()
    package var badCredentials = BadCredentials.notFound

    package init() {}
}
