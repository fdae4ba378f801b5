extension ConfigurationReader {
    /// What only `kind = "github"` has.
    mutating func gitHub(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> GitHubProviderConfiguration {
        checkSingleClient(section, at: place)
        return GitHubProviderConfiguration(
            clientSecretCredential: section.text("client_secret_credential") ?? "",
            baseURL: Self.withoutSlash(section.text("base_url") ?? ""),
            loginURL: Self.withoutSlash(section.text("login_url") ?? "")
        )
    }
}
