package import Engine
package import HTTP
package import Lifecycle
package import Settings

/// The `[[directory]]` section.
package struct DirectoryConfiguration: Sendable {
    package let name: ProviderName
    package let kind: any DirectoryKind
    /// The directory's word for a provider, and the provider's configured name.
    package let providers: [String: ProviderName]
    package let concurrency: Int
}

extension DirectoryConfiguration {
    package var kindName: String { type(of: kind).name }

    /// Reads a section whose keys and values are known to be good; `nil` without a known kind.
    init?(
        _ section: SettingsSection,
        providers: [ProviderConfiguration],
        _ problems: inout SectionProblems
    ) {
        name = ProviderName(section.requiredText("name"))
        let known = providers.map(\.name)
        if known.contains(name) {
            problems.report(
                .duplicate,
                "name",
                value: name.rawValue,
                "a provider has the same name; both have a lane of calls under it"
            )
        }
        let words = section.map("providers").mapValues { ProviderName($0) }
        for (_, provider) in words.sorted(by: { $0.key < $1.key }) where !known.contains(provider) {
            problems.report(
                .unknownValue,
                "providers",
                value: provider.rawValue,
                "there is no [[provider]] of that name"
            )
        }
        guard let kind = section.kind as? any DirectoryKind.Type else { return nil }
        self.kind = kind.init(section, &problems)
        self.providers = Self.words(of: providers).merging(words) { $1 }
        concurrency = section.count("concurrency") ?? 1
    }

    /// The words of kinds of which there is exactly one provider.
    private static func words(of providers: [ProviderConfiguration]) -> [String: ProviderName] {
        let named = providers.compactMap { provider in
            type(of: provider.kind).directoryWord.map { (word: $0, name: provider.name) }
        }
        return Dictionary(grouping: named, by: \.word).filter { $0.value.count == 1 }
            .mapValues { $0[0].name }
    }
}

extension DirectoryConfiguration {
    package static func settings(
        _ kinds: [any DirectoryKind.Type],
        providers: [any ProviderKind.Type]
    ) -> [Setting] {
        .of(.directory, kinds, common: common(kinds, providers.compactMap { $0.directoryWord }))
    }

    private static func common(
        _ kinds: [any DirectoryKind.Type],
        _ words: [String]
    ) -> [Setting] {
        let names = kinds.map { $0.name }
        return Setting.keys(
            .directory,
            (
                "name", .text(.name), .required(example: .text(names.first ?? "")),
                "Name in the journal and metrics, and among the providers."
            ),
            (
                "kind", .choice(names), .required(example: .text(names.first ?? "")),
                SettingsTable.summaries(of: kinds)
            ),
            (
                "providers", .map(.clientID, .name, 1...64),
                .optional(example: .map(["oidc.sso": "sso"])),
                """
                Your provider for each provider id of the directory. Not needed for \
                \(words.dropLast().joined(separator: ", ")) and \(words.last ?? ""): each means \
                your only provider of that kind.
                """
            ),
            (
                "concurrency", .count(1...1024, unit: "calls"), .defaultsTo(.count(16)),
                "Concurrent calls to the directory."
            )
        )
    }
}

/// A kind of directory: its settings, and how its adapter is made.
package protocol DirectoryKind: SectionKind {
    /// The page of the documentation, relative to the root of the project.
    static var guide: String { get }

    init(_ section: SettingsSection, _ problems: inout SectionProblems)

    /// - Throws: What keeps the directory from being set up, in one line.
    func open(
        _ directory: DirectoryConfiguration,
        in environment: AdapterEnvironment
    ) async throws -> any IdentityDirectory
}
