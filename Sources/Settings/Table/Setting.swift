/// One row of the table of settings: everything there is to say about one key.
///
/// The reader, `Config/expunged.toml`, expunged.conf(5) and the effective configuration all come
/// from it or are compared with it.
package struct Setting: Hashable, Sendable {
    /// Whether a key must be given, may be left out, or has a default.
    package enum Presence: Hashable, Sendable {
        case required(example: SettingValue)
        case optional(example: SettingValue)
        case defaultsTo(SettingValue)
    }

    /// When a changed value takes effect.
    package enum TakesEffect: String, Sendable, CaseIterable {
        case reload
        case restart
    }

    package let scope: SettingScope
    /// The key within its section.
    package let name: String
    package let type: SettingType
    package let presence: Presence
    /// What the key does, in sentences for the example file and the man page.
    package let documentation: String
    /// The value of `kind` that knows the key; `nil` when every kind does.
    package private(set) var kind: String?
    /// Whether the value is never shown in a message: operators paste secrets into such keys.
    package private(set) var isSecret = false
    /// Whether a change of the value leaves what a deletion does as it is, so that an approved plan
    /// stays approved.
    package private(set) var isOutsidePlans = false
    package private(set) var takesEffect = TakesEffect.reload
    /// The version of expunged that brought the key.
    package private(set) var since = "0.1.0"

    package init(
        _ scope: SettingScope,
        _ name: String,
        _ type: SettingType,
        _ presence: Presence,
        _ documentation: String
    ) {
        self.scope = scope
        self.name = name
        self.type = type
        self.presence = presence
        self.documentation = documentation
    }

    /// The full key, such as `provider.team_id`.
    package var key: String { "\(scope.rawValue).\(name)" }

    /// The value of a file that does not have the key.
    package var defaultValue: SettingValue? {
        guard case .defaultsTo(let value) = presence else { return nil }
        return value
    }

    /// A value that the reader accepts: the default where there is one.
    package var sample: SettingValue {
        switch presence {
        case .required(let example), .optional(let example): example
        case .defaultsTo(let value): value
        }
    }

    /// A key of one kind of section only.
    package func only(_ kind: String) -> Setting {
        var copy = self
        copy.kind = kind
        return copy
    }

    /// A key whose value no plan contains.
    package func outsidePlans() -> Setting {
        var copy = self
        copy.isOutsidePlans = true
        return copy
    }

    /// A key whose value no message shows.
    package func secret() -> Setting {
        var copy = self
        copy.isSecret = true
        return copy
    }

    /// A key that a reload does not apply.
    package func atRestart() -> Setting {
        var copy = self
        copy.takesEffect = .restart
        return copy
    }
}
