/// One row of the table of settings.
package struct Setting: Hashable, Sendable {
    /// Whether a key must be given.
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
    package let name: String
    package let type: SettingType
    package let presence: Presence
    package let documentation: String
    /// `nil` when every kind has the key.
    package private(set) var kind: String?
    /// Operators paste secrets into such keys: no message shows the value.
    package private(set) var isSecret = false
    /// An approved plan stays approved when the value changes.
    package private(set) var isOutsidePlans = false
    package private(set) var takesEffect = TakesEffect.reload

    package init(
        _ scope: SettingScope,
        _ name: String,
        _ type: SettingType,
        _ presence: Presence,
        _ documentation: String
    ) {
        (self.scope, self.name, self.type) = (scope, name, type)
        (self.presence, self.documentation) = (presence, documentation)
    }

    package var key: String { "\(scope.rawValue).\(name)" }

    package var defaultValue: SettingValue? {
        if case .defaultsTo(let value) = presence { value } else { nil }
    }

    /// A value that the reader accepts.
    package var sample: SettingValue {
        switch presence {
        case .required(let example), .optional(let example): example
        case .defaultsTo(let value): value
        }
    }

    package func only(_ kind: String) -> Setting { with(\.kind, kind) }

    package func outsidePlans() -> Setting { with(\.isOutsidePlans, true) }

    package func secret() -> Setting { with(\.isSecret, true) }

    package func atRestart() -> Setting { with(\.takesEffect, .restart) }

    private func with<Value>(
        _ property: WritableKeyPath<Setting, Value>,
        _ value: Value
    ) -> Setting {
        var copy = self
        copy[keyPath: property] = value
        return copy
    }
}
