extension ConfigurationReader {
    /// What only `kind = "command"` has.
    func command(_ section: SettingsSection) -> CommandProviderConfiguration {
        CommandProviderConfiguration(
            program: section.text("program") ?? "",
            arguments: section.texts("arguments"),
            canCheck: section.flag("can_check"),
            revokesWholeGrant: section.flag("revokes_whole_grant"),
            userActionURL: section.text("user_action_url") ?? "",
            userActionText: section.text("user_action_text") ?? ""
        )
    }
}
