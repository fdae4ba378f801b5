package import Settings

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
        [
            .directory("name", .text(.name), .required(example: .text(kinds.first?.name ?? ""))) {
                "Name in the journal and metrics, and among the providers."
            },
            .directory(
                "kind",
                .choice(kinds.map { $0.name }),
                .required(example: .text(kinds.first?.name ?? ""))
            ) {
                SettingsTable.summaries(of: kinds)
            },
            .directory(
                "providers",
                .map(.clientID, .name, 1...64),
                .optional(example: .map(["oidc.sso": "sso"]))
            ) {
                """
                Your provider for each provider id of the directory. Not needed for \
                \(words.dropLast().joined(separator: ", ")) and \(words.last ?? ""): each means \
                your only provider of that kind.
                """
            },
            .directory("concurrency", .count(1...1024, unit: "calls"), .defaultsTo(.count(16))) {
                "Concurrent calls to the directory."
            },
        ]
    }
}
