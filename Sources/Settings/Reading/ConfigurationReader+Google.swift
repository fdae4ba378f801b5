extension ConfigurationReader {
    /// What only `kind = "google"` has.
    mutating func google(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> GoogleProviderConfiguration {
        GoogleProviderConfiguration(
            secrets: clientSecrets(section, at: place),
            baseURL: section.text("base_url").map(Self.withoutSlash),
            nonce: section.choice("nonce") ?? .plain
        )
    }

    /// The client secrets of a family that has both keys for them.
    mutating func clientSecrets(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> ClientSecrets {
        let clientIDs = section.texts("client_ids")
        let single = section.text("client_secret_credential")
        let byClientID = section.map("client_secret_credentials")
        if single != nil, clientIDs.count > 1 {
            log.report(
                .contradiction,
                "client_secret_credential",
                in: place,
                "there are several client_ids; say which has which secret in "
                    + "client_secret_credentials = { CLIENT_ID = CREDENTIAL }"
            )
        }
        if single != nil, !byClientID.isEmpty {
            log.report(
                .contradiction,
                "client_secret_credential",
                in: place,
                "client_secret_credentials is given too; one of them is enough"
            )
        }
        for name in byClientID.keys.sorted() where !clientIDs.contains(name) {
            log.report(
                .unknownValue,
                "client_secret_credentials",
                in: place,
                value: name,
                "it is not one of client_ids"
            )
        }
        return ClientSecrets(single: single, byClientID: byClientID)
    }
}
