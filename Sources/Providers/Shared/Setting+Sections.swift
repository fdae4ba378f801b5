import Settings

extension Setting {
    /// A key of `[[provider]]`, and what it does.
    static func provider(
        _ name: String,
        _ type: SettingType,
        _ presence: Presence,
        _ documentation: () -> String
    ) -> Setting {
        Setting(.provider, name, type, presence, documentation())
    }

    /// A key of `[[directory]]`, and what it does.
    static func directory(
        _ name: String,
        _ type: SettingType,
        _ presence: Presence,
        _ documentation: () -> String
    ) -> Setting {
        Setting(.directory, name, type, presence, documentation())
    }
}
