extension ConfigurationReader {
    /// What only `kind = "facebook"` has.
    mutating func facebook(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> FacebookProviderConfiguration {
        checkSingleClient(section, at: place)
        return FacebookProviderConfiguration(
            clientSecretCredential: section.text("client_secret_credential") ?? "",
            graphVersion: section.text("graph_version") ?? "",
            baseURL: Self.withoutSlash(section.text("base_url") ?? ""),
            limitedURL: Self.withoutSlash(section.text("limited_login_url") ?? ""),
            uninstallURL: Self.withoutSlash(section.text("uninstall_url") ?? "")
        )
    }
}
