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

    /// A key of `[[provider]]` that may have an address.
    static func providerURL(
        _ name: String,
        example: String,
        _ documentation: () -> String
    ) -> Setting {
        provider(name, .text(.url), .optional(example: .text(example)), documentation)
    }

    /// A key of `[[provider]]` that names a credential.
    static func providerSecret(
        _ name: String,
        _ presence: Presence,
        _ documentation: () -> String
    ) -> Setting {
        provider(name, .text(.credential), presence, documentation).secret()
    }

    /// A key of `[[provider]]` with one of a few words.
    static func providerChoice<Choice: CaseIterable & RawRepresentable<String>>(
        _ name: String,
        defaultsTo choice: Choice,
        _ documentation: () -> String
    ) -> Setting {
        let names = Choice.allCases.map(\.rawValue)
        return provider(name, .choice(names), .defaultsTo(.text(choice.rawValue)), documentation)
    }
}
