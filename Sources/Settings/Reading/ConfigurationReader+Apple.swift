extension ConfigurationReader {
    /// What only `kind = "apple"` has.
    func apple(_ section: SettingsSection) -> AppleProviderConfiguration {
        AppleProviderConfiguration(
            teamID: section.text("team_id") ?? "",
            keyID: section.text("key_id") ?? "",
            privateKeyCredential: section.text("private_key_credential") ?? "",
            baseURL: Self.withoutSlash(section.text("base_url") ?? "")
        )
    }
}
