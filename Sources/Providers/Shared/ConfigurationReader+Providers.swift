package import Settings

extension ConfigurationReader {
    package mutating func readProviders(
        _ kinds: [any ProviderKind.Type],
        requests: RequestConfiguration
    ) -> [ProviderConfiguration] {
        var providers: [ProviderConfiguration] = []
        for var section in named(.provider) {
            let provider = read(&section) { section, problems in
                ProviderConfiguration(section, among: kinds, requests: requests, &problems)
            }
            append(section)
            if let provider { providers.append(provider) }
        }
        return providers
    }

    package mutating func readDirectory(
        providers: [ProviderConfiguration]
    ) -> DirectoryConfiguration? {
        guard var section = named(.directory).first else { return nil }
        let directory = read(&section) { section, problems in
            DirectoryConfiguration(section, providers: providers, &problems)
        }
        append(section)
        return directory
    }
}
