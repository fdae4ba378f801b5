import Lifecycle

extension ConfigurationReader {
    /// The directory, if there is one.
    mutating func readDirectory(
        providers: [ProviderConfiguration]
    ) -> DirectoryConfiguration? {
        guard let (entries, place) = named(.directory).first else { return nil }
        let family = Self.family(entries, among: DirectoryFamily.allCases.map(\.rawValue))
            .flatMap(DirectoryFamily.init(rawValue:))
        let section = SectionReader(place: place, family: family?.rawValue)
            .read(entries, log: &log)
        append(section)
        let name = ProviderName(section.text("name") ?? "")
        let known = providers.map(\.name)
        if known.contains(name) {
            log.report(
                .duplicate,
                "name",
                in: place,
                value: name.rawValue,
                "a provider has the same name; both have a lane of calls under it"
            )
        }
        let words = section.map("providers").mapValues { ProviderName($0) }
        for (_, provider) in words.sorted(by: { $0.key < $1.key }) where !known.contains(provider) {
            log.report(
                .unknownValue,
                "providers",
                in: place,
                value: provider.rawValue,
                "there is no [[provider]] of that name"
            )
        }
        let access = googleAccess(section, at: place)
        guard let family else { return nil }
        return DirectoryConfiguration(
            name: name,
            kind: family,
            providers: Self.words(of: providers).merging(words) { $1 },
            concurrency: section.count("concurrency") ?? 1,
            project: section.text("project") ?? "",
            tenant: section.text("tenant"),
            access: access
        )
    }

    /// Firebase's words ("Provider ids", firebase.google.com/docs/auth) for kinds of which there
    /// is exactly one provider.
    private static func words(of providers: [ProviderConfiguration]) -> [String: ProviderName] {
        let families: [(String, ProviderFamily)] = [
            ("apple.com", .apple), ("google.com", .google), ("facebook.com", .facebook),
            ("microsoft.com", .microsoft), ("github.com", .github), ("twitter.com", .x),
        ]
        var words: [String: ProviderName] = [:]
        for (word, family) in families {
            let found = providers.filter { $0.kind.family == family }
            if found.count == 1 { words[word] = found[0].name }
        }
        return words
    }

    /// The keys that every section has which speaks to one of Google's interfaces.
    mutating func googleAccess(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> GoogleAccess {
        let credential = section.text("key_credential")
        let isEmulator = section.flag("emulator")
        let baseURL = section.text("base_url")
        if isEmulator {
            if credential != nil {
                log.report(
                    .contradiction,
                    "key_credential",
                    in: place,
                    "an emulator knows no service account; take it out, or take out emulator"
                )
            }
            if baseURL.flatMap({ EndpointURL($0) })?.isLoopback != true {
                log.report(
                    .contradiction,
                    "emulator",
                    in: place,
                    "it needs a base_url on this machine, such as http://127.0.0.1:9099"
                )
            }
        } else if credential == nil, !log.locations.isWritten(place.path(of: "key_credential")) {
            log.report(
                .missingKey,
                "key_credential",
                in: place,
                "it must be given unless emulator is set; for example "
                    + "key_credential = \"service-account.json\""
            )
        }
        let allowsPlainHTTP = section.flag("allow_plain_http")
        if let baseURL {
            checkEncryption(baseURL, "base_url", isPlainAllowed: allowsPlainHTTP, at: place)
        }
        return GoogleAccess(
            keyCredential: credential,
            baseURL: baseURL.map(Self.withoutSlash),
            connection: ConnectionConfiguration(
                timeoutConnect: section.duration("timeout_connect"),
                timeoutTotal: section.duration("timeout_total"),
                caFile: section.text("ca_file"),
                allowsPlainHTTP: allowsPlainHTTP
            )
        )
    }
}
