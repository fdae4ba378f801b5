package import Lifecycle
package import Settings

/// A kind of provider: its settings, its traits, and how its adapter is made.
package protocol ProviderKind: SectionKind {
    /// The formats of its vendor's notifications; a provider of any kind may use any format.
    static var notificationFormats: [any NotificationFormat.Type] { get }
    /// The format where `notifications` is not given; `nil`: off.
    static var usualFormat: (any NotificationFormat.Type)? { get }
    /// What directories call the vendor.
    static var directoryWord: String? { get }
    /// What the text of `client_ids` says about this kind.
    static var clientIDsNote: String? { get }

    /// Reads a section whose keys and values are known to be good.
    init(_ section: SettingsSection, _ problems: inout SectionProblems)

    /// What the state machine must know; needs no credential.
    var traits: ProviderTraits { get }

    /// - Throws: What keeps the provider from being set up, in one line.
    func make(_ setup: ProviderSetup) throws -> any ConnectedProvider
}

extension ProviderKind {
    package static var notificationFormats: [any NotificationFormat.Type] { [] }
    package static var usualFormat: (any NotificationFormat.Type)? { nil }
    package static var directoryWord: String? { nil }
    package static var clientIDsNote: String? { nil }
}

extension SectionProblems {
    /// Each client id of these vendors has a secret of its own: one section, one client.
    mutating func requireSingleClient(_ section: SettingsSection) {
        guard section.texts("client_ids").count > 1 else { return }
        report(
            .contradiction,
            "client_ids",
            "give each client id, which has a secret of its own, its own section"
        )
    }
}

extension SettingsSection {
    /// A base URL as adapters append paths to it.
    func baseURL(_ name: String) -> String? {
        text(name).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }
}

extension Setting {
    static func provider(
        _ name: String,
        _ type: SettingType,
        _ presence: Presence,
        _ documentation: () -> String
    ) -> Setting {
        Setting(.provider, name, type, presence, documentation())
    }

    static func providerURL(
        _ name: String,
        example: String,
        _ documentation: () -> String
    ) -> Setting {
        provider(name, .text(.url), .optional(example: .text(example)), documentation)
    }

    static func providerSecret(
        _ name: String,
        _ presence: Presence,
        _ documentation: () -> String
    ) -> Setting {
        provider(name, .text(.credential), presence, documentation).secret()
    }

    static func providerChoice<Choice: CaseIterable & RawRepresentable<String>>(
        _ name: String,
        defaultsTo choice: Choice,
        _ documentation: () -> String
    ) -> Setting {
        let names = Choice.allCases.map(\.rawValue)
        return provider(name, .choice(names), .defaultsTo(.text(choice.rawValue)), documentation)
    }
}
