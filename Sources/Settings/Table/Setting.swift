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

/// What a key accepts.
package enum SettingType: Hashable, Sendable {
    case text(TextRule)
    /// Without repetition; the range counts entries.
    case texts(TextRule, ClosedRange<Int>)
    /// By name.
    case map(TextRule, TextRule, ClosedRange<Int>)
    case choice([String])
    case duration(ClosedRange<Duration>)
    case count(ClosedRange<Int>, unit: String)
    case boolean
    case constant
    /// A list of whole numbers; the second range counts them.
    case numbers(ClosedRange<Int>, ClosedRange<Int>)
    /// A value that is sent as JSON, written in TOML.
    case json

    /// For messages.
    package var range: String {
        switch self {
        case .text(let rule): rule.requirement
        case .texts(let rule, let count):
            "\(Self.entries(count)), each \(rule.requirement)"
        case .map(let name, let value, let count):
            "\(Self.entries(count)), each name \(name.requirement), each value \(value.requirement)"
        case .choice(let names): Self.alternatives(names)
        case .duration(let range):
            "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        case .count(let range, let unit): "\(range.lowerBound) to \(range.upperBound) \(unit)"
        case .boolean: "true or false"
        case .constant: "a text of at most 1024 characters or a whole number"
        case .numbers(let range, let count):
            "\(Self.entries(count)), each \(range.lowerBound) to \(range.upperBound)"
        case .json: "texts, whole numbers, true or false, in lists and tables"
        }
    }

    package var isURL: Bool {
        switch self {
        case .text(.url), .text(.origin): true
        default: false
        }
    }

    static func entries(_ count: ClosedRange<Int>) -> String {
        "\(count.lowerBound) to \(count.upperBound) entries"
    }

    private static func alternatives(_ names: [String]) -> String {
        let quoted = names.map { "\"\($0)\"" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.joined() }
        return quoted.dropLast().joined(separator: ", ") + " or \(last)"
    }
}

extension Setting {
    /// The name, the type, whether it must be given, and the documentation.
    package typealias Row = (
        name: String, type: SettingType, presence: Presence, documentation: String
    )

    package static func keys(
        _ scope: SettingScope,
        isOutsidePlans: Bool = false,
        _ rows: Row...
    ) -> [Setting] {
        rows.map { row in
            let key = Setting(scope, row.name, row.type, row.presence, row.documentation)
            return isOutsidePlans ? key.outsidePlans() : key
        }
    }
}

/// Keys of several sections, each with one text.
extension Setting {
    /// `ca_file`; the example is an absolute path.
    package static func caFile(_ scope: SettingScope, example: String) -> Setting {
        Setting(
            scope,
            "ca_file",
            .text(.path),
            .optional(example: .text(example)),
            "PEM file of the authorities to trust instead of the system's."
        )
    }

    package static func privateAddresses(_ scope: SettingScope) -> Setting {
        Setting(
            scope,
            "allow_private_addresses",
            .boolean,
            .defaultsTo(.boolean(false)),
            "Allow a private, link-local or loopback address."
        )
    }

    package static func plainHTTP(_ scope: SettingScope) -> Setting {
        Setting(
            scope,
            "allow_plain_http",
            .boolean,
            .defaultsTo(.boolean(false)),
            "Allow http for this machine (127.0.0.0/8, ::1, localhost), for tests."
        )
    }

    /// `secret_credential`, the key of Standard Webhooks; the example is a credential.
    package static func messageKey(_ scope: SettingScope, example: String) -> Setting {
        Setting(
            scope,
            "secret_credential",
            .text(.credential),
            .required(example: .text(example)),
            """
            Key that signs each message (Standard Webhooks): 24 to 64 random bytes in base64, with \
            or without whsec_.
            """
        )
    }

    package static func programArguments(_ scope: SettingScope) -> Setting {
        Setting(
            scope,
            "arguments",
            .texts(.sentence, 0...16),
            .defaultsTo(.texts([])),
            "Arguments for every call; no secrets: other processes can read them."
        )
    }
}
