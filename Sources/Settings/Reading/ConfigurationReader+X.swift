extension ConfigurationReader {
    /// What only `kind = "x"` has.
    mutating func x(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> XProviderConfiguration {
        checkSingleClient(section, at: place)
        let authorization: XProviderConfiguration.Authorization =
            section.choice("authorization") ?? .oauth2
        let credential = section.text("client_secret_credential")
        if authorization == .oauth1, credential == nil {
            log.report(
                .missingKey,
                "client_secret_credential",
                in: place,
                "\"oauth1a\" signs with the consumer secret"
            )
        }
        return XProviderConfiguration(
            authorization: authorization,
            clientSecretCredential: credential,
            baseURL: Self.withoutSlash(section.text("base_url") ?? "")
        )
    }
}
